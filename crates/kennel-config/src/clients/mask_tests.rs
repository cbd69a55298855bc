use super::*;

fn toml(text: &str) -> String {
    masked(Path::new("kennel.toml"), text)
}

#[test]
fn values_of_variables_and_headers_are_not_shown() {
    let shown = toml(
        "[servers.a]\ncommand = \"npx\"\nenv = { TOKEN = \"hunter2\", URL = \"${URL}\", N = 5 }\n\
         headers.X = 'Bearer ${T} tail'\n",
    );
    assert_eq!(
        shown,
        "[servers.a]\ncommand = \"npx\"\nenv = { TOKEN = \"…\", URL = \"${URL}\", N = … }\nheaders.X = '…${T}…'\n"
    );
}

#[test]
fn references_are_shown_and_secrets_elsewhere_are_not() {
    let shown = toml(
        "[servers.a]\nargs = [\"--api-key\", \"hunter2\", \"--token=hunter2\", \"x\"]\nurl = \"https://me:hunter2@host/\"\n\
         [servers.a.env]\nA = { from-env = \"NAME\" }\n# kept from Cursor: oauth = \"hunter2\"\n",
    );
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("from-env = \"NAME\"") && shown.contains("\"x\"]") && shown.contains("\"--api-key\""));
}

#[test]
fn lines_stay_where_they_are() {
    let text = "[servers.a.env]\nA = \"\"\"one\ntwo\nthree\"\"\"\nB = 1\n";
    assert_eq!(toml(text).lines().count(), text.lines().count());
    assert!(!toml(text).contains("two"));
    let json = masked(Path::new("x.json"), "{\n  \"apiKey\": \"hunter2\", // c\n  \"env\": {\"A\": \"hunter2\"}\n}\n");
    assert_eq!(json, "{\n  \"apiKey\": \"…\", // c\n  \"env\": {\"A\": \"…\"}\n}\n");
}

#[test]
fn what_cannot_be_understood_is_not_shown() {
    assert_eq!(toml("password = hunter2\nx"), "…\n…\n");
}

#[test]
fn the_default_of_a_variable_is_not_shown() {
    assert!(!toml("[servers.a.env]\nA = \"${X:-hunter2}\"\n").contains("hunter2"));
}
