use super::*;
use crate::intake::{FREE, Intake, Standing};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::timeout;

const MIB: usize = 1 << 20;
const STALL: Duration = Duration::from_secs(30);

fn guarded(capacity: usize, intake: &Arc<Intake>) -> (DuplexStream, Guarded<DuplexStream>, Arc<Meter>) {
    let (client, inner) = duplex(capacity);
    let meter = Arc::new(Meter::default());
    let share = intake.share(Standing::Session);
    (client, Guarded::new(inner, Arc::clone(&meter), share, STALL), meter)
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_left_after_a_while() {
    let (_client, mut stream, _meter) = guarded(1024, &Intake::new(MIB, MIB));
    let started = Instant::now();
    let error = stream.write_all(&[0; 4096]).await.expect_err("nobody reads");
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert!(started.elapsed() >= STALL);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_slowly_is_not() {
    let (mut client, mut stream, _meter) = guarded(1024, &Intake::new(MIB, MIB));
    let reading = tokio::spawn(async move {
        let mut buffer = [0; 512];
        for _ in 0..8 {
            tokio::time::sleep(STALL * 2 / 3).await;
            client.read_exact(&mut buffer).await.expect("something comes");
        }
    });
    stream.write_all(&[0; 4096]).await.expect("it is read, if slowly");
    reading.await.expect("all was read");
}

#[tokio::test(start_paused = true)]
async fn what_a_client_that_does_not_read_sends_is_read_up_to_a_bound_and_on_when_it_reads() {
    let (client, stream, meter) = guarded(64 * 1024, &Intake::new(MIB, MIB));
    meter.whole(Reading::Body);
    let (mut client_reads, mut client_writes) = tokio::io::split(client);
    let (mut reads, mut writes) = tokio::io::split(stream);
    let sending = tokio::spawn(async move {
        for _ in 0..64 {
            client_writes.write_all(&vec![0; 64 * 1024]).await.expect("it is taken at last");
        }
    });
    let writing = tokio::spawn(async move { writes.write_all(&vec![0; 256 * 1024]).await });
    let mut taken = 0;
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count) = timeout(STALL / 2, reads.read(&mut buffer)).await {
        taken += count.expect("it is read");
    }
    assert!((UNREAD_CREDIT..=UNREAD_CREDIT + 128 * 1024).contains(&taken), "{taken}");
    let mut answer = vec![0; 256 * 1024];
    client_reads.read_exact(&mut answer).await.expect("what was written");
    writing.await.expect("no panic").expect("all is written");
    while taken < 64 * 64 * 1024 {
        let count = timeout(STALL, reads.read(&mut buffer)).await.expect("it goes on");
        taken += count.expect("it is read");
    }
    sending.await.expect("all was taken");
}

#[tokio::test]
async fn what_is_not_whole_takes_a_share_and_what_is_whole_gives_it_back() {
    let intake = Intake::new(4 * MIB, MIB);
    let (mut client, mut stream, meter) = guarded(8 * MIB, &intake);
    meter.whole(Reading::Messages);
    let mut buffer = vec![0; MIB];
    for _ in 0..8 {
        client.write_all(&vec![0; MIB]).await.expect("there is room");
        stream.read_exact(&mut buffer).await.expect("each message fits");
        meter.whole(Reading::Messages);
    }
    let mut other = intake.share(Standing::Session);
    other.grow(3 * MIB).expect("there is room");
    client.write_all(&vec![0; 2 * MIB]).await.expect("there is room");
    let mut piece = vec![0; 64 * 1024];
    let refused = async {
        loop {
            if let Err(error) = stream.read_exact(&mut piece).await {
                return error;
            }
        }
    };
    let error = timeout(STALL, refused).await.expect("there is no room for another such message");
    assert_eq!(error.kind(), io::ErrorKind::Other);
    assert!(meter.is_exhausted());
    drop(stream);
    assert_eq!(other.grow(4 * MIB + FREE), Ok(()), "all is given back");
}
