use super::*;
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::symlink;

/// A home with projects, and a place outside of it.
struct Scene {
    _directory: tempfile::TempDir,
    root: PathBuf,
}

const FILES: [&str; 22] = [
    "home/.ssh/id_ed25519",
    "home/.npmrc",
    "home/loose.py",
    "home/package.json",
    "home/documents/a b.txt",
    "home/documents/notes.md",
    "home/tools/deep/run.js",
    "home/node/package.json",
    "home/node/node_modules/kit/package.json",
    "home/node/node_modules/kit/dist/cli.js",
    "home/node/dist/index.js",
    "home/python/pyproject.toml",
    "home/python/src/server.py",
    "home/python/.venv/pyvenv.cfg",
    "home/python/.venv/bin/serve",
    "srv/bare/server.py",
    "srv/bare/data.bin",
    "srv/bare/native",
    "srv/bare/wrapper",
    "srv/env/pyvenv.cfg",
    "srv/env/bin/serve",
    "srv/-odd",
];

fn scene() -> Scene {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for file in FILES {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let content = match path.file_name().unwrap().to_str().unwrap() {
            "serve" | "wrapper" => "#!/bin/sh\n",
            _ => "data",
        };
        fs::write(path, content).unwrap();
    }
    fs::create_dir_all(root.join("home/node/node_modules/.bin")).unwrap();
    symlink("../kit/dist/cli.js", root.join("home/node/node_modules/.bin/kit")).unwrap();
    symlink(root.join("home/.ssh"), root.join("srv/innocent")).unwrap();
    symlink(root.join("home/documents"), root.join("srv/papers")).unwrap();
    symlink(root.join("srv/bare/server.py"), root.join("srv/link.py")).unwrap();
    Scene { _directory: directory, root }
}

impl Scene {
    fn host(&self, cwd: &str) -> HostView {
        HostView { home: self.root.join("home"), cwd: self.root.join(cwd), ..HostView::default() }
    }

    fn rules(&self) -> MountRules {
        MountRules::for_user(&self.root.join("home"))
    }

    /// Infers from words in which `@` stands for the scene; the grants come back in the same way.
    fn infer(&self, cwd: &str, words: &str) -> (Vec<String>, Vec<String>) {
        let root = self.root.to_str().unwrap();
        let command = words.split('|').map(|word| OsString::from(word.replace('@', root))).collect::<Vec<_>>();
        let found = infer(&command, &self.host(cwd), &self.rules(), &BoxSpec::default());
        let short = |path: &Path| path.to_str().unwrap().replace(root, "@");
        (
            found.grants.iter().map(|path| short(path)).collect(),
            found.refused.iter().map(|(path, _)| short(path)).collect(),
        )
    }
}

#[test]
fn named_paths_are_granted_and_nothing_else() {
    let scene = scene();
    let none: &[&str] = &[];
    for (cwd, words, grants, refused) in [
        // Plain words, and ways to write a path in one.
        ("srv", "server|@/home/documents", &["@/home/documents"][..], none),
        ("srv", "server|--root=@/home/documents", &["@/home/documents"], none),
        ("srv", "server|ROOT=@/home/documents", &["@/home/documents"], none),
        ("srv", "server|--set=root=@/home/documents", &["@/home/documents"], none),
        ("srv", "server|file://@/home/documents/a%20b.txt", &["@/home/documents/a b.txt"], none),
        ("srv", "server|--at=file://localhost@/srv/bare?x#y", &["@/srv/bare"], none),
        ("srv", "server|file://elsewhere@/srv/bare", none, none),
        ("srv", "server|--allow=@/srv/bare,@/home/documents", &["@/home/documents", "@/srv/bare"], none),
        // Relative paths, from the working directory, only where they exist.
        ("home", "server|documents/notes.md|./documents/../node", &["@/home/documents/notes.md", "@/home/node"], none),
        ("srv/bare", "server|.", &["@/srv/bare"], none),
        ("srv", "server|nothing|@/nowhere|--port=80||-|--|=", none, none),
        ("srv", "server|-odd", none, none),
        // A bare program is not looked for in the working directory.
        ("srv/bare", "wrapper", none, none),
        // What every box has.
        ("srv", "/usr/bin/env|/usr|/dev/null", none, none),
        ("srv", "server|/tmp", none, &["/tmp"]),
        // What is never granted.
        ("srv", "server|/|/etc/passwd|@/home", none, &["/", "/etc/passwd", "@/home"]),
        ("srv", "server|@/home/.ssh/id_ed25519|@/home/.npmrc", none, &["@/home/.ssh/id_ed25519", "@/home/.npmrc"]),
        ("srv", "server|innocent", none, &["@/srv/innocent"]),
        ("home/node", "server|..", none, &["@/home"]),
        // A link stays at its name, because the command uses that; in another grant it cannot.
        ("srv", "server|papers", &["@/srv/papers"], none),
        ("srv", "server|papers|@/srv", &["@/home/documents", "@/srv"], none),
    ] {
        let (granted, denied) = scene.infer(cwd, words);
        assert_eq!((&granted[..], &denied[..]), (&owned(grants)[..], &owned(refused)[..]), "{cwd}: {words}");
    }
}

#[test]
fn a_script_brings_its_project_and_never_more() {
    let scene = scene();
    for (cwd, words, grants) in [
        ("srv", "node|@/home/node/dist/index.js", &["@/home/node"][..]),
        ("home/node", "node|dist/index.js", &["@/home/node"]),
        ("srv", "python|@/home/python/src/server.py", &["@/home/python"]),
        // Without a mark: its own directory.
        ("srv", "python|bare/server.py", &["@/srv/bare"]),
        ("srv/bare", "./wrapper", &["@/srv/bare"]),
        // The mark in a home directory does not count.
        ("srv", "node|@/home/tools/deep/run.js", &["@/home/tools/deep"]),
        ("srv", "python|@/home/loose.py", &["@/home/loose.py"]),
        // A program or a file of data is no script.
        ("srv/bare", "./native|data.bin", &["@/srv/bare/data.bin", "@/srv/bare/native"]),
        // A virtualenv is needed whole, with the project that it belongs to.
        ("srv", "@/srv/env/bin/serve", &["@/srv/env"]),
        ("srv", "@/home/python/.venv/bin/serve", &["@/home/python"]),
        // A link is needed, and what it leads to as well.
        ("srv", "@/home/node/node_modules/.bin/kit", &["@/home/node/node_modules"]),
        // An installed package is needed with its neighbours.
        ("srv", "node|@/home/node/node_modules/kit/dist/cli.js", &["@/home/node/node_modules"]),
        ("home/documents", "python|@/srv/link.py", &["@/srv"]),
    ] {
        assert_eq!(scene.infer(cwd, words), (owned(grants), Vec::new()), "{cwd}: {words}");
    }
}

#[test]
fn only_what_is_under_an_allowed_root_is_inferred() {
    let scene = scene();
    let rules = MountRules::under_roots(&scene.root.join("home"), vec![scene.root.join("srv/bare")]);
    let words = ["python", "server.py", "../env/bin/serve"].map(OsString::from);
    let found = infer(&words, &scene.host("srv/bare"), &rules, &BoxSpec::default());
    assert_eq!(found.grants, [scene.root.join("srv/bare")]);
    assert_eq!(found.refused.len(), 1);
    assert!(found.refused[0].1.contains("allowed root"), "{:?}", found.refused);
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

const PIECES: [&str; 32] = [
    "@/home/",
    "@/srv/",
    "@/home/loose.py",
    "@/home/tools/deep/run.js",
    "@",
    "/",
    "..",
    ".",
    "home",
    "srv",
    "/home",
    ".ssh",
    "node",
    "dist/index.js",
    "documents",
    "=",
    "--x",
    ",",
    "file://",
    "%2e",
    "%",
    "bare",
    "server.py",
    "innocent",
    "papers",
    "link.py",
    "/tmp",
    "/etc",
    "/root",
    "~",
    ".venv/bin/serve",
    "python",
];

/// Words made of pieces that mean something here, in any order.
fn any_word() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..6)
        .prop_map(|pieces| pieces.into_iter().collect::<Vec<_>>().concat())
}

proptest! {
    #[test]
    fn nothing_inferred_is_outside_of_what_the_rules_allow(
        words in prop::collection::vec(any_word(), 1..5),
        cwd in prop::sample::select(&["home", "srv", "home/node", "srv/bare", "home/python/src"][..]),
    ) {
        thread_local!(static SCENE: Scene = scene());
        SCENE.with(|scene| {
            let root = scene.root.to_str().unwrap();
            let command = words.iter().map(|word| OsString::from(word.replace('@', root))).collect::<Vec<_>>();
            let found = infer(&command, &scene.host(cwd), &scene.rules(), &BoxSpec::default());
            for grant in &found.grants {
                prop_assert!(grant.is_absolute());
                prop_assert!(scene.rules().check(grant, Access::ReadOnly).is_ok(), "{}", grant.display());
                let real = grant.canonicalize().unwrap();
                prop_assert!(!scene.root.join("home").starts_with(&real), "{} is around the home", real.display());
                prop_assert!(!real.starts_with(scene.root.join("home/.ssh")));
                let others = found.grants.iter().filter(|other| *other != grant);
                prop_assert!(others.clone().all(|other| !grant.starts_with(other)), "one grant in another");
            }
            Ok(())
        })?;
    }
}
