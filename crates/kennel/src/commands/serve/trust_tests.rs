use super::*;
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;

fn users() -> Users {
    Users {
        own: 1000,
        is_in_user_namespace: false,
        accounts: "root:x:0:0::/:\nada:x:1000:1000::/home/ada:\nbob:x:1001:1001::/home/bob:\neve:x:1002:50::/:".into(),
        groups: "ada:x:1000:\nbob:x:1001:ada,bob\nteam:x:60:ada\nstaff:x:50:\n".into(),
    }
}

#[test]
fn a_group_is_private_if_nobody_else_is_in_it() {
    for (group, is_private) in [(0, true), (1000, true), (60, true), (1001, false), (50, false), (77, false)] {
        assert_eq!(users().is_private_group(group), is_private, "{group}");
    }
}

#[test]
fn what_others_can_write_is_found_on_the_whole_way() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path().canonicalize().unwrap();
    std::fs::create_dir(base.join("deep")).unwrap();
    let file = base.join("deep/kennel.toml");
    std::fs::write(&file, "").unwrap();
    let mode = |path: &Path, mode| set_permissions(path, Permissions::from_mode(mode)).unwrap();
    mode(&file, 0o644);
    assert_eq!(writable_by_others(&file), None);
    mode(&file, 0o646);
    assert_eq!(writable_by_others(&file), Some(file.clone()));
    mode(&file, 0o644);
    mode(&base, 0o777);
    assert_eq!(writable_by_others(&file), Some(base.clone()));
    mode(&base, 0o1777);
    assert_eq!(writable_by_others(&file), None, "nobody can replace another's file in such a directory");
    mode(&base, 0o700);
}
