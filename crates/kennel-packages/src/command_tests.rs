use super::*;
use proptest::prelude::*;

fn words(line: &str) -> Vec<OsString> {
    line.split('|').map(OsString::from).collect()
}

fn recognise(line: &str) -> Result<Option<PackageCommand>, PackageError> {
    PackageCommand::recognise(&words(line))
}

/// A command in one line: packages, executable, arguments.
fn summary(line: &str) -> String {
    let command = recognise(line).unwrap().unwrap_or_else(|| panic!("{line} was not recognised"));
    let executable = match command.executable {
        Executable::OfPackage => "*".to_owned(),
        Executable::Named(name) => name,
        Executable::Interpreter => "interpreter".to_owned(),
    };
    let mut parts = vec![command.request.to_string(), executable];
    parts.extend(command.request.python.map(|python| format!("python {python}")));
    parts.extend(command.request.prereleases.then(|| "prereleases".to_owned()));
    parts.push(command.args.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" "));
    parts.join("; ")
}

#[test]
fn the_usual_commands_of_npm_are_recognised() {
    for (line, expected) in [
        ("npx|-y|@modelcontextprotocol/server-filesystem|/data", "@modelcontextprotocol/server-filesystem; *; /data"),
        ("npx|semver", "semver; *; "),
        ("npx|semver@latest|--yes", "semver; *; --yes"),
        ("/usr/bin/npx|--yes|@scope/name@^1.2|-y|--|x", "@scope/name@^1.2; *; -y -- x"),
        ("npx|-q|--|semver@7|1.2.3", "semver@7; *; 1.2.3"),
        ("npx|-p|semver@7|-p|other|semver|1.0.0", "semver@7 other; semver; 1.0.0"),
        ("npx|--package=semver|semver|-c", "semver; semver; -c"),
        ("npm|exec|semver|1.2.3", "semver; *; 1.2.3"),
        ("npm|exec|--yes|--|semver@7|--range|^1", "semver@7; *; --range ^1"),
        ("npm|exec|semver|--yes|--|--range|^1", "semver; *; --range ^1"),
        ("npm|x|--package=semver|--|semver|1", "semver; semver; 1"),
    ] {
        assert_eq!(summary(line), expected, "{line}");
    }
}

#[test]
fn the_usual_commands_of_python_are_recognised() {
    for (line, expected) in [
        ("uvx|mcp-server-git|--repository|.", "mcp-server-git; mcp-server-git; --repository ."),
        ("uvx|Cow_Say@6.1|-t|x", "cow-say==6.1; Cow_Say; -t x"),
        ("uvx|cowsay@latest", "cowsay; cowsay; "),
        ("uvx|cowsay==6.1", "cowsay==6.1; cowsay; "),
        ("uvx|mcp[cli]", "mcp[cli]; mcp; "),
        ("uvx|--from|mcp[ws,cli] >= 1, < 2|mcp|run", "mcp[cli,ws]>=1,<2; mcp; run"),
        ("uvx|-q|--python|3.12|--with|a>=1,<2,b[x,y]|tool", "tool a>=1,<2 b[x,y]; tool; python 3.12; "),
        ("uvx|--prerelease=allow|--from=tool|tool|a", "tool; tool; prereleases; a"),
        ("uv|tool|run|--isolated|cowsay|-t|x", "cowsay; cowsay; -t x"),
        ("pipx|run|cowsay==6.1|-t", "cowsay==6.1; cowsay; -t"),
        ("pipx|run|--spec|cowsay==6.1|--no-cache|cowsay|x", "cowsay==6.1; cowsay; x"),
        ("uv|run|--with|mcp[cli]|mcp|run|/x/server.py", "mcp[cli]; mcp; run /x/server.py"),
        ("uv|run|--with|mcp|--no-project|server.py|-v", "mcp; interpreter; server.py -v"),
        ("uv|run|--with=mcp|python|-m|thing", "mcp; interpreter; -m thing"),
    ] {
        assert_eq!(summary(line), expected, "{line}");
    }
}

#[test]
fn other_commands_are_left_alone() {
    for line in [
        "node|server.js",
        "npm|install|semver",
        "npm",
        "uv|sync",
        "uv|run|server.py",
        "uv|run|--directory|/x|--with|a|server",
        "uv|tool|install|x",
        "pipx|install|x",
        "python|-m|uvx|x",
        "",
        "/",
    ] {
        assert_eq!(recognise(line), Ok(None), "{line}");
    }
    assert_eq!(PackageCommand::recognise(&[]), Ok(None));
}

#[test]
fn what_the_store_cannot_hold_is_refused_with_the_reason() {
    for (line, part) in [
        ("npx|-c|semver 1", "line of shell"),
        ("npx|--no-install|semver", "leave it out"),
        ("npx|--registry|x|semver", "not known"),
        ("npx", "names no package"),
        ("npx|-y", "names no package"),
        ("npx|-p", "needs a value"),
        ("npx|-p|semver", "names no command"),
        ("npx|-p|semver|./x", "without slashes"),
        ("npx|./local", "a path"),
        ("npx|/abs/olute", "a path"),
        ("npx|thing.tgz", "a path"),
        ("npx|user/repository", "no name of an npm package"),
        ("npx|github:user/repository", "a git repository"),
        ("npx|x@npm:y@1", "another package"),
        ("npx|x@git+ssh://git@host/x", "a git repository"),
        ("npx|-x", "not known"),
        ("npx|semver@$(id)", "neither a version"),
        ("uvx|--from|git+https://token@host/x|tool", "a git repository"),
        ("uvx|--from|https://host/x.whl|tool", "an address"),
        ("uvx|.", "a path"),
        ("uvx|tool ; python_version > '3'", "condition"),
        ("uvx|tool@", "a place"),
        ("uvx|tool@../x", "a place"),
        ("uvx|-|x", "no name"),
        ("uvx|--with-editable|.|tool", "takes a path"),
        ("uvx|tool=1", "no comparison"),
        ("pipx|run|https://host/script.py", "an address"),
    ] {
        let problem = recognise(line).expect_err(line).to_string();
        assert!(problem.contains(part), "{line}: {problem}");
        assert!(!problem.contains("token"), "an address may hold a password: {problem}");
    }
}

#[test]
fn equal_requests_have_equal_keys_and_others_have_others() {
    let key = |line: &str| recognise(line).unwrap().unwrap().request.key();
    assert_eq!(key("npx|semver"), key("npm|exec|--|semver@latest|x"));
    assert_eq!(key("uvx|Cow.Say@6"), key("pipx|run|--spec|cow-say==6|anything"));
    let keys =
        ["npx|a", "npx|a@1", "uvx|a", "uvx|a[x]", "uvx|--python|3|a", "uvx|--with|b|a", "uvx|--prerelease=allow|a"]
            .map(key);
    let all = keys.iter().collect::<std::collections::BTreeSet<_>>();
    assert_eq!(all.len(), keys.len());
}

proptest! {
    /// Whatever is recognised goes to an installer as names and versions, never as a flag, a path or an address.
    #[test]
    fn no_package_reaches_an_installer_as_anything_else(tool in "npx|uvx", text in "[-@/.a-z0-9:=<\\[\\]+ ~^]{0,24}") {
        if let Ok(Some(command)) = PackageCommand::recognise(&words(&format!("{tool}|{text}"))) {
            for text in command.request.texts() {
                prop_assert!(!text.starts_with(['-', '/', '.', '~']), "{text}");
                prop_assert!(!text.contains(':'), "{text}");
            }
        }
    }
}
