use super::*;
use tokio::io::AsyncReadExt;

#[tokio::test]
async fn each_output_has_its_lines_and_no_secrets() {
    let ((stdout, mut heard), (stderr, mut told)) = (tokio::io::duplex(1000), tokio::io::duplex(1000));
    let (output, writers) = Output::new(stdout, stderr, Redactor::new(["Bearer hush-hush", "hush-hush"]));
    output.say("it said `Bearer hush-hush` and hush-hush\r\n\u{1b}[31mred");
    output.message(Bytes::from_static(b"{\"a\":\n1}")).await;
    drop(output);
    writers.finish(Duration::from_secs(20)).await;
    let (mut messages, mut remarks) = (String::new(), String::new());
    heard.read_to_string(&mut messages).await.expect("text");
    told.read_to_string(&mut remarks).await.expect("text");
    assert_eq!(messages, "{\"a\": 1}\n");
    assert_eq!(remarks, "it said `[redacted]` and [redacted]   [31mred\n");
}
