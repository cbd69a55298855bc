use super::pretty;

#[test]
fn json_is_laid_out_and_stays_as_spelled() {
    let raw = br#" {"z":1.0,"a":[1e999, 12345678901234567890123,{}],"s":"a\"b\\","t":"{[,:]} ","e":[ ],"n":null}"#;
    let expected = r#"{
  "z": 1.0,
  "a": [
    1e999,
    12345678901234567890123,
    {}
  ],
  "s": "a\"b\\",
  "t": "{[,:]} ",
  "e": [],
  "n": null
}"#;
    assert_eq!(pretty(raw), expected);
    assert_eq!(pretty(br#""[""#), r#""[""#);
    assert_eq!(pretty(br#"["["]"#), "[\n  \"[\"\n]");
    assert_eq!(pretty(b"true"), "true");
}
