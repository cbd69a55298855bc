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
    let bins = |package: &str, description: &str| bins(Path::new("d"), package, description.as_bytes()).unwrap();
    assert_eq!(bins("one", r#"{"bin": "cli.js"}"#)["one"], Path::new("d/cli.js"));
    let names = |package: &str, description: &str| bins(package, description).into_keys().collect::<Vec<_>>();
    assert_eq!(names("@scope/two", r#"{"bin": {"a": "./bin/a.js", "b": "bin/b.js"}}"#), ["a", "b"]);
    assert_eq!(names("@scope/three", r#"{"bin": "x.js"}"#), ["three"]);
    assert_eq!(names("none", "{}"), [""; 0]);
}
