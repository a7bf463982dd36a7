//! Frames of a stream, and the reason when bytes arrive and no frame does.

use hyper::body::Bytes;
use tokio::time::{Duration, Instant};

use super::Deliver;
use super::error::CameraError;
use super::jpeg::{FRAME_BYTES_MAX, FrameSplitter};

/// Frames in sequence that are too long before a stream is given up: a single one is skipped.
const TOO_LONG_MAX: u32 = 3;
/// Longest time without a frame.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(10);

/// Reader of frames.
#[derive(Debug)]
pub(super) struct FrameReader {
    splitter: FrameSplitter,
    too_long: u32,
    last: Instant,
}

impl FrameReader {
    pub fn new() -> Self {
        Self { splitter: FrameSplitter::default(), too_long: 0, last: Instant::now() }
    }

    /// Adds bytes and hands the frames that are complete with them to `deliver`.
    ///
    /// # Errors
    /// When frames are too long, or none arrives in time.
    pub fn push(&mut self, bytes: &[u8], deliver: Deliver<'_>) -> Result<(), CameraError> {
        let frames = self.splitter.push(bytes);
        self.add(frames, deliver)
    }

    fn add(&mut self, frames: Vec<Bytes>, deliver: Deliver<'_>) -> Result<(), CameraError> {
        self.too_long += self.splitter.take_too_long();
        if !frames.is_empty() {
            (self.too_long, self.last) = (0, Instant::now());
        }
        frames.into_iter().for_each(deliver);
        if self.too_long >= TOO_LONG_MAX {
            return Err(CameraError::TooLong(FRAME_BYTES_MAX));
        }
        match self.last.elapsed() > SILENCE_MAX {
            true => Err(CameraError::Silent(SILENCE_MAX.as_secs())),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn frame(length: usize) -> Vec<u8> {
        let mut frame = vec![0xff, 0xd8, 0xff, 0xda, 0, 3, 1];
        frame.resize(length - 2, 7);
        frame.extend([0xff, 0xd9]);
        frame
    }

    fn push(reader: &mut FrameReader, bytes: &[u8]) -> (usize, Result<(), CameraError>) {
        let count = AtomicUsize::new(0);
        let deliver = |_| {
            count.fetch_add(1, Ordering::Relaxed);
        };
        let mut result = Ok(());
        for part in bytes.chunks(64 << 10) {
            result = result.and_then(|()| reader.push(part, &deliver));
        }
        (count.into_inner(), result)
    }

    #[tokio::test(start_paused = true)]
    async fn frames_that_are_too_long_end_the_stream_with_a_reason() {
        let long = frame(FRAME_BYTES_MAX + 1);
        let mut reader = FrameReader::new();
        for _ in 0..10 {
            // A single one is skipped.
            assert!(push(&mut reader, &long).1.is_ok());
            assert_eq!(push(&mut reader, &frame(100)).0, 1);
        }
        let mut reader = FrameReader::new();
        let results: Vec<_> = (0..3).map(|_| push(&mut reader, &long).1).collect();
        assert!(matches!(
            &results[..],
            [Ok(()), Ok(()), Err(CameraError::TooLong(FRAME_BYTES_MAX))]
        ));
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_without_a_frame_end_the_stream_in_time() {
        let mut reader = FrameReader::new();
        for second in 0..10 {
            assert!(push(&mut reader, b"no picture").1.is_ok(), "{second}");
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        tokio::time::advance(Duration::from_secs(1)).await;
        let (_, result) = push(&mut reader, b"no picture");
        assert!(matches!(result, Err(CameraError::Silent(10))), "{result:?}");
    }
}
