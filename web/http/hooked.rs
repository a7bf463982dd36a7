//! Stream whose writes pass through a hook; everything else goes to the stream below.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Changes or watches the writes to a stream.
pub(super) trait WriteHook: Unpin {
    /// Writes to `stream`, as [`AsyncWrite::poll_write`].
    fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        stream: Pin<&mut S>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>>;

    /// Writes to `stream`, as [`AsyncWrite::poll_write_vectored`].
    fn poll_write_vectored<S: AsyncWrite + Unpin>(
        &mut self,
        stream: Pin<&mut S>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>>;

    /// All that was written so far was handed to the stream.
    fn flushed(&mut self) {}
}

/// Stream with a hook.
#[derive(Debug)]
pub(super) struct Hooked<S, H> {
    stream: S,
    hook: H,
}

impl<S, H> Hooked<S, H> {
    /// `stream`, whose writes pass through `hook`.
    pub(super) const fn over(stream: S, hook: H) -> Self {
        Self { stream, hook }
    }
}

impl<S: AsyncRead + Unpin, H: Unpin> AsyncRead for Hooked<S, H> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin, H: WriteHook> AsyncWrite for Hooked<S, H> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let Self { stream, hook } = &mut *self;
        hook.poll_write(Pin::new(stream), context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let Self { stream, hook } = &mut *self;
        hook.poll_write_vectored(Pin::new(stream), context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if let Poll::Ready(Ok(())) = flushed {
            self.hook.flushed();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
