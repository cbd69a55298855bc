use super::*;
use std::fs;

struct Scene {
    _directory: tempfile::TempDir,
    root: PathBuf,
}

impl Scene {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for place in ["home", "work", "etc"] {
            fs::create_dir(root.join(place)).unwrap();
        }
        for (path, content) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content.replace("{root}", root.to_str().unwrap())).unwrap();
        }
        Self { _directory: directory, root }
    }

    fn gather(&self, ecosystem: Ecosystem, variables: &[(&str, &str)]) -> RegistrySettings {
        let host = HostView { home: self.root.join("home"), cwd: self.root.join("work"), ..HostView::default() };
        let root = self.root.to_str().unwrap();
        let variables = variables
            .iter()
            .map(|(name, value)| (name.into(), value.replace("{root}", root).into()))
            .collect::<Vec<_>>();
        RegistrySettings::gather(ecosystem, &host, &variables, &self.root.join("etc"))
    }
}

fn file<'a>(settings: &'a RegistrySettings, place: &str) -> Option<&'a str> {
    let file = settings.files.iter().find(|file| file.place == place)?;
    Some(str::from_utf8(&file.content).unwrap())
}

fn names(settings: &RegistrySettings) -> Vec<&str> {
    settings.variables.iter().map(|(name, _)| name.to_str().unwrap()).collect()
}

#[test]
fn only_settings_of_the_installer_and_of_the_network_are_taken() {
    let scene = Scene::new(&[]);
    let all = [
        ("HTTPS_PROXY", "http://proxy:1"),
        ("no_proxy", "localhost"),
        ("NPM_CONFIG_REGISTRY", "https://r/"),
        ("npm_config_cache", "/x"),
        ("NPM_CONFIG_PREFIX", "/x"),
        ("PIP_INDEX_URL", "https://i/"),
        ("UV_INDEX_CORP_PASSWORD", "s3cr3t"),
        ("UV_CACHE_DIR", "/x"),
        ("AWS_SECRET_ACCESS_KEY", "aws"),
        ("HOME", "/x"),
        ("NPM_TOKEN", "t0k3n"),
    ];
    let npm = scene.gather(Ecosystem::Npm, &all);
    assert_eq!(names(&npm), ["HTTPS_PROXY", "no_proxy", "NPM_CONFIG_REGISTRY"]);
    let python = scene.gather(Ecosystem::Python, &all);
    assert_eq!(
        names(&python),
        ["HTTPS_PROXY", "no_proxy", "PIP_INDEX_URL", "UV_INDEX_CORP_PASSWORD", "XDG_CONFIG_DIRS"]
    );
}

#[test]
fn the_files_of_npm_become_one_with_the_variables_they_refer_to() {
    let scene = Scene::new(&[
        ("home/.npmrc", "registry=https://a/\n//a/:_authToken=${CORP_TOKEN}\n"),
        ("work/.npmrc", "registry=https://b/\ncafile={root}/work/ca.pem\n"),
        ("work/ca.pem", "CERTIFICATE"),
    ]);
    let settings = scene.gather(Ecosystem::Npm, &[("CORP_TOKEN", "t0k3n-value"), ("OTHER", "x")]);
    assert_eq!(names(&settings), ["CORP_TOKEN"]);
    let text = file(&settings, ".npmrc").unwrap();
    assert_eq!(
        text,
        "registry=https://a/\n//a/:_authToken=${CORP_TOKEN}\nregistry=https://b/\ncafile=/home/kennel/.kennel/file-0\n"
    );
    assert_eq!(file(&settings, ".kennel/file-0"), Some("CERTIFICATE"));
    assert_eq!(settings.secrets.redact("the t0k3n-value"), "the [redacted]");
}

#[test]
fn the_files_of_python_are_where_their_installers_look() {
    let scene = Scene::new(&[
        ("etc/pip.conf", "[global]\ntimeout = 3\n"),
        ("home/.config/pip/pip.conf", "[global]\nindex-url = https://u:passw0rd@i/simple\n"),
        ("home/.config/uv/uv.toml", "index-url = \"https://i/simple\"\n"),
        ("other.conf", "[global]\nextra-index-url =\n    https://x/\n    https://tok3n0@y/\n"),
    ]);
    let settings = scene.gather(Ecosystem::Python, &[("PIP_CONFIG_FILE", "{root}/other.conf")]);
    for place in [".kennel/system-1/pip/pip.conf", ".config/pip/pip.conf", ".config/uv/uv.toml", ".kennel/pip.conf"] {
        assert!(file(&settings, place).is_some(), "{place}");
    }
    assert!(names(&settings).contains(&"PIP_CONFIG_FILE"));
    assert_eq!(settings.secrets.redact("passw0rd tok3n0"), "[redacted] [redacted]");
}

#[test]
fn files_that_variables_name_are_copied_and_directories_granted() {
    let scene = Scene::new(&[("work/ca.pem", "CERTIFICATE"), ("work/wheels/x", ""), ("home/.ssh/id", "")]);
    let settings = scene.gather(
        Ecosystem::Python,
        &[
            ("SSL_CERT_FILE", "{root}/work/ca.pem"),
            ("PIP_FIND_LINKS", "{root}/work/wheels"),
            ("UV_FIND_LINKS", "{root}/home/.ssh"),
        ],
    );
    assert_eq!(settings.variables[0].1, "/home/kennel/.kennel/file-0");
    assert_eq!(settings.directories, [scene.root.join("work/wheels")]);
    assert!(!names(&settings).contains(&"UV_FIND_LINKS"), "what may not be granted is not named");
}

#[test]
fn nothing_secret_is_left_for_a_box_that_runs_foreign_code() {
    let scene = Scene::new(&[
        (
            "home/.npmrc",
            "registry=https://a/\n//a/:_authToken=t0k3n-value\n//a/:keyfile={root}/home/key.pem\n_auth = ${BASIC}\n",
        ),
        ("home/key.pem", "PRIVATE KEY"),
    ]);
    let variables = [("HTTP_PROXY", "http://u:passw0rd@p/"), ("NO_PROXY", "x"), ("BASIC", "b4sic-value")];
    let settings = scene.gather(Ecosystem::Npm, &variables).without_secrets();
    assert_eq!(names(&settings), ["NO_PROXY"]);
    assert_eq!(file(&settings, ".npmrc"), Some("registry=https://a/\n"));
    assert_eq!(settings.files.len(), 1, "the key is not copied");
    assert!(!format!("{settings:?}").contains("t0k3n"));
}
