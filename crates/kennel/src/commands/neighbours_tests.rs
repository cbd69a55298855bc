use super::*;

fn understood(line: &str) -> Option<Neighbour> {
    let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
    let variables = BTreeMap::from([("HOME".into(), "/home/ada".into()), ("KENNEL_SOCKET".into(), "/s/k.sock".into())]);
    Said { words: &words, directory: Path::new("/work"), variables: &variables }.understood(7, "/bin/kennel".into())
}

#[test]
fn a_command_line_says_where_a_kennel_keeps_its_things() {
    let usual = understood("kennel serve").unwrap();
    assert_eq!(usual.config, Some("/home/ada/.config/kennel/kennel.toml".into()));
    assert_eq!(usual.data, Some("/home/ada/.local/share/kennel".into()));
    assert_eq!(usual.socket, Some("/s/k.sock".into()));
    let named = understood("kennel serve -cown.toml --data=d --socket /x/y.sock").unwrap();
    assert_eq!(named.config, Some("/work/own.toml".into()));
    assert_eq!(named.data, Some("/work/d".into()));
    assert_eq!(named.socket, Some("/x/y.sock".into()));
}

#[test]
fn what_it_lets_boxes_write_is_read_up_to_the_command_of_the_server() {
    let run = understood("kennel run --write out --write=/srv/a:/b -- tool --write no").unwrap();
    assert_eq!(run.writes, [PathBuf::from("/work/out"), "/srv/a".into()]);
    assert_eq!(run.config, None);
    assert_eq!(understood("kennel ps"), None);
    assert_eq!(understood("kennel"), None);
}
