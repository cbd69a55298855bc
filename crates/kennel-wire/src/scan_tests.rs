use super::*;

fn scan(text: &[u8]) -> Result<Value, (Syntax, usize)> {
    let scan = |text| {
        let mut scanner = Scanner::new(text, 4)?;
        let value = scanner.value()?;
        scanner.end()?;
        Ok(value)
    };
    scan(text).map_err(|error: ParseError| match error.problem() {
        Problem::NotJson(syntax) => (*syntax, error.offset()),
        other => panic!("{other} is not about syntax"),
    })
}

#[test]
fn a_value_is_found_between_whitespace() {
    for (text, kind) in [
        ("{}", ValueKind::Object),
        (r#"{"a":1,"b":[true,false,null]}"#, ValueKind::Object),
        ("{ \"a\" : { } }", ValueKind::Object),
        ("[]", ValueKind::Array),
        ("[[[[]]]]", ValueKind::Array),
        ("[[],[],{},[]]", ValueKind::Array),
        ("\"\"", ValueKind::String),
        (r#""\ud800 \uDBFF\uDFFF \"\\\/\b\f\n\r\t""#, ValueKind::String),
        ("\"ü😀\u{2028}\u{7f}\"", ValueKind::String),
        ("0", ValueKind::Number),
        ("-0", ValueKind::Number),
        ("-0.0e-0", ValueKind::Number),
        ("1E+999", ValueKind::Number),
        ("123456789012345678901234567890", ValueKind::Number),
        ("true", ValueKind::Bool),
        ("false", ValueKind::Bool),
        ("null", ValueKind::Null),
    ] {
        let around = format!(" \t\r\n{text} \t\r\n");
        let span = Span { start: 4, end: 4 + text.len() };
        assert_eq!(scan(around.as_bytes()), Ok(Value { kind, span }), "{text}");
    }
}

#[test]
fn a_fault_is_named_where_it_is() {
    let unexpected = |expected, found| Syntax::Unexpected { expected, found };
    let end = |expected| Syntax::UnexpectedEnd { expected };
    let table: &[(&[u8], Syntax, usize)] = &[
        (b"", end("a value"), 0),
        (b"  ", end("a value"), 2),
        (b"hello", unexpected("a value", b'h'), 0),
        (b"nul", end("`null`"), 3),
        (b"nulL", unexpected("`null`", b'L'), 3),
        (b"True", unexpected("a value", b'T'), 0),
        (b"[1,]", unexpected("a value", b']'), 3),
        (b"[,1]", unexpected("a value", b','), 1),
        (b"[1 2]", unexpected("`,` or `]`", b'2'), 3),
        (b"[1}", unexpected("`,` or `]`", b'}'), 2),
        (b"[", end("a value or `]`"), 1),
        (b"[1", end("`,` or `]`"), 2),
        (b"{", end("a name or `}`"), 1),
        (b"{]", unexpected("a name", b']'), 1),
        (b"{1:2}", unexpected("a name", b'1'), 1),
        (b"{\"a\"}", unexpected("`:`", b'}'), 4),
        (b"{\"a\":}", unexpected("a value", b'}'), 5),
        (b"{\"a\":1,}", unexpected("a name", b'}'), 7),
        (b"{\"a\":1", end("`,` or `}`"), 6),
        (b"\"abc", end("the end of a string"), 4),
        (b"\"abcdefgh\nijklmnop\"", Syntax::ControlCharacter { found: b'\n' }, 9),
        (b"\"\0\"", Syntax::ControlCharacter { found: 0 }, 1),
        (b"\"\\x\"", unexpected("an escape", b'x'), 2),
        (b"\"\\u12g4\"", unexpected("a hexadecimal digit", b'g'), 5),
        (b"\"\\u12\"", unexpected("a hexadecimal digit", b'"'), 5),
        (b"01", Syntax::TrailingBytes { found: b'1' }, 1),
        (b"+1", unexpected("a value", b'+'), 0),
        (b"-", end("a digit"), 1),
        (b"-a", unexpected("a digit", b'a'), 1),
        (b".5", unexpected("a value", b'.'), 0),
        (b"1.", end("a digit"), 2),
        (b"1.e3", unexpected("a digit", b'e'), 2),
        (b"1e", end("a digit"), 2),
        (b"1e+", end("a digit"), 3),
        (b"NaN", unexpected("a value", b'N'), 0),
        (b"1 1", Syntax::TrailingBytes { found: b'1' }, 2),
        (b"{}{}", Syntax::TrailingBytes { found: b'{' }, 2),
        (b"\"\xff\"", Syntax::NotUtf8, 1),
        (b"\"\xed\xa0\x80\"", Syntax::NotUtf8, 1),
        (b"\"\xc0\xaf\"", Syntax::NotUtf8, 1),
        (b"\xef\xbb\xbf{}", Syntax::ByteOrderMark, 0),
        (b"[\xef\xbb\xbf]", unexpected("a value", 0xef), 1),
        (b"[\xc2\xa0]", unexpected("a value", 0xc2), 1),
        (b"[\x0b]", unexpected("a value", 0x0b), 1),
        (b"[\x0c]", unexpected("a value", 0x0c), 1),
        (b"[[[[[]]]]]", Syntax::TooDeep { limit: 4 }, 4),
        (b"[[[[{\"a\":1}]]]]", Syntax::TooDeep { limit: 4 }, 4),
    ];
    for (text, syntax, offset) in table {
        assert_eq!(scan(text), Err((*syntax, *offset)), "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn no_depth_exhausts_anything() {
    for opening in ["[", "{\"a\":"] {
        let text = opening.repeat(1_000_000);
        let mut scanner = Scanner::new(text.as_bytes(), usize::MAX).unwrap();
        let error = scanner.value().unwrap_err();
        assert_eq!(*error.problem(), Problem::NotJson(Syntax::TooDeep { limit: DEPTH_CEILING }));
        assert_eq!(error.offset(), DEPTH_CEILING * opening.len());
    }
    let text = "[{\"a\":".repeat(DEPTH_CEILING / 2) + "1" + &"}]".repeat(DEPTH_CEILING / 2);
    let mut scanner = Scanner::new(text.as_bytes(), DEPTH_CEILING).unwrap();
    assert_eq!(scanner.value().unwrap().span.end, text.len());
}
