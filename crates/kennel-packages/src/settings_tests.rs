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
        ("home/.npmrc", "registry=https://a/\n//a/:_authToken=${CORP_TOKEN}\ncafile=~/ca.pem\n"),
        (
            "work/.npmrc",
            "; comment\nregistry = https://b/\n@s:registry=https://c:443/\n//c/:_authToken=literal\nfund=false\n",
        ),
        ("home/ca.pem", "CERTIFICATE"),
    ]);
    let settings = scene.gather(Ecosystem::Npm, &[("CORP_TOKEN", "t0k3n-value"), ("OTHER", "x")]);
    assert_eq!(names(&settings), ["CORP_TOKEN"]);
    let text = file(&settings, ".npmrc").unwrap();
    assert_eq!(
        text,
        "registry=https://a/\n//a/:_authToken=${CORP_TOKEN}\ncafile=/home/kennel/.kennel/file-0\n\
         registry=https://b/\n@s:registry=https://c:443/\n//c/:_authToken=literal\nfund=false\n"
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

#[test]
fn a_projects_file_brings_no_file_no_variable_and_no_weaker_connection() {
    let project = "cafile={root}/home/.ssh/id\nx={root}/home/.ssh/id\n//a/:keyfile={root}/home/.ssh/id\n\
                   //a/:_authToken=${PRECIOUS}\ntag=${PRECIOUS}\nstrict-ssl=false\nca=~/x\nscript-shell=./x\n\
                   registry=${PRECIOUS}\nproxy=http://p/\nregistry=http://127.0.0.1:7330/\n\
                   @s:registry=http://u:p@[::1]:7330/x\n";
    let scene = Scene::new(&[("work/.npmrc", project), ("home/.ssh/id", "PRIVATE")]);
    let settings = scene.gather(Ecosystem::Npm, &[("PRECIOUS", "pr3cious")]);
    assert!(settings.files.is_empty() && settings.variables.is_empty(), "{:?}", names(&settings));
    assert_eq!(settings.notes.len(), 12, "{:?}", settings.notes);
    assert!(settings.notes[0].starts_with("`cafile` of ") && settings.notes[0].contains("left out"));
}

#[test]
fn a_projects_file_is_read_only_where_it_is_a_file() {
    let scene = Scene::new(&[("home/.aws/credentials", "registry=https://leak/\n")]);
    let path = scene.root.join("work/.npmrc");
    std::os::unix::fs::symlink(scene.root.join("home/.aws/credentials"), &path).unwrap();
    assert!(scene.gather(Ecosystem::Npm, &[]).files.is_empty(), "a link");
    fs::remove_file(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(scene.gather(Ecosystem::Npm, &[]).files.is_empty(), "a pipe");
}

#[test]
fn the_users_files_bring_what_an_installer_needs_and_nothing_that_is_denied() {
    let scene = Scene::new(&[
        ("home/.npmrc", "cafile={root}/home/.ssh/id\nother={root}/home/notes\ncache={root}/home/notes\nx=${HOME}\n"),
        (
            "home/.config/pip/pip.conf",
            "[global]\ncert = {root}/home/ca.pem\nfind-links =\n    {root}/home/wheels\n    {root}/home/.ssh\n\
             log = {root}/home/notes\nkeyring = {root}/home/notes\n",
        ),
        ("home/.config/uv/uv.toml", "find-links = [\n    \"{root}/home/wheels\",\n]\n"),
        ("home/.ssh/id", "PRIVATE"),
        ("home/notes", "notes"),
        ("home/ca.pem", "CERTIFICATE"),
        ("home/wheels/x", ""),
    ]);
    let npm = scene.gather(Ecosystem::Npm, &[("NPM_CONFIG_OTHER", "{root}/home/notes"), ("HOME", "/x")]);
    assert_eq!(file(&npm, ".npmrc"), Some("x=${HOME}\n"));
    assert_eq!(npm.files.len(), 1);
    assert!(npm.variables.is_empty(), "{:?}", names(&npm));
    let said = npm.notes.join("\n");
    for expected in ["`cafile` of", "never shown", "`other` of", "`NPM_CONFIG_OTHER` of your environment", "`x` of"] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(!said.contains("`cache`"), "Kennel decides that itself: {said}");

    let python =
        scene.gather(Ecosystem::Python, &[("PIP_CONSTRAINT", "{root}/home/notes"), ("NETRC", "{root}/home/notes")]);
    let root = scene.root.display();
    assert_eq!(
        file(&python, ".config/pip/pip.conf").unwrap(),
        format!("[global]\ncert = /home/kennel/.kennel/file-1\nfind-links =\n    {root}/home/wheels\n")
    );
    assert_eq!(python.directories, [scene.root.join("home/wheels"), scene.root.join("home/wheels")]);
    assert_eq!(file(&python, ".kennel/file-0"), Some("notes"), "the constraints");
    assert!(!names(&python).contains(&"NETRC"));
}

#[test]
fn what_holds_a_private_key_is_private_whatever_names_it() {
    let with_key = "-----BEGIN CERTIFICATE-----\n-----BEGIN RSA PRIVATE KEY-----\nk3y\n";
    let scene = Scene::new(&[
        (
            "home/.config/pip/pip.conf",
            "[global]\ntimeout = 3\nclient-cert = {root}/home/client.pem\ncert={root}/home/both.pem\n",
        ),
        (
            "home/.npmrc",
            "//a/:certfile={root}/home/both.pem\n//a/:keyfile={root}/home/client.pem\ncafile={root}/home/ca.pem\n",
        ),
        // Its name alone says so: the format may be one that has no words.
        ("home/client.pem", "k3y"),
        ("home/both.pem", with_key),
        ("home/ca.pem", "CERTIFICATE"),
    ]);
    let variables = [
        ("PIP_CLIENT_CERT", "{root}/home/client.pem"),
        ("SSL_CLIENT_CERT", "{root}/home/both.pem"),
        ("SSL_CERT_FILE", "{root}/home/both.pem"),
        ("NPM_CONFIG_//a/:keyfile", "{root}/home/client.pem"),
        ("NPM_CONFIG_KEY", "k3y-inline"),
        ("REQUESTS_CA_BUNDLE", "{root}/home/ca.pem"),
    ];
    for ecosystem in [Ecosystem::Python, Ecosystem::Npm] {
        let all = scene.gather(ecosystem, &variables);
        let held = |settings: &RegistrySettings| {
            let files = settings.files.iter().map(|file| String::from_utf8_lossy(&file.content).into_owned());
            let variables = settings.variables.iter().map(|(name, value)| format!("{name:?}={value:?}"));
            files.chain(variables).collect::<Vec<_>>().join("\n")
        };
        assert!(held(&all).contains("k3y"), "the download has it");
        let some = all.without_secrets();
        let text = held(&some);
        assert!(!text.contains("k3y") && !text.to_lowercase().contains("client"), "{text}");
        assert!(text.contains("CERTIFICATE") && text.contains("REQUESTS_CA_BUNDLE"), "{text}");
        // Nothing names a copy that is not there.
        for copy in text.split(&['"', '=', '\n'][..]).filter(|word| word.starts_with("/home/kennel/.kennel/file-")) {
            let place = copy.strip_prefix("/home/kennel/").unwrap();
            assert!(some.files.iter().any(|file| file.place == place), "{copy}: {text}");
        }
    }
}
