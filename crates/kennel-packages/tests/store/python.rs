//! Python's packages: with pip, with uv, from wheels and from sources.

use crate::scene::{NoEngine, Scene, Steps, block_on};
use kennel_packages::{Hint, InstallError};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// The user's `PATH` without uv, as on a machine that has none.
fn without_uv(scene: &Scene) -> OsString {
    let directories = std::env::split_paths(&scene.host.path).filter(|directory| !directory.join("uv").exists());
    std::env::join_paths(directories).unwrap()
}

pub(crate) fn a_python_package_is_installed_once_and_runs_offline() {
    let mut scene = Scene::new();
    scene.host.path = without_uv(&scene);
    let steps = Steps::default();
    let installed = block_on(scene.ensure(&["uvx", "cowsay@6.1", "-t", "moo from a box"], &steps)).unwrap();
    assert_eq!((installed.name.as_str(), installed.version.as_str()), ("cowsay", "6.1"));
    assert!(installed.integrity.starts_with("sha256:") && installed.integrity.len() > 64, "{installed:?}");
    assert_eq!(steps.all().last().unwrap(), "installed cowsay 6.1");
    assert!(block_on(scene.run(&installed)).contains("moo from a box"));
    assert_eq!(block_on(scene.store.verify(&installed.install)).unwrap(), []);

    let runner = std::mem::replace(&mut scene.engine, Arc::new(NoEngine));
    let words = ["pipx", "run", "--spec", "cowsay==6.1", "cowsay", "-t", "again"];
    let again = block_on(scene.ensure(&words, &Steps::default())).unwrap();
    assert_eq!(again.install, installed.install);
    scene.engine = runner;
    assert!(block_on(scene.run(&again)).contains("again"));

    // The interpreter, with the package at hand.
    let words = ["uv", "run", "--with", "cowsay==6.1", "python", "-c", "import cowsay; print(cowsay.__name__)"];
    let interpreter = block_on(scene.ensure(&words, &Steps::default())).unwrap();
    assert_eq!(block_on(scene.run(&interpreter)), "cowsay\n");

    let problem = block_on(scene.ensure(&["uvx", "--from", "cowsay@6.1", "horse"], &Steps::default())).unwrap_err();
    let problem = problem.to_string();
    assert!(problem.contains("no program `horse`") && problem.contains("it has `cowsay`"), "{problem}");
}

pub(crate) fn a_python_without_pip_gets_one() {
    let mut scene = Scene::new();
    let bare = scene.root.join("bare");
    let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&bare).status();
    assert!(made.unwrap().success());
    let directories = [bare.join("bin")].into_iter().chain(std::env::split_paths(&scene.host.path).collect::<Vec<_>>());
    scene.host.path = std::env::join_paths(directories).unwrap();
    scene.host.path = without_uv(&scene);
    let installed = block_on(scene.ensure(&["uvx", "cowsay", "-t", "moo"], &Steps::default())).unwrap();
    assert!(installed.reads[0].join("venv/bin/pip").exists(), "the virtualenv has its own");
    assert!(installed.integrity.starts_with("record-sha256:"), "{installed:?}");
    assert!(block_on(scene.run(&installed)).contains("moo"));
}

pub(crate) fn uv_installs_where_it_is_at_hand() {
    let mut scene = Scene::new();
    scene.host.path = without_uv(&scene);
    let uv = block_on(scene.ensure(&["uvx", "uv", "--version"], &Steps::default())).unwrap();
    let mut directories = vec![uv.program.parent().unwrap().to_path_buf()];
    directories.extend(std::env::split_paths(&scene.host.path));
    scene.host.path = std::env::join_paths(directories).unwrap();
    let installed = block_on(scene.ensure(&["uvx", "cowsay", "-t", "moo"], &Steps::default())).unwrap();
    assert!(installed.integrity.starts_with("record-sha256:"), "{installed:?}");
    assert!(block_on(scene.run(&installed)).contains("moo"));
    for (package, expected) in
        [("no-such-package-of-kennel-tests", Hint::NoSuchPackage), ("cowsay@99.9", Hint::NoSuchVersion)]
    {
        let error = block_on(scene.ensure(&["uvx", package], &Steps::default())).unwrap_err();
        assert!(matches!(error, InstallError::Failed { hint, .. } if hint == expected), "{error}");
    }
}

/// A wheel with a line that every start of the virtualenv's Python runs, which writes down what it sees.
const WHEEL: &str = "
import sys, zipfile
spy = 'import os, sys; open(os.path.join(sys.prefix, \\'seen\\'), \\'a\\').write(str(dict(os.environ)))\\n'
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('kennel_spy.pth', spy)
    wheel.writestr('kennel_spy.py', 'def main():\\n    print(1)\\n')
    info = 'kennel_spy-1.0.dist-info/'
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: kennel-spy\\nVersion: 1.0\\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(info + 'entry_points.txt', '[console_scripts]\\nkennel-spy=kennel_spy:main\\n')
    wheel.writestr(info + 'RECORD', '')
";

pub(crate) fn nothing_of_a_wheel_runs_beside_credentials() {
    const SECRET: &str = "kennel-1ndex-passw0rd";
    let mut scene = Scene::new();
    let without = without_uv(&scene);
    scene.host.path.clone_from(&without);
    let uv = block_on(scene.ensure(&["uvx", "uv", "--version"], &Steps::default())).unwrap();
    let registry = kennel_testkit::Registry::start(None).unwrap();
    let wheel = scene.root.join("kennel_spy-1.0-py3-none-any.whl");
    assert!(Command::new("python3").args(["-c", WHEEL]).arg(&wheel).status().unwrap().success());
    registry.publish_file("kennel-spy", "kennel_spy-1.0-py3-none-any.whl", fs::read(&wheel).unwrap());
    let index = format!("http://ada:{SECRET}@127.0.0.1:{}/simple/", registry.port());
    scene.variables.retain(|(name, _)| !name.to_string_lossy().contains("FIND_LINKS"));
    scene.variables.extend([("UV_INDEX_URL".into(), index.clone().into()), ("PIP_INDEX_URL".into(), index.into())]);
    let with = [uv.program.parent().unwrap().to_path_buf()].into_iter().chain(std::env::split_paths(&without));
    let with = std::env::join_paths(with).unwrap();
    for (path, package) in [(with, "kennel-spy"), (without, "kennel-spy==1.0")] {
        scene.host.path = path;
        let installed = block_on(scene.ensure(&["uvx", "--from", package, "kennel-spy"], &Steps::default())).unwrap();
        crate::secrets::assert_no_file_holds(&scene.root.join("store"), SECRET);
        let compiled = installed.reads[0].join("venv/seen");
        assert!(!compiled.exists(), "code of the wheel ran: {:?}", fs::read_to_string(compiled));
        block_on(scene.store.remove(&installed.install)).unwrap();
    }
}

pub(crate) fn a_source_is_built_without_credentials() {
    const SECRET: &str = "kennel-1ndex-passw0rd";
    let mut scene = Scene::new();
    scene.host.path = without_uv(&scene);
    let sources = source_package(&scene.root);
    let variable = |name: &str, value: &Path| (OsString::from(name), OsString::from(value));
    scene.variables.retain(|(name, _)| name != "PIP_FIND_LINKS");
    scene.variables.push(variable("PIP_FIND_LINKS", &sources));
    // An index that is not needed; its password must not be seen by the build.
    let index = format!("https://ada:{SECRET}@127.0.0.1:9/simple");
    scene.variables.push(("PIP_EXTRA_INDEX_URL".into(), index.into()));
    scene.variables.push(("PIP_RETRIES".into(), "0".into()));
    // A certificate of the user's, with its key.
    let client = scene.root.join("client.pem");
    let mut made = Command::new("openssl");
    made.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=ada"]);
    let made = made.arg("-keyout").arg(&client).arg("-out").arg(scene.root.join("certificate")).output().unwrap();
    assert!(made.status.success());
    let mut both = fs::read_to_string(&client).unwrap();
    let key = both.lines().nth(3).unwrap().to_owned();
    both.push_str(&fs::read_to_string(scene.root.join("certificate")).unwrap());
    fs::write(&client, both).unwrap();
    scene.variables.push(variable("PIP_CLIENT_CERT", &client));
    let installed = block_on(scene.ensure(&["uvx", "kennel-test-source"], &Steps::default())).unwrap();
    let seen = block_on(scene.run(&installed));
    assert!(seen.contains("HOME=/home/kennel"), "the build ran in a box: {seen}");
    assert!(!seen.contains(SECRET), "the build saw the password: {seen}");
    assert!(!seen.contains(&key) && !seen.contains("CLIENT_CERT"), "the build saw the key: {seen}");
}

/// A package that exists only as a source, whose build writes down its environment for its program to print.
fn source_package(root: &Path) -> PathBuf {
    let package = root.join("kennel_test_source-1.0");
    fs::create_dir(&package).unwrap();
    let setup = "
import os, setuptools
seen = [f'{name}={value}' for name, value in os.environ.items()]
for place, _, names in os.walk('/home/kennel'):
    for name in names:
        with open(os.path.join(place, name), errors='replace') as file:
            seen.append(file.read())
seen = '\\n'.join(seen)
with open('kennel_test_source.py', 'w') as module:
    module.write(f'def main():\\n    print({seen!r})\\n')
setuptools.setup(name='kennel-test-source', version='1.0', py_modules=['kennel_test_source'],
    entry_points={'console_scripts': ['kennel-test-source=kennel_test_source:main']})
";
    fs::write(package.join("setup.py"), setup).unwrap();
    let metadata = "Metadata-Version: 2.1\nName: kennel-test-source\nVersion: 1.0\n";
    fs::write(package.join("PKG-INFO"), metadata).unwrap();
    let sources = root.join("sources");
    fs::create_dir(&sources).unwrap();
    let archive = sources.join("kennel_test_source-1.0.tar.gz");
    let packed = Command::new("tar").arg("-czf").arg(&archive).arg("kennel_test_source-1.0").current_dir(root).status();
    assert!(packed.unwrap().success());
    sources
}

pub(crate) fn what_is_wrong_with_a_python_name_is_said() {
    let mut scene = Scene::new();
    scene.host.path = without_uv(&scene);
    for (package, expected) in
        [("no-such-package-of-kennel-tests", Hint::NoSuchPackage), ("cowsay@99.9", Hint::NoSuchVersion)]
    {
        let error = block_on(scene.ensure(&["uvx", package], &Steps::default())).unwrap_err();
        assert!(matches!(error, InstallError::Failed { hint, .. } if hint == expected), "{error}");
        scene.assert_empty();
    }
    let problem = block_on(scene.ensure(&["uvx", "--python", "2.1", "cowsay"], &Steps::default())).unwrap_err();
    let problem = problem.to_string();
    assert!(problem.contains("`python2.1`, which is not on PATH") && problem.contains("uv"), "{problem}");
}
