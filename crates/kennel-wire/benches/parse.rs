//! What reading a message costs: `cargo bench -p kennel-wire`. Each line is the best of many rounds, so that two builds
//! can be compared on a machine that has other things to do.

#![expect(clippy::print_stdout, reason = "the numbers are what it is run for")]

use bytes::Bytes;
use kennel_wire::Message;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 400;
const MESSAGES: u32 = 2_000;

fn main() {
    let large = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"write","arguments":{{"text":"{}"}}}}}}"#,
        "a line of text, with a \\\"quotation\\\" in it. ".repeat(400)
    );
    let messages = [
        (
            "call",
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"},"_meta":{"progressToken":7}}}"#,
        ),
        (
            "stateless call",
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"},"_meta":{"progressToken":7,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        ),
        (
            "answer",
            r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"hello"}],"structuredContent":{"a":1},"isError":false}}"#,
        ),
        (
            "unknown names",
            r#"{"jsonrpc":"2.0","id":7,"method":"x/y","params":{"first":1,"secondMember":2,"third_one":3}}"#,
        ),
        ("large call", &large),
    ];
    for (name, text) in messages {
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        let round = || {
            let began = Instant::now();
            for _ in 0..MESSAGES {
                let _ = black_box(Message::parse(black_box(bytes.clone())));
            }
            began.elapsed() / MESSAGES
        };
        let best = (0..ROUNDS).map(|_| round()).min().unwrap_or_default();
        println!("{name:>16}: {} ns ({} bytes)", best.as_nanos(), text.len());
    }
}
