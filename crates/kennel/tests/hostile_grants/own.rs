//! What is Kennel's own is nobody's grant, by whatever way it is named.

use crate::scene::{Payload, Serving, script, serve_words};
use crate::support::alone;
use crate::support::caller::callers;
use crate::support::ground::Ground;
use crate::support::running::{Running, run};
use kennel_testkit::Caller;
use std::os::unix::fs::symlink;

const REFUSED: &str = "cannot be granted to a box";

#[test]
fn a_box_never_writes_the_configuration_that_a_reload_takes_up() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_directory("data");
        let (payload, file) = (Payload::new(&ground), ground.path("work/kennel.toml"));
        let notes = script("notes", &payload.added_to(&file), "box = { write = [\".\"] }");
        ground.make_file("work/kennel.toml", &notes, 0o644);
        let mut serving = Serving::start(&ground, &file, &[]);
        let problem = serving.failure("notes", || payload.has_run());
        assert!(problem.contains(REFUSED) && problem.contains("kennel.toml"), "{caller:?}: {problem}");
        assert!(problem.contains("grant what is needed beside it"), "{problem}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), notes, "nothing was added");
        assert!(!payload.has_run());
    }
}

#[test]
fn no_way_of_naming_them_grants_kennels_own_things() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        for name in ["data/store/other", "conf/inner", "links", "sockets", "home/.cursor", "home/.npm", "hard"] {
            ground.make_directory(name.split('/').next().unwrap());
            ground.make_directory(name);
        }
        for (link, target) in [("links/kennel.toml", "../conf/kennel.toml"), ("alias", "conf"), ("to-data", "data")] {
            symlink(target, ground.path(link)).unwrap();
        }
        ground.make_file("secret.sh", "echo x", 0o755);
        let refused = [
            ("write", "conf"),
            ("write", "alias"),
            ("write", "links"),
            ("write", "conf/kennel.toml"),
            ("read", "conf/kennel.toml"),
            ("write", "data"),
            ("read", "data"),
            ("read", "to-data"),
            ("read", "data/store/other"),
            ("write", "data/state"),
            ("read", "sockets"),
            ("write", "sockets"),
            ("write", "bin"),
            ("write", "home/.cursor"),
            ("write", "home/.npm"),
            ("write", "secret.sh"),
        ];
        let granted = [
            ("read", "conf"),
            ("write", "conf/inner"),
            ("read", "bin"),
            ("read", "home/.cursor"),
            ("read", "home/.npm"),
            ("write", "work"),
        ];
        ground.make_directory("data/state");
        let mut text = String::new();
        for (number, (access, path)) in refused.iter().chain(&granted).enumerate() {
            let keys = format!("box = {{ {access} = [{:?}] }}", ground.text(path));
            text.push_str(&script(&format!("s{number}"), "exit 3", &keys));
        }
        text.push_str("[servers.other]\ncommand = \"true\"\nenv = { X = { from-command = [\"../secret.sh\"] } }\n");
        ground.make_file("conf/kennel.toml", text, 0o644);
        let socket = ground.text("sockets/admin.sock");
        let mut serving = Serving::start(&ground, &ground.path("links/kennel.toml"), &["--socket", &socket]);
        for (number, (access, path)) in refused.iter().chain(&granted).enumerate() {
            let problem = serving.failure(&format!("s{number}"), || false);
            assert_eq!(problem.contains(REFUSED), number < refused.len(), "{caller:?} {access} {path}: {problem}");
        }
    }
}

#[test]
fn another_mount_of_the_configuration_is_the_configuration() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        for name in ["data", "conf", "mirror"] {
            ground.make_directory(name);
        }
        let (payload, file) = (Payload::new(&ground), ground.path("conf/kennel.toml"));
        let inside = ground.path("mirror/kennel.toml");
        let keys = format!("box = {{ write = [{:?}] }}", ground.text("mirror"));
        ground.make_file("conf/kennel.toml", script("notes", &payload.added_to(&inside), &keys), 0o644);
        let flags: &[&str] = match caller {
            Caller::Root => &["--mount"],
            Caller::User => &["--user", "--map-root-user", "--mount"],
        };
        let mount = format!("mount --bind {} {} && exec \"$@\"", ground.text("conf"), ground.text("mirror"));
        let mut words: Vec<std::ffi::OsString> = vec!["unshare".into()];
        words.extend(flags.iter().map(Into::into));
        words.extend(["sh", "-c", &mount, "sh"].map(Into::into));
        words.extend(serve_words(&ground, &file));
        let mut serving = Serving::run(&ground, ground.command(words));
        let problem = serving.failure("notes", || payload.has_run());
        assert!(problem.contains(REFUSED) && problem.contains("conf/kennel.toml"), "{caller:?}: {problem}");
    }
}

#[test]
fn things_of_another_kennel_are_not_granted_either() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        for name in ["data", "conf", "free"] {
            ground.make_directory(name);
        }
        ground.make_file("conf/kennel.toml", "", 0o644);
        let serving = Serving::start(&ground, &ground.path("conf/kennel.toml"), &[]);
        for (flag, path) in [("--write", "conf"), ("--write", "data"), ("--read", "data"), ("--read", "data/run")] {
            let ran = run(ground.exec(&[flag, &ground.text(path)], &["true"]));
            assert_eq!(ran.code, Some(125), "{caller:?} {flag} {path}: {ran:?}");
            assert!(ran.err().contains("another Kennel"), "{ran:?}");
        }
        for (flag, path) in [("--read", "conf"), ("--write", "free")] {
            run(ground.exec(&[flag, &ground.text(path)], &["true"])).fine();
        }
        drop(serving);
        run(ground.exec(&["--write", &ground.text("conf")], &["true"])).fine();
    }
}

#[test]
fn a_box_cannot_pass_for_another_kennel() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        for name in ["open", "free"] {
            ground.make_directory(name);
        }
        // The name and the command line of a Kennel that keeps its data in `free`.
        ground.make_file("open/kennel", std::fs::read("/bin/sh").unwrap(), 0o755);
        ground.make_file("open/serve", "echo ready\nsleep 100\n:\n", 0o755);
        let (free, open) = (ground.text("free"), ground.text("open"));
        let script = format!("cd {open} && exec ./kennel serve --data {free}");
        let running = Running::ready(ground.exec(&["--write", &open], &["sh", "-c", &script]));
        run(ground.exec(&["--write", &free], &["true"])).fine();
        drop(running);
    }
}

#[test]
fn no_command_grants_kennels_own_things() {
    let _alone = alone();
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_directory("data");
        let data = ground.text("data");
        let (socket, home) = (ground.text("sock/admin.sock"), ground.text("home/.config"));
        ground.make_directory("sock");
        ground.make_directory("home/.config");
        let server = ["sh", "-c", "exit 3"];
        let run_of = |words: &[&str]| run(ground.kennel(words));
        for (words, word) in [
            ([&["run", "--data", &data, "--write", &data, "--"], &server[..]].concat(), "Kennel's data directory"),
            ([&["run", "--data", &data, "--read", &data, "--"], &server[..]].concat(), "Kennel's data directory"),
            (vec!["tools", "--data", &data, "--write", &home, "--run", "sh -c exit"], "Kennel's usual configuration"),
            (vec!["call", "--data", &data, "--read", &data, "--run", "sh -c exit", "x"], "Kennel's data directory"),
            (vec!["exec", "--write", &home, "--", "true"], "Kennel's usual configuration"),
        ] {
            let ran = run_of(&words);
            assert!(ran.code != Some(0) && ran.err().contains(word), "{caller:?} {words:?}: {ran:?}");
        }
        // What a command names is read only if it may be, and code sees no more.
        let file = ground.path("work/kennel.toml");
        let text = format!(
            "[servers.named]\ncommand = \"/bin/sh\"\nargs = [\"-c\", \"exit 3\", {data:?}, {file:?}, \"--at={socket}\"]\n\
             start = \"eager\"\nrestarts = 0\n[code]\nread = [{data:?}]\n"
        );
        ground.make_file("work/kennel.toml", text, 0o644);
        let mut serving = Serving::start(&ground, &file, &[]);
        serving.failure("named", || false);
        let said = serving.said();
        for path in [data.as_str(), file.to_str().unwrap()] {
            let refused = format!("{path} is named in the command but not granted");
            assert!(said.contains(&refused), "{caller:?} {path}: {said}");
        }
        let answer = serving.session("code").call(1, "run_python", serde_json::json!({ "code": "1" })).unwrap();
        let answer = serde_json::Value::from(answer).to_string() + &serving.said();
        assert!(answer.contains(REFUSED), "{caller:?}: {answer}");
        drop(serving);
        std::fs::remove_dir(ground.path("home/.config")).unwrap();
    }
}
