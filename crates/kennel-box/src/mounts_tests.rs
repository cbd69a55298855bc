use super::*;
use std::os::unix::net::UnixListener;

fn rules() -> MountRules {
    MountRules::for_user(Path::new("/home/ada"))
}

fn refusal(rules: &MountRules, path: &str, access: Access) -> String {
    rules.decide(Path::new(path), access).expect_err(path)
}

#[test]
fn what_is_too_wide_or_too_secret_is_refused() {
    for path in [
        "/",
        "/home",
        "/home/ada",
        "/etc",
        "/etc/ssl",
        "/proc/1",
        "/sys",
        "/dev/null",
        "/root",
        "/root/x",
        "/boot",
        "/run/user",
        "/var",
        "/var/run/docker.sock",
        "/var/lib/docker/volumes",
        "/home/ada/.ssh",
        "/home/ada/.ssh/id_ed25519",
        "/home/ada/.aws",
        "/home/ada/.config/gcloud/x",
    ] {
        refusal(&rules(), path, Access::ReadOnly);
    }
}

#[test]
fn ordinary_places_are_granted() {
    for path in [
        "/home/ada/project",
        "/home/adam/x",
        "/srv/data",
        "/tmp/x",
        "/opt/tool",
        "/var/tmp/x",
        "/home/ada/.config/app",
        "/etcetera",
    ] {
        rules().decide(Path::new(path), Access::ReadWrite).unwrap();
    }
    rules().decide(Path::new("/usr/share/doc"), Access::ReadOnly).unwrap();
}

#[test]
fn the_base_system_is_never_writable() {
    assert!(refusal(&rules(), "/usr/local/lib", Access::ReadWrite).contains("never writable"));
}

#[test]
fn roots_own_files_are_granted_to_root_only() {
    let root = MountRules::for_user(Path::new("/root"));
    root.decide(Path::new("/root/project"), Access::ReadOnly).unwrap();
    refusal(&root, "/root", Access::ReadOnly);
    refusal(&root, "/root/.ssh", Access::ReadOnly);
}

#[test]
fn nobodys_keys_are_granted_to_anybody() {
    let root = MountRules::for_user(Path::new("/root"));
    for path in ["/home/ada", "/home/ada/.ssh/id_ed25519", "/home/ada/.kube"] {
        refusal(&root, path, Access::ReadOnly);
    }
    root.decide(Path::new("/home/ada/project"), Access::ReadOnly).unwrap();
}

#[test]
fn a_directory_around_a_secret_is_refused_and_names_it() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join(".config/gcloud")).unwrap();
    let rules = MountRules::for_user(home.path());
    let config = home.path().canonicalize().unwrap().join(".config");
    let problem = rules.decide(&config, Access::ReadOnly).unwrap_err();
    assert!(problem.contains("gcloud"), "{problem}");
}

#[test]
fn only_what_is_under_an_allowed_root_is_granted() {
    let tenant = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let rules = MountRules::under_roots(Path::new("/home/ada"), vec![tenant.path().into()]);
    rules.check(tenant.path(), Access::ReadWrite).unwrap();
    let link = tenant.path().join("link");
    std::os::unix::fs::symlink(other.path(), &link).unwrap();
    let problem = rules.check(&link, Access::ReadOnly).unwrap_err().to_string();
    assert!(problem.contains("allowed root"), "{problem}");
}

#[test]
fn a_link_is_judged_by_where_it_leads() {
    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("innocent");
    std::os::unix::fs::symlink("/etc", &link).unwrap();
    let problem = rules().check(&link, Access::ReadOnly).unwrap_err().to_string();
    assert!(problem.contains("innocent") && problem.contains("/etc"), "{problem}");
}

#[test]
fn the_checked_path_is_the_real_one_and_stays_itself() {
    let directory = tempfile::tempdir().unwrap();
    let (real, link) = (directory.path().join("real"), directory.path().join("link"));
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let checked = rules().check(&link, Access::ReadOnly).unwrap();
    assert_eq!(checked.path(), real.canonicalize().unwrap());
    let before = checked.grant("/x".into(), Access::ReadOnly, false).identity;
    // Another directory takes its name; the inode stays taken because the check holds it open.
    std::fs::remove_dir(&real).unwrap();
    std::fs::create_dir(&real).unwrap();
    let again = rules().check(&real, Access::ReadOnly).unwrap();
    assert_ne!(again.grant("/x".into(), Access::ReadOnly, false).identity, before);
}

#[test]
fn sockets_and_devices_are_not_granted() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("engine.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    let problem = rules().check(&socket, Access::ReadOnly).unwrap_err().to_string();
    assert!(problem.contains("no sockets"), "{problem}");
}

#[test]
fn a_missing_or_relative_path_is_named() {
    let problem = rules().check(Path::new("/nowhere/at/all"), Access::ReadOnly).unwrap_err().to_string();
    assert!(problem.contains("/nowhere/at/all") && problem.contains("No such file"), "{problem}");
    assert!(rules().check(Path::new("relative"), Access::ReadOnly).unwrap_err().to_string().contains("absolute"));
}

#[test]
fn a_directory_in_which_the_kernel_shows_itself_is_refused() {
    let mounts = "\
        22 1 0:21 / /proc rw - proc proc rw\n\
        90 1 0:50 / /srv/chroot/proc rw,relatime shared:1 - proc proc rw\n\
        92 1 0:50 / /srv/with\\040space/sys rw - sysfs sysfs rw\n\
        91 1 8:1 /x /srv/data/disk rw - ext4 /dev/sda1 rw";
    let mounts = MountTable::parse(mounts.as_bytes());
    let found = |path: &str| mounts.kind_beneath(&KERNEL_FILE_SYSTEMS, Path::new(path));
    assert_eq!(found("/srv/chroot"), Some(("proc", Path::new("/srv/chroot/proc"))));
    assert_eq!(found("/srv/with space"), Some(("sysfs", Path::new("/srv/with space/sys"))));
    assert_eq!(found("/srv/data"), None, "an ordinary file system comes along");
    assert_eq!(found("/srv/chroot2"), None);
}
