//! What passes over a channel.

use crate::scene::{Scene, block_on, make, python, run, start};
use kennel_box::{BoxSpec, EngineKind};
use serde_json::json;

async fn echoes(mut scene: Scene) {
    let large = "x".repeat(60_000);
    for text in ["one", "", large.as_str(), "quit"] {
        scene.say(text);
        if !text.is_empty() {
            assert_eq!(scene.json().await, json!(text));
        }
    }
    scene.end().await;
}

const ECHO: &str = "
while True:
    text = hear().decode()
    if text: say(text)
    if text == 'quit': break
";

pub(crate) fn packets_pass_in_both_directions() {
    block_on(async { echoes(start(EngineKind::Native, ECHO).await).await });
}

pub(crate) fn without_walls_the_channel_is_there_too() {
    block_on(async { echoes(start(EngineKind::Host, ECHO).await).await });
}

pub(crate) fn the_end_of_either_side_is_seen_by_the_other() {
    block_on(async {
        let scene = start(EngineKind::Native, "say('last'); sys.exit(0)").await;
        assert_eq!(scene.hear().await.unwrap(), b"\"last\"");
        assert_eq!(scene.hear().await, None, "nobody else may hold the inner end");
        scene.end().await;

        let scene = start(EngineKind::Native, "say('here'); sys.exit(0 if hear() == b'' else 1)").await;
        assert!(scene.hear().await.is_some());
        let (_running, process) = scene.hang_up();
        let report = process.handle.wait().await;
        assert!(report.success(), "{report}: nobody else may hold the outer end");
    });
}

pub(crate) fn the_sender_of_a_packet_is_known() {
    block_on(async {
        let script = "
say('own')
child = os.fork()
if child == 0:
    say('child'); os._exit(0)
os.waitpid(child, 0)
say('own again')
";
        let scene = start(EngineKind::Native, script).await;
        let mut heard = Vec::new();
        while let Some((body, sender)) = scene.hear_from().await {
            heard.push((String::from_utf8(body).unwrap(), sender));
        }
        let [(_, own), (_, child), (_, again)] = heard.as_slice() else { panic!("{heard:?}") };
        assert!(own == again && own != child && *own > 0 && *child > 0, "{heard:?}");
        scene.end().await;
    });
}

pub(crate) fn what_cannot_start_is_named() {
    block_on(async {
        let running = make(&BoxSpec::default()).await.unwrap();
        let command = kennel_box::Command { program: "no-such-program".into(), ..python("", true) };
        let Err(error) = running.start(&command).await else { panic!("it cannot start") };
        assert!(error.to_string().contains("no-such-program"), "{error}");

        let few = make(&BoxSpec { fds: Some(1000), ..BoxSpec::default() }).await.unwrap();
        let Err(error) = few.start(&python("", true)).await else { panic!("its channel has no room") };
        assert!(error.to_string().contains("`fds`") && error.to_string().contains("1000"), "{error}");
    });
}

pub(crate) fn without_a_channel_its_descriptor_is_like_any_other() {
    block_on(async {
        let running = make(&BoxSpec::default()).await.unwrap();
        let script = "
import os
try: os.fstat(1000)
except OSError: pass
else: raise SystemExit('there is a channel')
inner, outer = os.pipe()
os.dup2(outer, 1000); os.write(1000, b'x'); os.close(1000)
print(os.read(inner, 1))
";
        let (report, output) = run(&running, script).await;
        assert!(report.success() && output.contains("b'x'"), "{report}: {output}");
    });
}
