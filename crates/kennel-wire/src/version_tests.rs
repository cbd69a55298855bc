use super::*;

#[test]
fn every_version_is_read_back_from_its_name() {
    for version in ProtocolVersion::ALL {
        assert_eq!(version.to_string().parse(), Ok(version));
    }
}

#[test]
fn an_unknown_version_is_named_in_the_error() {
    for text in ["", "2025-06-19", "2025-06-18 ", "draft", "1.0"] {
        assert_eq!(text.parse::<ProtocolVersion>(), Err(UnknownVersion(text.to_owned())));
    }
}

#[test]
fn later_versions_are_greater_and_only_the_last_is_modern() {
    assert!(ProtocolVersion::ALL.is_sorted());
    assert!(ProtocolVersion::ALL.map(ProtocolVersion::as_str).is_sorted());
    for version in ProtocolVersion::ALL {
        let expected = if version == ProtocolVersion::LATEST { Era::Modern } else { Era::Legacy };
        assert_eq!(version.era(), expected, "{version}");
    }
    assert_eq!(ProtocolVersion::LATEST_LEGACY.era(), Era::Legacy);
}

#[test]
fn batches_belong_to_one_version() {
    let allowing: Vec<_> = ProtocolVersion::ALL.into_iter().filter(|version| version.allows_batches()).collect();
    assert_eq!(allowing, [ProtocolVersion::V2025_03_26]);
}
