//! From nothing to an interpreter that is ready, and what there is instead.

use crate::scene::{RUNTIME, block_on, engine, evaluate};
use kennel_code::engine::{CodeEngine, NativePythonSettings, StartError};
use kennel_code::pool::{Pool, PoolSettings};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;

pub(crate) fn an_interpreter_is_ready_and_speaks() {
    block_on(async {
        let engine = engine(RUNTIME, NativePythonSettings::default()).await.unwrap();
        assert!(engine.describe().starts_with("Python 3."), "{}", engine.describe());
        let mut interpreter = engine.start().await.unwrap();
        assert!(engine.describe().contains(&interpreter.python));
        assert_eq!(evaluate(&mut interpreter, "[1 + 1, sys.stdin.read()]").await, json!([2, ""]));
        evaluate(&mut interpreter, "[print('out', flush=True), print('err', file=sys.stderr, flush=True)]").await;
        let (mut out, mut err) = ([0; 4], [0; 4]);
        interpreter.stdout.read_exact(&mut out).await.unwrap();
        interpreter.stderr.read_exact(&mut err).await.unwrap();
        assert_eq!((&out, &err), (b"out\n", b"err\n"));
        interpreter.running.destroy().await.unwrap();
    });
}

pub(crate) fn its_box_is_what_code_mode_promises() {
    block_on(async {
        let engine = engine(RUNTIME, NativePythonSettings::default()).await.unwrap();
        let mut interpreter = engine.start().await.unwrap();
        let mut ask = async |code: &str| evaluate(&mut interpreter, code).await;
        assert_eq!(ask("[os.getcwd(), os.getuid() != 0]").await, json!(["/workspace", true]));
        let sizes = "[(lambda s: s.f_blocks * s.f_frsize >> 20)(os.statvfs(place)) for place in \
                     ('/tmp', '/workspace', os.environ['HOME'])]";
        assert_eq!(ask(sizes).await, json!([64, 128, 64]));
        assert_eq!(
            ask("[open(p + '/x', 'w').write('x') for p in ('/tmp', '.', os.environ['HOME'])]").await,
            json!([1, 1, 1])
        );
        assert_eq!(
            ask("[os.access(p, os.W_OK) for p in ('/', '/usr', '/etc', sys.prefix)]").await,
            json!([false, false, false, false])
        );
        assert_eq!(
            ask("os.listdir('/sys/class/net') if os.path.exists('/sys') else open('/proc/net/dev').read().count(':')")
                .await,
            json!(1)
        );
        assert_eq!(ask("__import__('subprocess').run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True, text=True).stdout").await, json!("42\n"));
        let capabilities = "[line.split()[1] for line in open('/proc/self/status') if line.startswith('CapEff')]";
        assert_eq!(ask(capabilities).await, json!(["0000000000000000"]));
        assert_eq!(interpreter.running.walls().isolation, kennel_jail::Isolation::Full);
    });
}

pub(crate) fn one_that_ends_early_says_why() {
    block_on(async {
        let broken = engine(
            "import sys; print('x' * 9000 + ' the reason', file=sys.stderr); sys.exit(3)",
            NativePythonSettings::default(),
        );
        let error = broken.await.unwrap().start().await.unwrap_err();
        let StartError::Ended { stderr, .. } = &error else { panic!("{error}") };
        assert!(error.to_string().contains("exit code 3") && stderr.ends_with("the reason"), "{error}");
        assert!(stderr.len() <= 2000, "{} bytes", stderr.len());
        let error =
            engine("this is no Python", NativePythonSettings::default()).await.unwrap().start().await.unwrap_err();
        assert!(error.to_string().contains("SyntaxError"), "{error}");
    });
}

pub(crate) fn one_that_is_never_ready_is_ended() {
    block_on(async {
        let script = "import sys, time; print('still busy', file=sys.stderr, flush=True); time.sleep(1000)";
        let settings = NativePythonSettings { ready_within: Duration::from_secs(3), ..NativePythonSettings::default() };
        let error = engine(script, settings).await.unwrap().start().await.unwrap_err();
        assert!(matches!(error, StartError::NotReady { .. }), "{error}");
        assert!(error.to_string().contains("3000 ms") && error.to_string().contains("still busy"), "{error}");
    });
}

pub(crate) fn a_pool_of_real_ones_gives_living_ones() {
    block_on(async {
        let engine = engine(RUNTIME, NativePythonSettings::default()).await.unwrap();
        let pool = Pool::new(Arc::new(engine), PoolSettings::default());
        let mut first = pool.start().await.unwrap();
        let second = pool.start().await.unwrap();
        evaluate(&mut first, "globals().update(mine=1)").await;
        assert_eq!(evaluate(&mut first, "mine").await, json!(1));
        second.process.signal(9).unwrap();
        second.process.wait().await;
        let mut third = pool.start().await.unwrap();
        assert_eq!(evaluate(&mut third, "'mine' in globals()").await, json!(false));
    });
}

pub(crate) fn every_python_at_hand_starts() {
    block_on(async {
        let home = std::env::home_dir().unwrap();
        let versions = std::fs::read_dir(home.join(".pyenv/versions")).into_iter().flatten().flatten();
        let own = versions.map(|version| version.path().join("bin/python3"));
        let environment = std::env::var_os("KENNEL_TEST_VENV").map(|path| PathBuf::from(path).join("bin/python"));
        let all = own.chain(environment).chain(["/usr/bin/python3".into()]).filter(|path| path.exists());
        let mut started = 0;
        for path in all {
            let settings = NativePythonSettings { python: Some(path.clone()), ..NativePythonSettings::default() };
            let engine = match engine(RUNTIME, settings).await {
                Ok(engine) => engine,
                Err(error) => {
                    println!("{error}");
                    continue;
                }
            };
            let started_one = engine.start().await;
            let mut interpreter = started_one.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let prefix = evaluate(&mut interpreter, "[sys.prefix, __import__('sqlite3').sqlite_version]").await;
            println!("{} is {} at {prefix}", path.display(), interpreter.python);
            started += 1;
        }
        assert!(started > 0, "no Python was found");
    });
}
