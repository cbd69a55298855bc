use super::*;

#[test]
fn a_lock_tells_packages_versions_and_steps() {
    let lock: Lock = serde_json::from_str(
        r#"{"lockfileVersion": 3, "packages": {
            "": {"dependencies": {"b": "1"}},
            "node_modules/a/node_modules/@s/c": {"version": "3.0.0", "integrity": "sha512-c", "hasInstallScript": true},
            "node_modules/b": {"version": "1.0.0", "integrity": "sha512-b"},
            "node_modules/a": {"version": "2.0.0", "resolved": "x", "integrity": "sha512-a", "dev": true}
        }}"#,
    )
    .unwrap();
    assert!(lock.packages.values().any(|package| package.has_install_script));
    let names = pinned(lock).into_iter().map(|package| format!("{} {}", package.name, package.version));
    assert_eq!(names.collect::<Vec<_>>(), ["a 2.0.0", "b 1.0.0", "@s/c 3.0.0"]);
}

#[test]
fn the_programs_of_a_package_are_where_it_says() {
    let tree = tempfile::tempdir().unwrap();
    for (name, description) in [
        ("one", r#"{"bin": "cli.js"}"#),
        ("@scope/two", r#"{"bin": {"a": "./bin/a.js", "b": "bin/b.js"}}"#),
        ("@scope/three", r#"{"bin": "x.js"}"#),
        ("none", "{}"),
    ] {
        let directory = tree.path().join("node_modules").join(name);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("package.json"), description).unwrap();
    }
    let names = |package: &str| programs(tree.path(), package).unwrap().into_keys().collect::<Vec<_>>();
    assert_eq!(programs(tree.path(), "one").unwrap()["one"], Path::new("node_modules/one/cli.js"));
    assert_eq!(names("@scope/two"), ["a", "b"]);
    assert_eq!(names("@scope/three"), ["three"]);
    assert_eq!(names("none"), [""; 0]);
}

#[test]
fn no_lock_keeps_a_secret_and_no_link_leads_the_pen_astray() {
    let (tree, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut secrets = Secrets::default();
    secrets.note("token", "s3cr3t-value");
    let text = r#"{"resolved": "https://host/x.tgz?key=s3cr3t-value"}"#;
    fs::create_dir(tree.path().join("node_modules")).unwrap();
    fs::write(tree.path().join(LOCKS[0]), text).unwrap();
    let foreign = outside.path().join("foreign");
    fs::write(&foreign, text).unwrap();
    std::os::unix::fs::symlink(&foreign, tree.path().join(LOCKS[1])).unwrap();
    redact_locks(tree.path(), &secrets).unwrap();
    let lock = fs::read_to_string(tree.path().join(LOCKS[0])).unwrap();
    assert_eq!(lock, r#"{"resolved": "https://host/x.tgz?key=[redacted]"}"#);
    assert_eq!(fs::read_to_string(foreign).unwrap(), text, "what lies outside is not touched");
}
