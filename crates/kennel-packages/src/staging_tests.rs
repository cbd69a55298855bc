use super::*;

#[test]
fn a_lock_is_taken_once() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("x.lock");
    let lock = take_lock(&path).unwrap().unwrap();
    assert!(take_lock(&path).unwrap().is_none());
    drop(lock);
    assert!(take_lock(&path).unwrap().is_some());
}

#[test]
fn a_new_lock_that_a_sweep_found_first_is_taken_when_it_lets_go() {
    let parent = tempfile::tempdir().unwrap();
    let swept = take_lock(&parent.path().join("new.lock")).unwrap().unwrap();
    std::thread::scope(|scope| {
        let making = scope.spawn(|| Staging::create(parent.path(), "new"));
        std::thread::sleep(Duration::from_millis(100));
        fs::remove_file(parent.path().join("new.lock")).unwrap();
        drop(swept);
        let staging = making.join().unwrap().unwrap();
        assert!(staging.directory().join("tree").is_dir());
        assert!(take_lock(&parent.path().join("new.lock")).unwrap().is_none(), "it is held");
    });
}
