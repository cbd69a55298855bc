//! Places of a box's own.

use crate::scene::{block_on, make, run};
use kennel_box::{BoxSpec, EngineKind, ScratchSpec, Size};

fn spec() -> BoxSpec {
    let place = |path: &str, size| ScratchSpec { path: path.into(), size: Size::mebibytes(size) };
    // The inner one first: the order is the box's affair.
    let scratch = vec![place("/workspace/inner/most", 1), place("/workspace", 4)];
    BoxSpec { scratch, workdir: Some("/workspace".into()), ..BoxSpec::default() }
}

pub(crate) fn own_places_hold_what_they_may_and_no_more() {
    block_on(async {
        let running = make(&spec()).await.unwrap();
        let script = "
import errno, os
def fill(path):
    written = 0
    with open(path, 'wb', buffering=0) as file:
        try:
            while written < 64 << 20: written += file.write(bytes(1 << 16))
        except OSError as error: return errno.errorcode[error.errno], written >> 20
    return 'no limit'
def outcome(path):
    try: open(path, 'w').close()
    except OSError as error: return errno.errorcode[error.errno]
    return 'done'
print(os.getcwd(), os.getuid() != 0)
print(fill('/workspace/file'), fill('/workspace/inner/most/file'))
print([outcome(place + '/file') for place in ('/tmp', os.environ['HOME'], '/', '/usr', '/etc', '/home')])
";
        let (report, output) = run(&running, script).await;
        assert!(report.success(), "{report}: {output}");
        let lines = output.lines().collect::<Vec<_>>();
        assert_eq!(lines[..2], ["/workspace True", "('ENOSPC', 4) ('ENOSPC', 1)"]);
        assert!(lines[2].starts_with("['done', 'done', 'E"), "{}", lines[2]);
        assert_eq!(lines[2].matches("'done'").count(), 2, "{}", lines[2]);
        // Another box has its own.
        let (_, output) = run(&make(&spec()).await.unwrap(), "import os; print(os.listdir('/workspace'))").await;
        assert_eq!(output, "['inner']\n");
    });
}

pub(crate) fn own_places_need_namespaces() {
    block_on(async {
        let spec = BoxSpec { engine: EngineKind::Host, ..spec() };
        let Err(error) = make(&spec).await else { panic!("a box without walls has no places of its own") };
        assert!(error.to_string().contains("`scratch`") && error.to_string().contains("namespaces"), "{error}");
    });
}
