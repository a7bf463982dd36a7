//! HTTP client of the project's own servers.

use groundwave_http_client::{BodyError, Connection, OpenResponse, connect};
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::http::request::Builder;
use hyper::{Method, Request, Response, StatusCode};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};

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

/// Maximum length of a response to [`Client::call`], bytes.
const RESPONSE_BYTES_MAX: usize = 4 << 20;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const OCTETS: HeaderValue = HeaderValue::from_static("application/octet-stream");

/// HTTP/1.1 connection for consecutive requests.
pub struct Client {
    address: String,
    connection: Connection,
}

impl Client {
    /// Connects over TCP.
    ///
    /// # Errors
    /// [`RequestError::Connection`] when the connection fails.
    pub async fn tcp(address: &str) -> Result<Self, RequestError> {
        match connect(address).await {
            Ok(stream) => Self::over(address.to_owned(), stream).await,
            Err(cause) => Err(RequestError::Connection { address: address.to_owned(), cause }),
        }
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
        match Connection::over(stream).await {
            Ok(connection) => Ok(Self { address, connection }),
            Err(cause) => Err(RequestError::Http { address, cause }),
        }
    }

    /// Sends a request, with a JSON body if there is one; the body of the response is not read yet.
    ///
    /// # Errors
    /// Without a response.
    pub async fn open(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&serde_json::Value>,
    ) -> Result<OpenResponse, RequestError> {
        let request = self.request(method, path, None);
        let media = body.is_some().then_some(JSON);
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        self.exchange(request, media, body).await
    }

    /// Sends a request with a JSON body and a bearer token, and reads the response, of at most 4 MiB.
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
        let request = self.request(method, path, token);
        let response = self.exchange(request, Some(JSON), body).await?;
        self.whole(response).await
    }

    /// Reads a range of bytes with a bearer token.
    ///
    /// # Errors
    /// Without a complete response.
    pub async fn range(
        &mut self,
        path: &str,
        token: Option<&str>,
        range: std::ops::Range<u64>,
    ) -> Result<HttpResponse, RequestError> {
        let last = range.end.saturating_sub(1);
        let request = self.request(Method::GET, path, token);
        let request = request.header(header::RANGE, format!("bytes={}-{last}", range.start));
        let response = self.exchange(request, None, Bytes::new()).await?;
        self.whole(response).await
    }

    /// Sends a request with a body of bytes and reads the response, however long it is.
    ///
    /// # Errors
    /// Without a complete response.
    pub async fn send(
        &mut self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<(StatusCode, Vec<u8>), RequestError> {
        let request = self.request(method, path, None);
        let media = body.is_some().then_some(OCTETS);
        let response = self.exchange(request, media, body.unwrap_or_default()).await?;
        self.unbounded(response).await
    }

    /// Sends a request with a JSON body and reads the response, however long it is.
    ///
    /// # Errors
    /// Without a complete response.
    pub async fn ask(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&serde_json::Value>,
    ) -> Result<(StatusCode, Vec<u8>), RequestError> {
        let response = self.open(method, path, body).await?;
        self.unbounded(response).await
    }

    /// Sends a request with a JSON body that applies to one revision (`If-Match`), to any without one, and
    /// reads the response, however long it is, with its own revision (`ETag`).
    ///
    /// # Errors
    /// Without a complete response.
    pub async fn ask_revision(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&serde_json::Value>,
        revision: Option<&str>,
    ) -> Result<(StatusCode, Vec<u8>, Option<String>), RequestError> {
        let mut request = self.request(method, path, None);
        if let Some(revision) = revision {
            request = request.header(header::IF_MATCH, revision);
        }
        let media = body.is_some().then_some(JSON);
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let response = self.exchange(request, media, body).await?;
        let revision = response.field(header::ETAG).map(str::to_owned);
        let (status, bytes) = self.unbounded(response).await?;
        Ok((status, bytes, revision))
    }

    /// Sends a request with a body of this media type as it is and reads the response, of at most
    /// `bytes_max` bytes.
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
        let request = self.request(method, path, None);
        let response = self.exchange(request, media, body).await?;
        let (status, headers) = (response.status, response.headers.clone());
        let mut whole = Response::new(self.bounded(response, bytes_max).await?);
        *whole.status_mut() = status;
        *whole.headers_mut() = headers;
        Ok(whole)
    }

    fn request(&self, method: Method, path: &str, token: Option<&str>) -> Builder {
        let address = &self.address;
        // The path of a socket is no host name, and behind a socket there is one server.
        let host = if address.contains('/') { "localhost" } else { address };
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, host);
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        request
    }

    async fn exchange(
        &mut self,
        request: Builder,
        media: Option<HeaderValue>,
        body: impl Into<Bytes>,
    ) -> Result<OpenResponse, RequestError> {
        let address = || self.address.clone();
        let request = match media {
            Some(media) => request.header(header::CONTENT_TYPE, media),
            None => request,
        };
        let request = request
            .body(body.into())
            .map_err(|cause| RequestError::Request { address: address(), cause })?;
        let response = self.connection.send(request).await;
        response.map_err(|cause| RequestError::Http { address: address(), cause })
    }

    /// The response with its body, of at most [`RESPONSE_BYTES_MAX`].
    async fn whole(&self, response: OpenResponse) -> Result<HttpResponse, RequestError> {
        let retry_after_s = response.field(header::RETRY_AFTER).and_then(|text| text.parse().ok());
        let status = response.status;
        let body = self.bounded(response, RESPONSE_BYTES_MAX).await?.to_vec();
        Ok(HttpResponse { status, retry_after_s, body })
    }

    async fn bounded(
        &self,
        response: OpenResponse,
        limit_bytes: usize,
    ) -> Result<Bytes, RequestError> {
        let body = response.whole(limit_bytes).await;
        body.map_err(|cause| RequestError::Connection {
            address: self.address.clone(),
            cause: std::io::Error::other(cause),
        })
    }

    async fn unbounded(
        &self,
        response: OpenResponse,
    ) -> Result<(StatusCode, Vec<u8>), RequestError> {
        let (status, address) = (response.status, self.address.clone());
        match response.whole(usize::MAX).await {
            Ok(body) => Ok((status, body.to_vec())),
            Err(BodyError::Http(cause)) => Err(RequestError::Http { address, cause }),
            Err(cause) => {
                Err(RequestError::Connection { address, cause: std::io::Error::other(cause) })
            }
        }
    }
}
