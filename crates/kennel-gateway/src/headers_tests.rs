use super::*;
use http::header::HeaderValue;

fn map(name: &HeaderName, values: &[&'static str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(name, HeaderValue::from_static(value));
    }
    headers
}

#[test]
fn both_forms_of_an_answer_must_be_accepted() {
    for values in [
        &["application/json, text/event-stream"][..],
        &["text/event-stream;q=0.5 , Application/JSON; charset=utf-8"],
        &["application/json", "text/event-stream"],
        &["*/*"],
        &["text/*, application/*"],
    ] {
        assert!(accepts_answers(&map(&ACCEPT, values)).is_ok(), "{values:?}");
    }
    for values in
        [&[][..], &["application/json"], &["text/event-stream"], &["application/jsonp, text/event-stream"], &["text/*"]]
    {
        let refused = accepts_answers(&map(&ACCEPT, values)).expect_err("one is missing");
        assert_eq!(refused.status(), StatusCode::NOT_ACCEPTABLE, "{values:?}");
    }
    assert!(accepts_events(&map(&ACCEPT, &["text/event-stream"])).is_ok());
    assert!(accepts_events(&map(&ACCEPT, &["application/json"])).is_err());
}

#[test]
fn only_json_is_taken() {
    for kind in ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON"] {
        assert!(sends_json(&map(&CONTENT_TYPE, &[kind])).is_ok(), "{kind}");
    }
    for kinds in [&[][..], &["text/plain"], &["application/json-patch+json"], &["text/plain; application/json"]] {
        let refused = sends_json(&map(&CONTENT_TYPE, kinds)).expect_err("not JSON");
        assert_eq!(refused.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "{kinds:?}");
    }
}

#[test]
fn every_legacy_version_is_taken_and_none_is_fine() {
    assert!(speaks_version(&HeaderMap::new()).is_ok());
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        assert!(speaks_version(&map(&PROTOCOL_VERSION, &[version])).is_ok(), "{version}");
    }
    for version in ["2026-07-28", "1999-01-01", "", "2025-11-25 "] {
        let refused = speaks_version(&map(&PROTOCOL_VERSION, &[version])).expect_err("not spoken here");
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{version}");
    }
}
