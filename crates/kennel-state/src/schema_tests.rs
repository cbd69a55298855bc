use super::*;
use sha2::{Digest, Sha256};

/// The tables and indexes of a file, as it says them itself.
fn tables(connection: &Connection) -> Vec<String> {
    let mut statement =
        connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn steps_lead_to_the_same_tables_from_every_version() {
    let mut fresh = Connection::open_in_memory().unwrap();
    update(&mut fresh).unwrap();
    assert_eq!(version(&fresh).unwrap(), i64::try_from(LATEST).unwrap());
    for before in 0..STEPS.len() {
        let mut old = Connection::open_in_memory().unwrap();
        update_to(&mut old, &STEPS[..before]).unwrap();
        assert_eq!(version(&old).unwrap(), i64::try_from(before).unwrap());
        update(&mut old).unwrap();
        update(&mut old).unwrap();
        assert_eq!(tables(&old), tables(&fresh));
        assert_eq!(version(&old).unwrap(), version(&fresh).unwrap());
    }
}

#[test]
fn a_step_that_fails_leaves_nothing_of_itself() {
    let mut connection = Connection::open_in_memory().unwrap();
    update_to(&mut connection, &STEPS[..1]).unwrap();
    let before = tables(&connection);
    update_to(&mut connection, &[STEPS[0], STEPS[1], "CREATE TABLE more (x) STRICT; nonsense"]).unwrap_err();
    assert_eq!(tables(&connection), before);
    assert_eq!(version(&connection).unwrap(), 1);
}

#[test]
fn tools_that_were_saved_before_views_counted_stay_where_all_servers_are() {
    let mut old = Connection::open_in_memory().unwrap();
    update_to(&mut old, &STEPS[..3]).unwrap();
    old.execute("INSERT INTO saved_tools VALUES ('ann', 'f', 'what for', 'def f(): pass', 7)", []).unwrap();
    update(&mut old).unwrap();
    let in_view = |view| crate::saved::all(&old, "ann", Some(view)).unwrap();
    let [tool] = &in_view("")[..] else { panic!("{:?}", in_view("")) };
    assert_eq!((tool.name.as_str(), tool.source.as_str()), ("f", "def f(): pass"));
    assert_eq!(in_view("v"), []);
}

/// Files have been through these steps, so they stay as they are: add a step instead.
#[test]
fn released_steps_are_not_changed() {
    let prints: Vec<_> = STEPS.iter().map(|step| crate::sessions::hexadecimal(&Sha256::digest(step)[..4])).collect();
    assert_eq!(prints, ["39d4a357", "335cba99", "1b22f841", "2086f5bb", "ecc7aa62"]);
}
