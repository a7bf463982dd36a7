//! Stream whose writes fail when the receiver takes too little of them for too long.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::AsyncWrite;
use tokio::time::{Instant, Sleep};

use super::hooked::{Hooked, WriteHook};

/// Least progress within the timeout, bytes.
const PROGRESS_BYTES: usize = 16 << 10;

/// Timeout of writes: each timeout after a write had to wait, 16 KiB or the whole
/// buffer must have been taken.
#[derive(Debug)]
pub(super) struct WriteTimeout {
    timeout: Duration,
    /// Deadline and bytes taken since it was set, while a write waits.
    stalled: Option<(Pin<Box<Sleep>>, usize)>,
}

impl WriteTimeout {
    /// A stream with a timeout.
    pub(super) const fn over<S>(stream: S, timeout: Duration) -> Hooked<S, Self> {
        let hook = Self { timeout, stalled: None };
        Hooked::over(stream, hook)
    }

    /// Result of a write of `offered` bytes, or the error of a receiver that stalls.
    fn watched(
        &mut self,
        context: &mut Context<'_>,
        offered: usize,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(count)) => {
                let taken = self.stalled.as_mut().map(|(_, taken)| {
                    *taken += count;
                    *taken
                });
                if count == offered || taken.is_some_and(|taken| taken >= PROGRESS_BYTES) {
                    self.stalled = None;
                }
                Poll::Ready(Ok(count))
            }
            Poll::Pending => {
                let deadline = Instant::now() + self.timeout;
                let (due, _) = self
                    .stalled
                    .get_or_insert_with(|| (Box::pin(tokio::time::sleep_until(deadline)), 0));
                ready!(due.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            failed => failed,
        }
    }
}

impl WriteHook for WriteTimeout {
    fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        stream: Pin<&mut S>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = stream.poll_write(context, bytes);
        self.watched(context, bytes.len(), written)
    }

    fn poll_write_vectored<S: AsyncWrite + Unpin>(
        &mut self,
        stream: Pin<&mut S>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let offered = slices.iter().map(|slice| slice.len()).sum();
        let written = stream.poll_write_vectored(context, slices);
        self.watched(context, offered, written)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn idle_receiver_ends_the_write() {
        let (ours, _theirs) = tokio::io::duplex(1 << 10);
        let mut ours = WriteTimeout::over(ours, TIMEOUT);
        let failed = ours.write_all(&[0; 1 << 20]).await.unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn receiver_below_the_rate_ends_the_write() {
        let (ours, mut theirs) = tokio::io::duplex(1 << 10);
        tokio::spawn(async move {
            let mut few = [0; 16];
            while theirs.read_exact(&mut few).await.is_ok() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        let mut ours = WriteTimeout::over(ours, TIMEOUT);
        let failed = ours.write_all(&[0; 1 << 20]).await.unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn steady_slow_receiver_gets_everything() {
        let (ours, mut theirs) = tokio::io::duplex(1 << 10);
        let reader = tokio::spawn(async move {
            let (mut some, mut count) = ([0; 1 << 10], 0);
            while let Ok(read @ 1..) = theirs.read(&mut some).await {
                count += read;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            count
        });
        let mut ours = WriteTimeout::over(ours, TIMEOUT);
        ours.write_all(&[0; 256 << 10]).await.unwrap();
        drop(ours);
        assert_eq!(reader.await.unwrap(), 256 << 10);
    }
}
