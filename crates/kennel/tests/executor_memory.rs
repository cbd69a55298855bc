//! Back-pressure with real pipes: alone in its process, because it looks at the memory of the whole process.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

use kennel_box::{BoxSpec, Command, EngineKind, HostView, MountRules, NativeEngine};
use kennel_exec::{EventKind, Executor, Limits, ProcessId, Seq, SessionId, StartRequest, Stop};
use std::sync::Arc;
use std::time::Duration;

const TOTAL: u64 = 1 << 30;
const MOST_MEMORY_KIB: u64 = 64 << 10;

fn peak_memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn a_gibibyte_with_a_slow_reader_stays_small() {
    let engine = NativeEngine::new(EngineKind::Native, env!("CARGO_BIN_EXE_kennel").into());
    let executor = Executor::new(Arc::new(engine), Limits::default()).unwrap();
    let attachment = executor.open(SessionId::new("memory")).unwrap();
    let host = HostView::current();
    let plan = BoxSpec::default().plan(&host, &MountRules::for_user(&host.home), &[]).unwrap();
    let words = ["-c".into(), TOTAL.to_string().into(), "/dev/zero".into()];
    let command = Command { program: "head".into(), args: words.to_vec(), ..Command::default() };
    let id = ProcessId::new("flood");
    attachment.start(id.clone(), StartRequest { plan: Arc::new(plan), command }).await.unwrap();
    let mut events = attachment.subscribe(&id, Seq::START).unwrap();
    let (mut received, mut pauses) = (0, 0);
    while let Some(event) = events.next().await.unwrap() {
        match event.kind {
            EventKind::Output { bytes, .. } => {
                let before = received >> 26;
                received += bytes.len() as u64;
                // Long enough that an unbounded buffer would swallow all the rest.
                if received >> 26 > before {
                    pauses += 1;
                    tokio::time::sleep(Duration::from_millis(150)).await;
                }
            }
            EventKind::Exited { report } => assert!(report.success(), "{report}"),
            EventKind::Closed => break,
        }
    }
    assert_eq!((received, pauses), (TOTAL, 16));
    let peak = peak_memory_kib();
    assert!(peak < MOST_MEMORY_KIB, "{peak} KiB at the peak");
    println!("1 GiB through a slow reader: {peak} KiB at the peak");
    executor.shutdown(Stop::Now).await;
}
