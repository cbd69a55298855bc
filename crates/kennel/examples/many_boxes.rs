//! A small Kennel that holds many boxes, for the tests of what is left when it is killed.
//!
//! `many_boxes COUNT MARK` fills so many boxes with processes that try to get away, prints `ready` and waits to be
//! killed; each process has the mark on its command line. `many_boxes --end-leftovers` ends what an earlier one left.

use kennel_box::{BoxSpec, Command, Engine, EngineKind, HostView, MountRules, NativeEngine, Profile};
use std::error::Error;
use std::future::pending;

fn main() -> Result<(), Box<dyn Error>> {
    kennel_jail::run_if_helper();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // By its path rather than `/proc/self/exe`, so that the tests find the helper by its command line.
    let engine = NativeEngine::new(EngineKind::Native, std::env::current_exe()?);
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--end-leftovers"] => {
            println!("{}", runtime.block_on(engine.end_leftovers())?);
            Ok(())
        }
        [count, mark] => runtime.block_on(hold(&engine, count.parse()?, mark)),
        _ => Err("usage: many_boxes COUNT MARK | --end-leftovers".into()),
    }
}

async fn hold(engine: &NativeEngine, count: usize, mark: &str) -> Result<(), Box<dyn Error>> {
    let host = HostView::current();
    let spec = BoxSpec { profile: Profile::Offline, ..BoxSpec::default() };
    let plan = spec.plan(&host, &MountRules::for_user(&host.home), &[])?;
    let command = Command { program: "sh".into(), args: vec!["-c".into(), script(mark).into()], ..Command::default() };
    let mut held = Vec::new();
    for _ in 0..count {
        let made = engine.create(&plan).await?;
        let process = made.start(&command).await?;
        held.push((made, process));
    }
    println!("ready");
    pending::<()>().await;
    drop(held);
    Ok(())
}

/// Grandchildren in sessions of their own, one of them with children that it does not wait for.
fn script(mark: &str) -> String {
    format!(
        "(setsid sleep 1000{mark} &); (setsid sh -c 'sleep 1001{mark} & trap \"\" TERM HUP INT; sleep 1002{mark}' &); \
         sleep 1003{mark}"
    )
}
