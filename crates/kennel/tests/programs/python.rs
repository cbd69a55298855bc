//! Python: of the system, of pyenv, of virtualenvs, and the parts of it that ask most of a box.

use crate::support::caller::{callers, myself};
use crate::support::ground::Ground;
use crate::support::programs::material;
use crate::support::running::run;
use crate::{as_at_home, on_path};
use std::path::Path;
use std::process::Command;

const SYSTEM_PYTHON: &str = "/usr/bin/python3";

/// Runs a script with the system's Python as everyone and expects the same output of all.
#[track_caller]
fn prints(script: &str, expected: &str) {
    for caller in callers() {
        let ground = Ground::new(caller);
        assert_eq!(run(ground.exec(&[], &[SYSTEM_PYTHON, "-c", script])).fine(), expected, "{caller:?}");
    }
}

#[test]
fn the_python_on_path_runs() {
    let ground = Ground::new(myself());
    let python = on_path("python3").expect("the tests need python3");
    let outside = Command::new(&python).args(["-c", "import sys; print(sys.version)"]).output().unwrap();
    let script = "import sys, json, hashlib, decimal, ctypes; print(sys.version)";
    let ran = run(as_at_home(&ground, &[], &["python3", "-c", script]));
    assert_eq!(ran.fine(), String::from_utf8(outside.stdout).unwrap(), "{}", python.display());
}

#[test]
fn the_python_of_the_system_runs() {
    prints("print(6 * 7)", "42\n");
}

#[test]
fn a_script_in_a_granted_directory_runs() {
    for caller in callers() {
        let ground = Ground::new(caller);
        ground.make_file("work/module.py", "VALUE = 42\n", 0o644);
        ground.make_file("work/script.py", "#!/usr/bin/env python3\nimport module\nprint(module.VALUE)\n", 0o755);
        assert_eq!(run(ground.exec(&["--read", "."], &["python3", "script.py"])).fine(), "42\n", "{caller:?}");
        assert_eq!(run(ground.exec(&["--read", "."], &["./script.py"])).fine(), "42\n", "{caller:?}");
    }
}

#[test]
fn a_virtualenv_and_its_scripts_run() {
    let venv = material("KENNEL_TEST_VENV");
    let ground = Ground::new(myself());
    let venv = venv.to_str().unwrap();
    let (python, cowsay) = (format!("{venv}/bin/python"), format!("{venv}/bin/cowsay"));
    let script = "import sys, cowsay; print(sys.prefix)";
    let ran = run(as_at_home(&ground, &["--read", venv], &[&python, "-c", script]));
    assert_eq!(ran.fine(), format!("{venv}\n"));
    assert!(run(as_at_home(&ground, &["--read", venv], &[&cowsay, "-t", "moo"])).fine().contains("| moo |"));
    // On PATH it needs no grant.
    let mut activated = as_at_home(&ground, &[], &["cowsay", "-t", "moo"]);
    activated.env("PATH", format!("{venv}/bin:/usr/bin:/bin"));
    assert!(run(activated).fine().contains("| moo |"));
}

#[test]
fn a_virtualenv_whose_python_is_a_link_under_a_home_runs() {
    let ground = Ground::new(myself());
    // pyenv's shim is a script; the interpreter itself says where it is.
    let python = on_path("python3").expect("the tests need python3");
    let real = Command::new(&python).args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    let real = String::from_utf8(real.stdout).unwrap();
    let made = Command::new(real.trim()).args(["-m", "venv", "--without-pip"]).arg(ground.path("work/venv")).status();
    assert!(made.unwrap().success());
    let venv = ground.text("work/venv");
    let script = "import sys, sqlite3; print(sys.prefix)";
    for python in [format!("{venv}/bin/python"), "venv/bin/python".to_owned()] {
        let ran = run(as_at_home(&ground, &["--read", "."], &[&python, "-c", script]));
        assert_eq!(ran.fine(), format!("{venv}\n"), "{python}");
    }
    for path in [format!("{venv}/bin:/usr/bin:/bin"), format!("{venv}/bin")] {
        let mut activated = as_at_home(&ground, &[], &["python", "-c", script]);
        activated.env("PATH", path);
        assert_eq!(run(activated).fine(), format!("{venv}\n"));
    }
}

#[test]
fn processes_and_shared_memory_work() {
    let script = "import multiprocessing as m
from multiprocessing import shared_memory
if __name__ == '__main__':
    with m.Pool(3) as pool: print(sum(pool.map(abs, range(-100, 0))))
    s = shared_memory.SharedMemory(create=True, size=1000); s.buf[0] = 7; print(s.buf[0]); s.close(); s.unlink()
    q = m.Queue(); q.put('queued'); print(q.get())";
    prints(script, "5050\n7\nqueued\n");
}

#[test]
fn many_threads_work() {
    let script = "import threading
done = []
threads = [threading.Thread(target=lambda: done.append(1)) for _ in range(50)]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(done))";
    prints(script, "50\n");
}

#[test]
fn asynchronous_subprocesses_work() {
    let script = "import asyncio
async def main():
    p = await asyncio.create_subprocess_exec('cat', stdin=-1, stdout=-1)
    out, _ = await p.communicate(b'through a pipe')
    print(out.decode(), p.returncode)
asyncio.run(main())";
    prints(script, "through a pipe 0\n");
}

#[test]
fn databases_work_in_a_granted_directory() {
    for caller in callers() {
        let ground = Ground::new(caller);
        let script = "import sqlite3
c = sqlite3.connect('data.db'); c.execute('pragma journal_mode=wal')
c.execute('create table t (x)'); c.execute('insert into t values (42)'); c.commit()
print(c.execute('select x from t').fetchone()[0])";
        let ran = run(ground.exec(&["--write", "."], &[SYSTEM_PYTHON, "-c", script]));
        assert_eq!(ran.fine(), "42\n", "{caller:?}");
        assert!(ground.path("work/data.db").exists());
    }
}

#[test]
fn certificates_names_languages_and_time_zones_are_there() {
    if Path::new("/etc/ssl/certs/ca-certificates.crt").exists() {
        prints("import ssl; print(ssl.create_default_context().cert_store_stats()['x509_ca'] > 50)", "True\n");
    }
    prints("import pwd, os; print(pwd.getpwuid(os.getuid()).pw_name)", "kennel\n");
    prints("import socket; print(socket.gethostbyname('localhost'))", "127.0.0.1\n");
    prints(
        "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.getpreferredencoding(), 'ü€')",
        "UTF-8 ü€\n",
    );
    let script = "import zoneinfo, datetime as d
print(d.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Berlin')).utcoffset())";
    prints(script, "2:00:00\n");
    let ground = Ground::new(myself());
    let mut command = ground.exec(&[], &["date", "-d", "2026-01-01T12:00Z", "+%H %Z"]);
    command.env("TZ", "America/New_York");
    assert_eq!(run(command).fine(), "07 EST\n");
}

#[test]
fn randomness_and_temporary_files_are_there() {
    let script = "import os, secrets, tempfile, uuid
print(len(os.urandom(8)) + len(secrets.token_bytes(8)), len(str(uuid.uuid4())))
with tempfile.NamedTemporaryFile() as f: f.write(b'x'); print(os.path.dirname(f.name))
print(os.path.expanduser('~'))";
    prints(script, "16 36\n/tmp\n/home/kennel\n");
}
