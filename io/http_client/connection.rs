//! Connections: TCP, and HTTP/1.1 over any stream.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, ToSocketAddrs};

use crate::response::{OpenResponse, Task};

/// TCP connection to the first address that accepts one, without Nagle's algorithm.
///
/// # Errors
/// When no address accepts a connection.
pub async fn connect(addresses: impl ToSocketAddrs) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(addresses).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Result of `work`, or [`io::ErrorKind::TimedOut`] after `limit`.
///
/// # Errors
/// Those of `work`, and the passed limit.
pub async fn within<T>(
    limit: Duration,
    work: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    let result = tokio::time::timeout(limit, work).await;
    result.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Response to one request over a stream of its own.
///
/// # Errors
/// Without a valid head.
pub async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Bytes>,
) -> Result<OpenResponse, hyper::Error> {
    Connection::over(stream).await?.send(request).await
}

/// HTTP/1.1 connection for consecutive requests.
#[derive(Debug)]
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    task: Arc<Task>,
}

impl Connection {
    /// Connection over a stream.
    ///
    /// # Errors
    /// When the stream is broken.
    pub async fn over(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Result<Self, hyper::Error> {
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        let task = tokio::spawn(async move {
            // Errors of the connection are those of its request.
            let _ = connection.await;
        });
        Ok(Self { sender, task: Arc::new(Task::new(task)) })
    }

    /// Sends a request and reads the head of its response. The length of the body is the only header field
    /// that is added.
    ///
    /// # Errors
    /// Without a valid head.
    pub async fn send(&mut self, request: Request<Bytes>) -> Result<OpenResponse, hyper::Error> {
        self.sender.ready().await?;
        let response = self.sender.send_request(request.map(Full::new)).await?;
        Ok(OpenResponse::new(response, Arc::clone(&self.task)))
    }
}
