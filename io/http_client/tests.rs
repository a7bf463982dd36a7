//! Requests over pipes in memory.

use std::io;
use std::time::Duration;

use hyper::Request;
use hyper::body::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::{BodyError, Connection, OpenResponse, within};

const RESPONSE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nlonger";

fn request() -> Request<Bytes> {
    Request::get("/").header("host", "a").body(Bytes::new()).unwrap()
}

/// Reads the head of a request.
async fn head(server: &mut DuplexStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(server.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

/// Sends a request that the server answers with these bytes: its head, the response.
async fn exchange(
    (connection, server): (&mut Connection, &mut DuplexStream),
    answer: &[u8],
) -> (String, OpenResponse) {
    let reply = async {
        let head = head(server).await;
        server.write_all(answer).await.unwrap();
        head
    };
    let (head, response) = tokio::join!(reply, connection.send(request()));
    (head, response.unwrap())
}

/// Connection, the other end of its stream.
async fn pair() -> (Connection, DuplexStream) {
    let (client, server) = duplex(4096);
    (Connection::over(client).await.unwrap(), server)
}

#[tokio::test(flavor = "current_thread")]
async fn consecutive_requests_use_one_connection() {
    let (mut connection, mut server) = pair().await;
    for _ in 0..2 {
        let ends = (&mut connection, &mut server);
        let (head, response) = exchange(ends, RESPONSE.as_bytes()).await;
        assert_eq!(head, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
        assert_eq!(&response.whole(6).await.unwrap()[..], b"longer");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn longer_body_gives_an_error() {
    let (mut connection, mut server) = pair().await;
    let (_, response) = exchange((&mut connection, &mut server), RESPONSE.as_bytes()).await;
    let error = response.whole(5).await.unwrap_err();
    assert!(matches!(error, BodyError::TooLong { limit_bytes: 5 }), "{error}");
}

#[tokio::test(flavor = "current_thread")]
async fn dropped_response_of_a_dropped_connection_closes_the_stream() {
    let (mut connection, mut server) = pair().await;
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\nlonger";
    let (_, mut response) = exchange((&mut connection, &mut server), answer).await;
    drop(connection);
    assert_eq!(response.next().await.unwrap().unwrap(), "longer");
    server.write_all(b"more").await.unwrap();
    assert_eq!(response.next().await.unwrap().unwrap(), "more");
    drop(response);
    assert_eq!(server.read(&mut [0; 8]).await.unwrap(), 0);
}

#[tokio::test(flavor = "current_thread")]
async fn passed_limit_gives_a_time_out() {
    let never = std::future::pending::<io::Result<()>>();
    let error = within(Duration::from_millis(1), never).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}
