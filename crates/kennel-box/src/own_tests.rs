use crate::mounts::MountRules;
use crate::own::{Own, Protection};
use kennel_jail::Access::{self, ReadOnly, ReadWrite};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// `project/kennel.toml`, `project/src`, `data/store`, `other`, each for one test.
struct Place {
    _directory: tempfile::TempDir,
    base: PathBuf,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        for name in ["project/src", "data/store/package", "other"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        std::fs::write(base.join("project/kennel.toml"), "").unwrap();
        Self { _directory: directory, base }
    }

    fn rules(&self) -> MountRules {
        self.protecting(&[("project/kennel.toml", Protection::Private), ("data", Protection::Hidden)])
    }

    fn protecting(&self, own: &[(&str, Protection)]) -> MountRules {
        let own = own.iter().map(|(path, protection)| Own {
            path: self.base.join(path),
            what: "one of its own things",
            protection: *protection,
        });
        let own: Vec<Own> = own.collect();
        MountRules::for_user(Path::new("/home/ada")).protecting(move || own)
    }

    #[track_caller]
    fn grants(&self, rules: &MountRules, path: &str, access: Access) {
        rules.check(&self.base.join(path), access).unwrap_or_else(|error| panic!("{path}: {error}"));
    }

    #[track_caller]
    fn refuses(&self, rules: &MountRules, path: &str, access: Access, words: &str) {
        let error = rules.check(&self.base.join(path), access).expect_err(path).to_string();
        assert!(error.contains(words), "{path}: {error}");
    }
}

#[test]
fn what_decides_where_the_configuration_is_is_never_written_but_read_with_its_directory() {
    let place = Place::new();
    let rules = place.rules();
    place.refuses(&rules, "project/kennel.toml", ReadWrite, "it is `");
    place.refuses(&rules, "project/kennel.toml", ReadOnly, "it is `");
    place.refuses(&rules, "project", ReadWrite, "project/kennel.toml`, one of its own things, which no box may write");
    place.grants(&rules, "project", ReadOnly);
    place.grants(&rules, "project/src", ReadWrite);
    place.grants(&rules, "other", ReadWrite);
}

#[test]
fn data_is_neither_read_nor_written_in_whole_or_in_part_or_with_what_is_around_it() {
    let place = Place::new();
    let rules = place.rules();
    for access in [ReadOnly, ReadWrite] {
        place.refuses(&rules, "data", access, "it is `");
        place.refuses(&rules, "data/store/package", access, "it lies in `");
        place.refuses(&rules, "", access, "it holds `");
    }
    let package = place.base.join("data/store/package");
    let rules = rules.showing(std::slice::from_ref(&package));
    place.grants(&rules, "data/store/package", ReadOnly);
    place.refuses(&rules, "data/store/package", ReadWrite, "it lies in `");
    place.refuses(&rules, "data/store", ReadOnly, "it lies in `");
}

#[test]
fn a_symlink_on_the_way_is_as_good_as_the_thing_itself() {
    let place = Place::new();
    std::fs::create_dir(place.base.join("links")).unwrap();
    symlink("../project/kennel.toml", place.base.join("links/active.toml")).unwrap();
    let rules = place.protecting(&[("links/active.toml", Protection::Private)]);
    for path in ["links", "project"] {
        place.refuses(&rules, path, ReadWrite, "it holds `");
    }
    place.refuses(&rules, "project/kennel.toml", ReadWrite, "it is `");
    symlink("links", place.base.join("innocent")).unwrap();
    place.refuses(&rules, "innocent", ReadWrite, "it holds `");
    place.grants(&rules, "other", ReadWrite);
}

#[test]
fn a_hard_link_is_the_same_file_and_may_be_anywhere_on_its_file_system() {
    let place = Place::new();
    std::fs::hard_link(place.base.join("project/kennel.toml"), place.base.join("other/name")).unwrap();
    let rules = place.rules();
    place.refuses(&rules, "other/name", ReadWrite, "it is `");
    place.refuses(&rules, "other", ReadWrite, "has 2 names");
    place.grants(&rules, "other", ReadOnly);
    std::fs::remove_file(place.base.join("other/name")).unwrap();
    place.grants(&place.rules(), "other", ReadWrite);
}

#[test]
fn what_is_not_there_yet_cannot_be_made_by_a_box() {
    let place = Place::new();
    let rules = place.protecting(&[("other/kennel/kennel.toml", Protection::Private)]);
    place.refuses(&rules, "other", ReadWrite, "it holds `");
    place.grants(&rules, "other", ReadOnly);
    place.grants(&rules, "project", ReadWrite);
}

#[test]
fn a_cache_is_read_but_not_written_in_part_either() {
    let place = Place::new();
    let rules = place.protecting(&[("data", Protection::ReadOnly)]);
    place.grants(&rules, "data", ReadOnly);
    place.grants(&rules, "data/store", ReadOnly);
    place.refuses(&rules, "data/store", ReadWrite, "it lies in `");
    place.refuses(&rules, "data", ReadWrite, "it is `");
}

/// Bind mounts need a mount namespace of their own: the test runs this file's ignored test there.
#[test]
fn another_mount_of_the_same_thing_is_the_same_thing() {
    let place = Place::new();
    let script = "mkdir b && mkdir -p other/in && mount --bind \"$1\" b && mount --bind project other/in && \
                  exec \"$2\" --exact own::tests::in_a_mount_namespace --ignored --nocapture";
    for (mounted, refused) in [("project", true), (".", true), ("project/src", false)] {
        let place_of = |name: &str| place.base.join(name);
        let program = std::env::current_exe().unwrap();
        let mut unshare = std::process::Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", mounted]).arg(program);
        unshare
            .current_dir(&place.base)
            .env("KENNEL_TEST_PLACE", &place.base)
            .env("KENNEL_TEST_REFUSED", refused.to_string());
        let ran = unshare.output().unwrap();
        assert!(ran.status.success(), "{mounted}: {ran:?}");
        std::fs::remove_dir(place_of("b")).unwrap();
    }
}

#[test]
#[ignore = "run by `another_mount_of_the_same_thing_is_the_same_thing` in a mount namespace"]
fn in_a_mount_namespace() {
    let base = PathBuf::from(std::env::var_os("KENNEL_TEST_PLACE").unwrap());
    let refused = std::env::var("KENNEL_TEST_REFUSED").unwrap() == "true";
    let own = Own { path: base.join("project/kennel.toml"), what: "it", protection: Protection::Private };
    let rules = MountRules::for_user(Path::new("/home/ada")).protecting(move || vec![own]);
    let check = |path: &str| rules.check(&base.join(path), ReadWrite);
    assert_eq!(check("b").is_err(), refused, "{:?}", check("b"));
    assert!(check("other/in").is_err(), "a mount of its directory");
    assert!(check("other").is_err(), "what is mounted in it comes along");
    // The thing itself by its other name.
    let own = Own { path: base.join("other/in/kennel.toml"), what: "it", protection: Protection::Private };
    let rules = MountRules::for_user(Path::new("/home/ada")).protecting(move || vec![own]);
    assert!(rules.check(&base.join("project"), ReadWrite).is_err(), "the directory that is mounted elsewhere");
    assert!(rules.check(&base.join("project/src"), ReadWrite).is_ok());
}
