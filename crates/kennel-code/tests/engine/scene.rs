//! A small Python side of the tests' own, and interpreters that run it.

use kennel_box::{Engine, EngineKind, HostView, NativeEngine};
use kennel_code::channel::Token;
use kennel_code::engine::{Interpreter, NativePython, NativePythonSettings, Source, StartError};
use serde_json::Value;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Long enough for any answer on any machine.
const PATIENCE: Duration = Duration::from_mins(2);

const BOOT: &str = "import sys; exec(compile(sys.stdin.buffer.read(), '<boot>', 'exec'))";

/// Answers hello with ready, and each other message with what it evaluates to.
pub(crate) const RUNTIME: &str = "
import json, os, socket, struct, sys
channel = socket.socket(fileno=int(sys.argv[1]))
number = 0
while True:
    packet = channel.recvmsg(70000)[0]
    if not packet: break
    message = json.loads(packet[24:])
    if message['t'] == 'hello':
        answer = {'t': 'ready', 'python': '%d.%d.%d' % sys.version_info[:3], 'pid': os.getpid(), 'hello': message}
    else:
        answer = {'t': 'value', 'value': eval(message['code'])}
    channel.sendmsg([packet[:16], struct.pack('<II', number, 0), json.dumps(answer).encode()])
    number += 1
";

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, work).await.expect("it takes too long") })
}

pub(crate) async fn engine(runtime: &str, settings: NativePythonSettings) -> Result<NativePython, StartError> {
    let native = NativeEngine::new(EngineKind::Native, std::env::current_exe().unwrap());
    let source = Source { boot: BOOT.into(), runtime: runtime.into() };
    NativePython::new(Arc::new(native) as Arc<dyn Engine>, source, &HostView::current(), settings).await
}

/// What an expression is in an interpreter.
pub(crate) async fn evaluate(interpreter: &mut Interpreter, code: &str) -> Value {
    let token = Token::random().unwrap();
    interpreter.channel.known.admit(token);
    let message = serde_json::json!({"t": "eval", "code": code}).to_string();
    interpreter.channel.sender.send(token, message.as_bytes()).await.unwrap();
    let answer = interpreter.channel.receiver.next().await.unwrap();
    assert_eq!(answer.token, token);
    serde_json::from_slice::<Value>(&answer.body).unwrap()["value"].take()
}
