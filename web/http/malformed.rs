//! Responses to malformed HTTP: hyper writes them with an empty body, this hook gives them one.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::http::StatusCode;
use tokio::io::AsyncWrite;

use super::Problem;
use super::hooked::{Hooked, WriteHook};
use super::problem::MEDIA_TYPE;

/// Longest response that hyper writes by itself, bytes.
const BARE_BYTES_MAX: usize = 512;

/// A response with a problem in place of a bare one; `None` for all others.
fn explained(written: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(written).ok()?;
    let rest = text.strip_prefix("HTTP/1.1 ").or(text.strip_prefix("HTTP/1.0 "))?;
    let detail = match rest.get(..3)? {
        "400" => "malformed HTTP request",
        "414" => "the request URI is too long",
        "431" => "the request head is too long: allowed 16384 bytes in up to 100 fields",
        _ => return None,
    };
    let is_bare = text.ends_with("\r\n\r\n") && text.contains("\r\ncontent-length: 0\r\n");
    let status = rest[..3].parse().ok().and_then(|code| StatusCode::from_u16(code).ok())?;
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

/// Completes bare responses.
#[derive(Debug, Default)]
pub(super) struct Explained {
    replacement: Option<Replacement>,
}

impl Explained {
    /// A stream whose bare responses are completed.
    pub(super) const fn over<S>(stream: S) -> Hooked<S, Self> {
        Hooked::over(stream, Self { replacement: None })
    }

    /// Writes what replaces the response, as if it had been that.
    fn poll_replacement<S: AsyncWrite + Unpin>(
        &mut self,
        mut stream: Pin<&mut S>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        while let Some(replacement) = &mut self.replacement {
            let rest = &replacement.bytes[replacement.written..];
            if rest.is_empty() {
                let replaced = replacement.replaced;
                self.replacement = None;
                return Poll::Ready(Ok(replaced));
            }
            let count = ready!(stream.as_mut().poll_write(context, rest))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            replacement.written += count;
        }
        Poll::Ready(Ok(0))
    }
}

impl WriteHook for Explained {
    fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        stream: Pin<&mut S>,
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
            Some(_) => self.poll_replacement(stream, context),
            None => stream.poll_write(context, bytes),
        }
    }

    fn poll_write_vectored<S: AsyncWrite + Unpin>(
        &mut self,
        stream: Pin<&mut S>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match slices {
            // A bare response is one slice.
            [one] => self.poll_write(stream, context, one),
            _ => stream.poll_write_vectored(context, slices),
        }
    }
}
