use super::*;
use std::ffi::OsString;

fn named(variables: &[(&str, &str)], package: &str) -> Vec<u16> {
    let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
    let settings = RegistrySettings { variables, ..RegistrySettings::default() };
    allowed(&settings, package).split_off(ALWAYS.len())
}

#[test]
fn the_web_and_names_are_always_there() {
    assert_eq!(allowed(&RegistrySettings::default(), "left-pad@1.3.0"), [53, 80, 443]);
}

#[test]
fn ports_of_registries_and_proxies_are_added() {
    assert_eq!(named(&[("NPM_CONFIG_REGISTRY", "http://127.0.0.1:4873/")], ""), [4873]);
    assert_eq!(named(&[("PIP_INDEX_URL", "https://ada:p:w@[::1]:8443/simple https://b:9000")], ""), [8443, 9000]);
    assert_eq!(named(&[("HTTPS_PROXY", "proxy.corp:3128"), ("ALL_PROXY", "socks5h://proxy")], ""), [1080, 3128]);
    assert_eq!(named(&[], "tool @ https://files.corp:8081/tool.whl"), [8081]);
}

#[test]
fn what_is_no_port_adds_none() {
    for value in
        ["https://host/", "https://[::1]/x", "https://host:/", "https://host:0/", "https://host:99999/", "8080"]
    {
        assert_eq!(named(&[("NPM_CONFIG_REGISTRY", value), ("NO_PROXY", value)], value), [] as [u16; 0], "{value}");
    }
}

#[test]
fn there_are_never_more_ports_than_a_box_takes() {
    let many: Vec<String> = (10_000..10_200).map(|port| format!("http://host:{port}/")).collect();
    assert_eq!(named(&[("PIP_EXTRA_INDEX_URL", &many.join(" "))], "").len(), MOST);
}
