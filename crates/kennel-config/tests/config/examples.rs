//! The files that the documentation shows can be used as they are.

use crate::support::{code_block, repository_file};
use kennel_config::{Config, ConfigError, Launch, ServerName};
use std::path::Path;

fn example(language: &str) -> Config {
    let text = code_block(&repository_file("docs/serve.md"), language);
    Config::parse(text.as_bytes(), Path::new("/home/me/kennel.toml")).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_example_of_the_reference_is_read() {
    let config = example("toml");
    assert_eq!(config.warnings, []);
    let names: Vec<&str> = config.servers.keys().map(ServerName::as_str).collect();
    assert_eq!(names, ["files", "github", "linear", "time"]);
    assert!(matches!(config.servers["linear"].launch, Launch::Upstream(_)));
    assert_eq!(config.views.len(), 2);
}

#[test]
fn the_json_example_is_read() {
    let config = example("jsonc");
    assert_eq!(config.warnings, []);
    assert_eq!(config.servers.len(), 2);
}

#[test]
fn every_key_is_in_the_reference() {
    let page = repository_file("docs/serve.md");
    let schema = kennel_config::schema();
    let mut missing = Vec::new();
    for section in ["servers", "views", "gateway", "code"] {
        let section = &schema["properties"][section];
        let table = section.get("additionalProperties").filter(|each| each.is_object()).unwrap_or(section);
        for (key, below) in table["properties"].as_object().expect("a table has keys") {
            let mut keys = vec![key];
            keys.extend(
                below.get("properties").and_then(|keys| keys.as_object()).into_iter().flat_map(|keys| keys.keys()),
            );
            missing.extend(keys.into_iter().filter(|key| !page.contains(&format!("`{key}`"))));
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_file_is_read_from_disk_and_paths_start_beside_it() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("kennel.toml");
    std::fs::write(&file, "[servers.a]\ncommand = './x'\n").unwrap();
    assert_eq!(Config::read(&file).unwrap().directory, place.path());
    let absent = Config::read(&place.path().join("none.toml")).unwrap_err();
    assert!(matches!(absent, ConfigError::Unreadable { .. }));
    assert!(absent.to_string().contains("none.toml cannot be read: "), "{absent}");
    std::fs::File::create(&file).unwrap().set_len(17 << 20).unwrap();
    assert!(matches!(Config::read(&file), Err(ConfigError::TooLarge { .. })));
}
