//! Packages that attack whoever looks at their files.

use crate::scene::Scene;
use crate::support::caller::{callers, needs_root};
use kennel_testkit::Caller;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Replaces the program of a package.
fn replaced(by: &str) -> String {
    format!("const fs = require('fs'), run = require('child_process').execFileSync; fs.unlinkSync('run'); {by}")
}

#[test]
fn a_program_that_is_a_pipe_stops_nobody() {
    for caller in callers() {
        let mut scene = Scene::new(caller);
        scene.npm("pipe", &replaced("run('mkfifo', ['run']);"), "");
        let mut gateway = scene.serve();
        gateway.fails("pipe", "is not a regular file");
        gateway.goes_on();
        gateway.end();
        // It is in the store now, and found again by every later gateway.
        let mut gateway = scene.serve();
        gateway.fails("pipe", "is not a regular file");
        gateway.goes_on();
        gateway.end();
        scene.ground.assert_clean();
    }
}

#[test]
fn a_description_that_is_a_pipe_or_too_large_stops_nobody() {
    for caller in callers() {
        let mut scene = Scene::new(caller);
        let swap = "fs.unlinkSync('package.json');";
        scene.npm("pipe", &replaced(&format!("{swap} run('mkfifo', ['package.json']);")), "");
        scene.npm("large", &replaced(&format!("{swap} fs.writeFileSync('package.json', 'x'.repeat(5 << 20));")), "");
        let mut gateway = scene.serve();
        gateway.fails("pipe", "is not a regular file");
        gateway.fails("large", "has more than");
        gateway.goes_on();
        gateway.end();
        scene.ground.assert_clean();
    }
}

#[test]
fn directories_of_any_depth_end_neither_the_gateway_nor_other_installs() {
    // Made of short paths, so that no name is too long: the whole so far is moved into the next part.
    const DEEP: &str = "
        const fs = require('fs');
        let top;
        for (let part = 0; part < PARTS; part++) {
            const inner = `part${part}` + '/d'.repeat(100);
            fs.mkdirSync(inner, { recursive: true });
            if (top) fs.renameSync(top, inner + '/rest');
            top = `part${part}`;
        }";
    // As deep as overflows a stack; once, for some disks take milliseconds for each directory that is removed.
    for (caller, parts) in callers().into_iter().zip(["160", "16"]) {
        let mut scene = Scene::new(caller);
        scene.npm("deep", &DEEP.replace("PARTS", parts), "");
        let mut gateway = scene.serve();
        gateway.fails("deep", "nested more than 128 deep");
        gateway.goes_on();
        gateway.end();
        assert_eq!(scene.stored("staging"), [""; 0], "what it left is gone");
        scene.ground.assert_clean();
    }
}

#[test]
fn a_file_of_holes_is_an_error_of_its_own_install() {
    for caller in callers() {
        let mut scene = Scene::new(caller);
        scene.npm("holes", "require('fs').truncateSync('step.js', 4e12);", "");
        let mut gateway = scene.serve();
        gateway.fails("holes", "too large: it has more than 8589934592 bytes");
        gateway.goes_on();
        gateway.end();
        assert_eq!(scene.stored("staging"), [""; 0], "what it left is gone");
        scene.ground.assert_clean();
    }
}

#[test]
fn a_crowd_of_files_is_an_error_of_its_own_install() {
    for caller in callers() {
        let mut scene = Scene::new(caller);
        let crowd = "for (let n = 0; n < 3000; n++) require('fs').writeFileSync('file' + n, '');";
        scene.npm("crowd", crowd, "max-install-files = 2000");
        let mut gateway = scene.serve();
        gateway.fails("crowd", "too large: it has more than 2000 files");
        gateway.goes_on();
        gateway.end();
        assert_eq!(scene.stored("staging"), [""; 0], "what it left is gone");
        scene.ground.assert_clean();
    }
}

#[test]
fn an_install_that_fills_the_disk_is_ended() {
    // Longer than an install may take: only its size can end it in time.
    const FILL: &str = "
        for (let n = 0; n < 30; n++) require('fs').writeFileSync('file' + n, Buffer.alloc(4 << 20, 1));
        setTimeout(() => {}, 3600e3);";
    let caller = crate::support::caller::myself();
    let mut scene = Scene::new(caller);
    scene.npm("fill", FILL, "max-install = \"16M\"");
    let mut gateway = scene.serve();
    gateway.fails("fill", "too large: it has more than 33554432 bytes");
    gateway.goes_on();
    gateway.end();
    assert_eq!(scene.stored("staging"), [""; 0], "what it left is gone");
    scene.ground.assert_clean();
}

/// A directory of the user's, with a program in it.
fn private(scene: &Scene) -> String {
    scene.ground.make_directory("work/home/private/bin");
    scene.ground.make_file("work/home/private/diary", "d3ar-diary", 0o600);
    let program = crate::scene::SERVER;
    let program = scene.ground.make_file("work/home/private/bin/server.js", program, 0o755);
    program.to_str().unwrap().to_owned()
}

#[test]
fn a_program_that_leads_out_of_its_package_is_refused() {
    for caller in callers() {
        let mut scene = Scene::new(caller);
        let target = private(&scene);
        scene.npm("planted", &replaced(&format!("fs.symlinkSync({target:?}, 'run');")), "");
        // By way of a directory, and of npm's own place for programs.
        let by_directory =
            format!("fs.symlinkSync({:?}, 'way'); fs.symlinkSync('way/server.js', 'run');", parent(&target));
        scene.npm("way", &replaced(&by_directory), "");
        let mut gateway = scene.serve();
        gateway.fails("planted", "leads out of the install");
        gateway.fails("way", "leads out of the install");
        gateway.goes_on();
        let said = gateway.end();
        assert!(!said.contains("\"granted\""), "{said}");
        scene.ground.assert_clean();
    }
}

fn parent(path: &str) -> &str {
    Path::new(path).parent().unwrap().to_str().unwrap()
}

/// A source whose build makes links in the virtualenv that it is installed into.
const PLANTING: &str = "
import os, sys, zipfile

def planted(name, target):
    path = os.path.join(sys.prefix, 'bin', name)
    if os.path.lexists(path): os.unlink(path)
    os.symlink(target, path)

def get_requires_for_build_wheel(settings=None):
    return []

def prepare_metadata_for_build_wheel(directory, settings=None):
    os.mkdir(os.path.join(directory, 'PACKAGE-1.0.dist-info'))
    with open(os.path.join(directory, 'PACKAGE-1.0.dist-info', 'METADATA'), 'w') as about:
        about.write('Metadata-Version: 2.1\\nName: PACKAGE\\nVersion: 1.0\\n')
    return 'PACKAGE-1.0.dist-info'

def build_wheel(directory, settings=None, metadata=None):
    PLANT
    name = 'PACKAGE-1.0-py3-none-any.whl'
    info = 'PACKAGE-1.0.dist-info/'
    with zipfile.ZipFile(os.path.join(directory, name), 'w') as wheel:
        wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: PACKAGE\\nVersion: 1.0\\n')
        wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        wheel.writestr(info + 'RECORD', '')
    return name
";

fn python(scene: &mut Scene, name: &str, plant: &str, command: &[&str]) {
    let source = scene.ground.make_directory(&format!("work/source-{name}"));
    let backend = PLANTING.replace("PACKAGE", name).replace("PLANT", plant);
    std::fs::write(source.join("backend.py"), backend).unwrap();
    let project = "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n";
    std::fs::write(source.join("pyproject.toml"), project).unwrap();
    let about = format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n");
    std::fs::write(source.join("PKG-INFO"), about).unwrap();
    scene.registry.publish_source(name, "1.0", &source).unwrap();
    scene.server(name, command, "");
}

#[test]
fn a_link_in_a_virtualenv_chooses_nothing() {
    for caller in callers() {
        let mut scene = Scene::new(caller);
        let target = private(&scene);
        let index = format!("http://127.0.0.1:{}/simple/", scene.registry.port());
        scene.variables.push(("PIP_INDEX_URL", index));
        let link = |name: &str| format!("planted({name:?}, {target:?})");
        python(&mut scene, "planted", &link("planted"), &["uvx", "planted"]);
        // The interpreter that Kennel chose is the only one.
        python(&mut scene, "other", &link("python"), &["uv", "run", "--with", "other", "python", "-c", "pass"]);
        let mut gateway = scene.serve();
        gateway.fails("planted", "leads out of the install");
        gateway.fails("other", "leads out of the install");
        gateway.goes_on();
        let said = gateway.end();
        assert!(!said.contains("\"granted\""), "{said}");
        scene.ground.assert_clean();
    }
}

#[test]
fn what_a_package_calls_its_arguments_is_not_granted() {
    for caller in callers() {
        let mut scene = Scene::new(caller);
        private(&scene);
        let diary = scene.ground.text("work/home/private/diary");
        scene.publish("honest", "1.0.0", "");
        scene.server("honest", &["npx", "-y", "honest", &diary], "");
        let gateway = scene.serve();
        // What the user names is granted; what lies beside it is not.
        assert!(gateway.look("honest", &diary).fine().contains("d3ar-diary"));
        let beside = scene.ground.text("work/home/private/bin");
        assert!(gateway.look("honest", &beside).fine().contains("nothing: ENOENT"));
        assert!(gateway.look("good", &diary).fine().contains("nothing: ENOENT"));
        gateway.end();
        scene.ground.assert_clean();
    }
}

#[test]
fn an_install_step_does_not_reach_the_gateway() {
    const LOOK: &str = r"
        const fs = require('fs'), http = require('http');
        const sockets = fs.readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1).map(line => line.trim().split(/\s+/));
        const listening = sockets.filter(fields => fields[3] === '0A').map(fields => parseInt(fields[1].split(':')[1], 16));
        fs.writeFileSync('seen', listening.map(port => `listening ${port}.\n`).join(''));
        for (const port of new Set(listening)) {
            const request = http.get({ port, host: '127.0.0.1', path: '/healthz', timeout: 3000 });
            request.on('response', () => { fs.appendFileSync('seen', `reached ${port}.\n`); request.destroy(); });
            request.on('timeout', () => request.destroy()).on('error', () => {});
        }";
    for caller in callers() {
        let mut scene = Scene::new(caller);
        scene.npm("looking", LOOK, "");
        let mut gateway = scene.serve();
        let port = gateway.port();
        // A project opens no port either.
        scene.ground.make_file("work/.npmrc", format!("@x:registry=http://127.0.0.1:{port}/\n"), 0o600);
        assert!(gateway.look("looking", "/").fine().contains("directory"));
        gateway.goes_on();
        gateway.end();
        assert!(scene.store_holds(&format!("listening {port}.")), "it was there to be seen");
        assert!(scene.store_holds(&format!("reached {}.", scene.registry.port())), "it could reach something");
        assert!(!scene.store_holds(&format!("reached {port}.")), "it reached the gateway");
        scene.ground.assert_clean();
    }
}

#[test]
fn what_cannot_be_removed_is_said_once_and_stops_no_install() {
    if !needs_root("an immutable file in the store") {
        return;
    }
    let mut scene = Scene::new(Caller::Root);
    scene.npm("other", "", "");
    // As an install leaves it whose maker was killed.
    let left = scene.data().join("store/staging/left/tree");
    std::fs::create_dir_all(&left).unwrap();
    std::fs::write(scene.data().join("store/staging/left.lock"), "").unwrap();
    std::fs::write(left.join("kept"), "").unwrap();
    std::fs::set_permissions(&left, std::fs::Permissions::from_mode(0o000)).unwrap();
    let change = |flag: &str| {
        let path = Command::new("find").arg(scene.data()).args(["-name", "kept"]).output().unwrap().stdout;
        let path = String::from_utf8(path).unwrap();
        assert!(Command::new("chattr").args([flag, path.trim_end()]).status().unwrap().success());
    };
    change("+i");
    let mut gateway = scene.serve();
    gateway.goes_on();
    assert!(gateway.look("other", "/").fine().contains("directory"));
    let said = gateway.end();
    change("-i");
    let warnings = said.lines().filter(|line| line.contains("tried again later")).count();
    assert_eq!(warnings, 1, "{said}");
    // The next install of any package takes it away.
    scene.npm("third", "", "");
    let gateway = scene.serve();
    assert!(gateway.look("third", "/").fine().contains("directory"));
    gateway.end();
    assert_eq!(scene.stored("staging"), [""; 0]);
    scene.ground.assert_clean();
}
