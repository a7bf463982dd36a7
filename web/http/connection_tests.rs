//! Tests of one connection: its times and its bounds.

use axum::routing::post;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::*;
use crate::Raw;
use crate::admission::{Admission, Bounds, Source};

/// A connection to a server that answers with the length of what it was sent.
fn connect(admission: &Arc<Admission>) -> DuplexStream {
    connect_until(admission, &CancellationToken::new())
}

fn connect_until(admission: &Arc<Admission>, stop: &CancellationToken) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    let length = |Raw(body): Raw| async move { body.len().to_string() };
    let router = Router::new().route("/", post(length)).route("/health", post(length));
    let place = Arc::new(admission.admit(Source::Local).unwrap());
    let stop = stop.clone();
    tokio::spawn(converse(theirs, router, (), place, Timeouts::NETWORK, stop));
    ours
}

fn admission() -> Arc<Admission> {
    Admission::new(Bounds { connections: 2, per_source: 2 })
}

/// Everything that comes until the server closes, and the time it took, s.
async fn until_closed(stream: &mut DuplexStream) -> (String, f64) {
    let began = Instant::now();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    (String::from_utf8(response).unwrap(), began.elapsed().as_secs_f64())
}

#[tokio::test(start_paused = true)]
async fn silent_half_headed_and_idle_connections_are_closed() {
    let admission = admission();
    for (request, answers) in [
        ("", 0),
        ("POST / HTTP/1.1\r\nHost: h\r\n", 0),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab", 1),
    ] {
        let mut stream = connect(&admission);
        stream.write_all(request.as_bytes()).await.unwrap();
        let (response, took_s) = until_closed(&mut stream).await;
        assert_eq!(response.matches("200 OK").count(), answers, "{response}");
        assert!((10.0..10.1).contains(&took_s), "{request:?}: {took_s} s");
        assert!(admission.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stalls_is_answered_with_408_and_a_slow_one_is_taken() {
    let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 20000\r\n\r\n";
    let mut stream = connect(&admission());
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&[b'a'; 512]).await.unwrap();
    let (response, took_s) = until_closed(&mut stream).await;
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
    assert!(
        response.contains("application/problem+json") && response.contains("connection: close")
    );
    // One second for the 512 bytes that came.
    assert!((21.0..21.1).contains(&took_s), "{took_s} s");
    let mut stream = connect(&admission());
    stream.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..40 {
        tokio::time::sleep(Duration::from_millis(900)).await;
        stream.write_all(&[b'a'; 500]).await.unwrap();
    }
    let (response, _) = until_closed(&mut stream).await;
    assert!(response.ends_with("20000"), "{response}");
}

#[tokio::test(start_paused = true)]
async fn a_head_of_more_than_16_kib_is_refused() {
    for (length, status) in [(15 << 10, "200"), (17 << 10, "431")] {
        let mut stream = connect(&admission());
        let head =
            format!("POST / HTTP/1.1\r\nX: {}\r\nContent-Length: 0\r\n\r\n", "x".repeat(length));
        stream.write_all(head.as_bytes()).await.unwrap();
        let (response, _) = until_closed(&mut stream).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
    }
}

#[tokio::test(start_paused = true)]
async fn stop_answers_requests_in_flight_and_closes_silent_connections() {
    let (admission, stop) = (admission(), CancellationToken::new());
    let mut silent = connect_until(&admission, &stop);
    let mut sending = connect_until(&admission, &stop);
    let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\na";
    sending.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    stop.cancel();
    let (response, took_s) = until_closed(&mut silent).await;
    assert!(response.is_empty() && took_s < 0.1, "{took_s} s");
    sending.write_all(b"b").await.unwrap();
    let (response, _) = until_closed(&mut sending).await;
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_longer_than_the_buffers_reaches_a_slow_reader_after_the_stop() {
    const BODY_BYTES: usize = 700_000;
    let (admission, stop) = (admission(), CancellationToken::new());
    let (mut ours, theirs) = tokio::io::duplex(8 << 10);
    // The handler stops the server, as that of a request to stop does.
    let stopping = stop.clone();
    let end = || async move {
        stopping.cancel();
        "a".repeat(BODY_BYTES)
    };
    let router = Router::new().route("/", post(end));
    let place = Arc::new(admission.admit(Source::Local).unwrap());
    let stopped = stop.clone();
    let served = converse(theirs, router, (), place, Timeouts::NETWORK, stopped);
    let served = tokio::spawn(served);
    let request = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n";
    ours.write_all(request).await.unwrap();
    let (mut answer, mut piece) = (Vec::new(), [0; 4 << 10]);
    while let Ok(count @ 1..) = ours.read(&mut piece).await {
        answer.extend_from_slice(&piece[..count]);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("content-length: {BODY_BYTES}")), "{head}");
    assert_eq!(body.len(), BODY_BYTES);
    served.await.unwrap();
    assert!(admission.is_empty());
}

#[tokio::test(start_paused = true)]
async fn malformed_request_gives_a_problem() {
    let long = format!("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", "x".repeat(70_000));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(101));
    for (request, status) in [("GARBAGE\r\n\r\n", 400), (&many, 431), (&long, 431)] {
        let mut stream = connect(&admission());
        let _ = stream.write_all(request.as_bytes()).await;
        let (response, _) = until_closed(&mut stream).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("content-type: application/problem+json"), "{head}");
        assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
        let problem: Problem = serde_json::from_str(body).unwrap();
        assert_eq!(problem.status, status);
    }
}

#[tokio::test(start_paused = true)]
async fn the_reserve_answers_health_alone() {
    let admission = admission();
    let request =
        |path: &str| format!("POST {path} HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na");
    // Streams that never end hold all places.
    let busy = [(); 2].map(|()| admission.admit(Source::Local).unwrap());
    busy.iter().for_each(Place::becomes_busy);
    let mut stream = connect(&admission);
    stream.write_all(request("/").as_bytes()).await.unwrap();
    let (response, took_s) = until_closed(&mut stream).await;
    assert!(
        response.starts_with("HTTP/1.1 503 ") && response.contains("retry-after: 5"),
        "{response}"
    );
    assert!(took_s < 1.0);
    let mut stream = connect(&admission);
    stream.write_all(request("/health").as_bytes()).await.unwrap();
    let (response, _) = until_closed(&mut stream).await;
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
}
