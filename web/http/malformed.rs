//! Responses to malformed HTTP: hyper writes them with an empty body, this stream gives them one.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Problem;
use super::problem::MEDIA_TYPE;

/// Longest response that hyper writes by itself, bytes.
const BARE_BYTES_MAX: usize = 512;

/// A response with a problem in place of a bare one; `None` for all others.
fn explained(written: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(written).ok()?;
    let rest = text
        .strip_prefix("HTTP/1.1 ")
        .or(text.strip_prefix("HTTP/1.0 "))?;
    let detail = match rest.get(..3)? {
        "400" => "malformed HTTP request",
        "414" => "the request URI is too long",
        "431" => "the request head is too long: allowed 16384 bytes in up to 100 fields",
        _ => return None,
    };
    let is_bare = text.ends_with("\r\n\r\n") && text.contains("\r\ncontent-length: 0\r\n");
    let status = rest[..3]
        .parse()
        .ok()
        .and_then(|code| StatusCode::from_u16(code).ok())?;
    let problem = Problem::new(status, detail).with_usual_kind();
    let body = serde_json::to_string(&problem).ok().filter(|_| is_bare)?;
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n",
        body.len()
    );
    Some((head + &body).into_bytes())
}

/// Response that is written in place of another one.
#[derive(Debug)]
struct Replacement {
    bytes: Vec<u8>,
    written: usize,
    /// Length of the response it replaces, bytes.
    replaced: usize,
}

/// Stream that completes bare responses.
#[derive(Debug)]
pub(super) struct Explained<S> {
    stream: S,
    replacement: Option<Replacement>,
}

impl<S: AsyncWrite + Unpin> Explained<S> {
    /// Over a stream.
    pub(super) const fn new(stream: S) -> Self {
        Self {
            stream,
            replacement: None,
        }
    }

    /// Writes what replaces the response, as if it had been that.
    fn poll_replacement(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        while let Some(replacement) = &mut self.replacement {
            let rest = &replacement.bytes[replacement.written..];
            if rest.is_empty() {
                let replaced = replacement.replaced;
                self.replacement = None;
                return Poll::Ready(Ok(replaced));
            }
            let count = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            replacement.written += count;
        }
        Poll::Ready(Ok(0))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Explained<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Explained<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.replacement.is_none() && bytes.len() <= BARE_BYTES_MAX {
            self.replacement = explained(bytes).map(|replacing| Replacement {
                bytes: replacing,
                written: 0,
                replaced: bytes.len(),
            });
        }
        match self.replacement {
            Some(_) => self.poll_replacement(context),
            None => Pin::new(&mut self.stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match slices {
            // A bare response is one slice.
            [one] => self.poll_write(context, one),
            _ => Pin::new(&mut self.stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
