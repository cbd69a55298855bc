use super::{Listing, Others, Tool};

#[test]
fn a_tool_is_read_with_its_arguments_in_order() {
    let json = r#"{"name":"t","title":"A title","description":"What it does.","inputSchema":{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{},"must":{}},"required":["must","hidden"]}}"#;
    let tool = Tool::read(json).unwrap();
    assert_eq!((tool.name.as_str(), tool.description.as_str()), ("t", "What it does."));
    assert_eq!(tool.arguments(), [("must", true), ("hidden", true), ("zeta", false), ("alpha", false)]);
    assert_eq!(tool.others, Others::Unknown);
}

#[test]
fn what_a_tool_does_not_say_is_made_up_for() {
    let tool = Tool::read(r#"{"name":"t","title":"A title","description":" "}"#).unwrap();
    assert_eq!((tool.description.as_str(), tool.others), ("A title", Others::Taken));
    assert_eq!(tool.arguments(), []);
    let strange = Tool::read(r#"{"name":"t","inputSchema":{"properties":7,"required":"x"}}"#).unwrap();
    assert_eq!(strange.arguments(), []);
    assert!(Tool::read(r#"{"title":"no name"}"#).is_err());
}

#[test]
fn pages_are_kept_as_spelled_and_lead_to_the_next() {
    let mut listing = Listing::default();
    let next = listing.add(br#"{"tools":[{"name":"a", "x":1.0},{"title":"bad\u001b"}],"nextCursor":"p 2"}"#);
    assert_eq!(next.unwrap().as_deref(), Some(r#""p 2""#));
    assert_eq!(listing.add(br#"{"tools":[{"name":"b"}],"nextCursor":null}"#).unwrap(), None);
    assert_eq!(listing.add(br#"{"tools":[]}"#).unwrap(), None);
    assert_eq!(listing.json(), r#"[{"name":"a", "x":1.0},{"title":"bad\u001b"},{"name":"b"}]"#);
    assert!(listing.find("a").is_some() && listing.find("b").is_some() && listing.find("c").is_none());
    assert_eq!(listing.problems.len(), 1);
    assert!(listing.problems[0].contains("missing field `name`"), "{:?}", listing.problems);
    assert!(listing.add(br#"{"no":"tools"}"#).is_err());
}
