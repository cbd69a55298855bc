use super::*;

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>();
    names.sort();
    names
}

#[test]
fn a_sweep_takes_what_belongs_to_nobody_and_nothing_else() {
    let parent = tempfile::tempdir().unwrap();
    let alive = Staging::create(parent.path(), "alive").unwrap();
    // As a killed process leaves it: the files are there, the lock is free.
    let hard = parent.path().join("dead/tree/hard");
    fs::create_dir_all(&hard).unwrap();
    fs::write(hard.join("x"), "").unwrap();
    fs::set_permissions(&hard, fs::Permissions::from_mode(0o000)).unwrap();
    fs::write(parent.path().join("dead.lock"), "").unwrap();
    sweep(parent.path()).unwrap();
    assert_eq!(names(parent.path()), ["alive", "alive.lock"]);
    drop(alive);
    assert_eq!(names(parent.path()), [""; 0]);
}

#[test]
fn a_lock_is_taken_once() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("x.lock");
    let lock = take_lock(&path).unwrap().unwrap();
    assert!(take_lock(&path).unwrap().is_none());
    drop(lock);
    assert!(take_lock(&path).unwrap().is_some());
}
