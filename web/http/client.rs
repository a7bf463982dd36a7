//! HTTP client of the project's own servers.

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::http::request::Builder;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Error of a request.
#[derive(Debug, Error)]
pub enum RequestError {
    /// Connection refused or broken.
    #[error("no answer from {address}")]
    Connection {
        /// Address of the server.
        address: String,
        /// Cause.
        #[source]
        cause: std::io::Error,
    },
    /// Invalid or incomplete HTTP response.
    #[error("the answer from {address} broke off")]
    Http {
        /// Address of the server.
        address: String,
        /// Cause.
        #[source]
        cause: hyper::Error,
    },
    /// Malformed request.
    #[error("the request to {address} is malformed")]
    Request {
        /// Address of the server.
        address: String,
        /// Cause.
        #[source]
        cause: hyper::http::Error,
    },
}

/// Response with its body.
#[derive(Debug)]
pub struct HttpResponse {
    /// Status.
    pub status: StatusCode,
    /// `Retry-After`, s.
    pub retry_after_s: Option<u64>,
    /// Body.
    pub body: Vec<u8>,
}

/// Longest response to [`Client::call`], bytes.
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// HTTP/1.1 connection for consecutive requests.
pub struct Client {
    address: String,
    sender: hyper::client::conn::http1::SendRequest<Body>,
}

impl Client {
    /// Connects over TCP.
    ///
    /// # Errors
    /// [`RequestError::Connection`] when the connection fails.
    pub async fn tcp(address: &str) -> Result<Self, RequestError> {
        let stream = TcpStream::connect(address).await;
        let stream = stream
            .and_then(|stream| stream.set_nodelay(true).map(|()| stream))
            .map_err(|cause| RequestError::Connection { address: address.to_owned(), cause })?;
        Self::over(address.to_owned(), stream).await
    }

    /// Connects to a Unix socket.
    ///
    /// # Errors
    /// [`RequestError::Connection`] when the connection fails.
    #[cfg(unix)]
    pub async fn unix(path: &std::path::Path) -> Result<Self, RequestError> {
        let address = path.display().to_string();
        match tokio::net::UnixStream::connect(path).await {
            Ok(stream) => Self::over(address, stream).await,
            Err(cause) => Err(RequestError::Connection { address, cause }),
        }
    }

    /// HTTP over a connected stream.
    ///
    /// # Errors
    /// [`RequestError::Http`] when the handshake fails.
    pub async fn over(
        address: String,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Result<Self, RequestError> {
        let shaken = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) =
            shaken.map_err(|cause| RequestError::Http { address: address.clone(), cause })?;
        // Errors of the connection are reported by the next request.
        tokio::spawn(connection);
        Ok(Self { address, sender })
    }

    /// Sends a request, with a JSON body if there is one; the body of the answer is not read yet.
    ///
    /// # Errors
    /// Without a response.
    pub async fn open(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&serde_json::Value>,
    ) -> Result<Response<Incoming>, RequestError> {
        let body = body.map(|body| body.to_string().into_bytes());
        self.post(method, path, "application/json", None, body).await
    }

    /// Sends a request with a JSON body, as whoever `token` is, and reads the whole answer, if it
    /// is of reasonable length.
    ///
    /// # Errors
    /// Without a complete response.
    pub async fn call(
        &mut self,
        method: Method,
        path: &str,
        token: Option<&str>,
        body: Vec<u8>,
    ) -> Result<HttpResponse, RequestError> {
        let asked = self.post(method, path, "application/json", token, Some(body));
        let response = asked.await?;
        self.whole(response).await
    }

    /// Reads a range of bytes, as whoever `token` is.
    ///
    /// # Errors
    /// Without a complete response.
    pub async fn range(
        &mut self,
        path: &str,
        token: Option<&str>,
        range: std::ops::Range<u64>,
    ) -> Result<HttpResponse, RequestError> {
        let mut request = self.request(Method::GET, path, token);
        let last = range.end.saturating_sub(1);
        request = request.header(header::RANGE, format!("bytes={}-{last}", range.start));
        let response = self.dispatch(request, Body::empty()).await?;
        self.whole(response).await
    }

    /// The whole answer, if it is of reasonable length.
    async fn whole(&self, response: Response<Incoming>) -> Result<HttpResponse, RequestError> {
        let after = response.headers().get(header::RETRY_AFTER);
        let retry_after_s = after.and_then(|after| after.to_str().ok()?.parse().ok());
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect();
        let body = body.await.map_err(|cause| RequestError::Connection {
            address: self.address.clone(),
            cause: std::io::Error::other(cause),
        })?;
        Ok(HttpResponse { status, retry_after_s, body: body.to_bytes().to_vec() })
    }

    async fn post(
        &mut self,
        method: Method,
        path: &str,
        media: &'static str,
        token: Option<&str>,
        body: Option<Vec<u8>>,
    ) -> Result<Response<Incoming>, RequestError> {
        let mut request = self.request(method, path, token);
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, media);
        }
        let body = body.map_or_else(Body::empty, Body::from);
        self.dispatch(request, body).await
    }

    fn request(&self, method: Method, path: &str, token: Option<&str>) -> Builder {
        let address = &self.address;
        // A path names no host; on a socket of one machine there is only one.
        let host = if address.contains('/') { "localhost" } else { address };
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, host);
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        request
    }

    async fn dispatch(
        &mut self,
        request: Builder,
        body: Body,
    ) -> Result<Response<Incoming>, RequestError> {
        let address = &self.address;
        let broke = |cause| RequestError::Http { address: address.clone(), cause };
        let request = request
            .body(body)
            .map_err(|cause| RequestError::Request { address: address.clone(), cause })?;
        self.sender.ready().await.map_err(broke)?;
        self.sender.send_request(request).await.map_err(broke)
    }

    /// Sends a request with a body as it is and reads the whole answer.
    ///
    /// # Errors
    /// Without a response.
    pub async fn send(
        &mut self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<(StatusCode, Vec<u8>), RequestError> {
        let media = "application/octet-stream";
        let response = self.post(method, path, media, None, body).await?;
        self.read(response).await
    }

    /// Sends a request with a body of this media type as it is; the whole answer is read if it has at
    /// most `bytes_max` bytes.
    ///
    /// # Errors
    /// Without a complete response of that length.
    pub async fn pass(
        &mut self,
        method: Method,
        path: &str,
        (media, body): (Option<HeaderValue>, Bytes),
        bytes_max: usize,
    ) -> Result<Response<Bytes>, RequestError> {
        let mut request = self.request(method, path, None);
        if let Some(media) = media {
            request = request.header(header::CONTENT_TYPE, media);
        }
        let response = self.dispatch(request, Body::from(body)).await?;
        let (head, body) = response.into_parts();
        let read = Limited::new(body, bytes_max).collect().await;
        let body = read.map_err(|cause| RequestError::Connection {
            address: self.address.clone(),
            cause: std::io::Error::other(cause),
        })?;
        Ok(Response::from_parts(head, body.to_bytes()))
    }

    async fn read(
        &self,
        response: Response<Incoming>,
    ) -> Result<(StatusCode, Vec<u8>), RequestError> {
        let status = response.status();
        let address = self.address.clone();
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(|cause| RequestError::Http { address, cause })?;
        Ok((status, body.to_bytes().to_vec()))
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// Without a response.
    pub async fn ask(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&serde_json::Value>,
    ) -> Result<(StatusCode, Vec<u8>), RequestError> {
        let response = self.open(method, path, body).await?;
        self.read(response).await
    }
}
