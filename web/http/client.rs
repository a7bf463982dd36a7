//! The other side: asking a server of ours.

use axum::body::Body;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum NoAnswer {
    /// Nobody listens there, or the line broke.
    #[error("no answer from {address}")]
    Line {
        /// Who was asked.
        address: String,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// What came back was not HTTP, or stopped in the middle.
    #[error("the answer from {address} broke off")]
    Http {
        /// Who was asked.
        address: String,
        /// Why.
        #[source]
        cause: hyper::Error,
    },
    /// The request cannot be written.
    #[error("the request to {address} is malformed")]
    Request {
        /// Who was asked.
        address: String,
        /// Why.
        #[source]
        cause: hyper::http::Error,
    },
}

/// An answer, read to its end.
#[derive(Debug)]
pub struct Heard {
    /// How it went.
    pub status: StatusCode,
    /// For how long the server asks to be left alone, s.
    pub retry_after_s: Option<u64>,
    /// What it says.
    pub body: Vec<u8>,
}

/// Longest answer to a [`Client::call`], bytes.
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// A connection that can be asked many things, one after the other.
pub struct Client {
    address: String,
    sender: hyper::client::conn::http1::SendRequest<Body>,
}

impl Client {
    /// Connects over TCP.
    ///
    /// # Errors
    /// [`NoAnswer::Line`] when nobody listens.
    pub async fn tcp(address: &str) -> Result<Self, NoAnswer> {
        let stream = TcpStream::connect(address).await;
        let stream = stream.and_then(|stream| stream.set_nodelay(true).map(|()| stream));
        let stream = stream.map_err(|cause| NoAnswer::Line {
            address: address.to_owned(),
            cause,
        })?;
        Self::over(address.to_owned(), stream).await
    }

    /// Connects to a Unix socket.
    ///
    /// # Errors
    /// [`NoAnswer::Line`] when nobody listens there.
    #[cfg(unix)]
    pub async fn unix(path: &std::path::Path) -> Result<Self, NoAnswer> {
        let address = path.display().to_string();
        match tokio::net::UnixStream::connect(path).await {
            Ok(stream) => Self::over(address, stream).await,
            Err(cause) => Err(NoAnswer::Line { address, cause }),
        }
    }

    /// Speaks HTTP over a stream that is there.
    ///
    /// # Errors
    /// [`NoAnswer::Http`] when the other side does not.
    pub async fn over(
        address: String,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Result<Self, NoAnswer> {
        let shaken = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = shaken.map_err(|cause| NoAnswer::Http {
            address: address.clone(),
            cause,
        })?;
        // Its errors come to light at the next request.
        tokio::spawn(connection);
        Ok(Self { address, sender })
    }

    /// Sends a request, with a JSON body if there is one; the body of the answer is not read yet.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn open(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&serde_json::Value>,
    ) -> Result<Response<Incoming>, NoAnswer> {
        let body = body.map(|body| body.to_string().into_bytes());
        self.post(method, path, "application/json", None, body)
            .await
    }

    /// Sends a request with a JSON body, as whoever `token` is, and reads the whole answer, if it
    /// is of reasonable length.
    ///
    /// # Errors
    /// When no answer comes, or one that does not end.
    pub async fn call(
        &mut self,
        method: Method,
        path: &str,
        token: Option<&str>,
        body: Vec<u8>,
    ) -> Result<Heard, NoAnswer> {
        let asked = self.post(method, path, "application/json", token, Some(body));
        let response = asked.await?;
        let after = response.headers().get(header::RETRY_AFTER);
        let retry_after_s = after.and_then(|after| after.to_str().ok()?.parse().ok());
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect();
        let body = body.await.map_err(|cause| NoAnswer::Line {
            address: self.address.clone(),
            cause: std::io::Error::other(cause),
        })?;
        Ok(Heard {
            status,
            retry_after_s,
            body: body.to_bytes().to_vec(),
        })
    }

    async fn post(
        &mut self,
        method: Method,
        path: &str,
        media: &'static str,
        token: Option<&str>,
        body: Option<Vec<u8>>,
    ) -> Result<Response<Incoming>, NoAnswer> {
        let address = &self.address;
        let broke = |cause| NoAnswer::Http {
            address: address.clone(),
            cause,
        };
        // A path names no host; on a socket of one machine there is only one.
        let host = if address.contains('/') {
            "localhost"
        } else {
            address
        };
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, host);
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, media);
        }
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let body = body.map_or_else(Body::empty, Body::from);
        let request = request.body(body).map_err(|cause| NoAnswer::Request {
            address: address.clone(),
            cause,
        })?;
        self.sender.ready().await.map_err(broke)?;
        self.sender.send_request(request).await.map_err(broke)
    }

    /// Sends a request with a body as it is and reads the whole answer.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn send(
        &mut self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<(StatusCode, Vec<u8>), NoAnswer> {
        let media = "application/octet-stream";
        let response = self.post(method, path, media, None, body).await?;
        self.read(response).await
    }

    async fn read(&self, response: Response<Incoming>) -> Result<(StatusCode, Vec<u8>), NoAnswer> {
        let status = response.status();
        let address = self.address.clone();
        let body = response.into_body().collect().await;
        let body = body.map_err(|cause| NoAnswer::Http { address, cause })?;
        Ok((status, body.to_bytes().to_vec()))
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn ask(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&serde_json::Value>,
    ) -> Result<(StatusCode, Vec<u8>), NoAnswer> {
        let response = self.open(method, path, body).await?;
        self.read(response).await
    }
}
