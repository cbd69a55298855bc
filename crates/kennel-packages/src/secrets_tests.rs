use super::*;

fn secrets(settings: &[(&str, &str)]) -> Secrets {
    let mut secrets = Secrets::default();
    for (name, value) in settings {
        secrets.note(name, value);
    }
    secrets
}

#[test]
fn values_of_secret_names_are_taken_out_in_every_spelling() {
    let secrets =
        secrets(&[("//host/:_authToken", "npm_s3cr3t"), ("_password", "aHVudGVyMg=="), ("_auth", "YWRhOnBAc3N3b3Jk")]);
    for (text, expected) in [
        ("token npm_s3cr3t end", "token [redacted] end"),
        ("encoded bnBtX3MzY3IzdA==", "encoded [redacted]"),
        ("plain hunter2 and p@ssword", "plain [redacted] and [redacted]"),
        ("both ada:p@ssword", "both [redacted]"),
    ] {
        assert_eq!(secrets.redact(text), expected);
    }
}

#[test]
fn what_an_address_holds_is_secret_and_the_address_is_not() {
    let secrets = secrets(&[
        ("index-url", "https://ada:p%40ss%20word@index.example/simple, https://t0k3n-5@other.example/"),
        ("HTTPS_PROXY", "http://proxy.example:3128"),
    ]);
    let text = "GET https://ada:p%40ss%20word@index.example/simple p@ss word t0k3n-5 ada proxy.example";
    assert_eq!(
        secrets.redact(text),
        "GET https://[redacted]@index.example/simple [redacted] [redacted] ada proxy.example"
    );
}

#[test]
fn harmless_settings_stay_readable() {
    let secrets = secrets(&[
        ("always-auth", "true"),
        ("PIP_KEYRING_PROVIDER", "import"),
        ("registry", "https://registry.example/"),
        ("_authToken", "abc"),
        ("token", "true"),
    ]);
    assert_eq!(secrets, Secrets::default());
}

#[test]
fn debugging_shows_none() {
    let text = format!("{:?}", secrets(&[("token", "s3cr3t-value")]));
    assert!(!text.contains("s3cr3t"), "{text}");
}
