//! Stream of a viewer: the latest frame whenever the viewer is ready for one.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{Stream, unfold};
use groundwave_files::wall::monotonic_ns;
use hyper::body::Bytes;
use tokio::time::{Instant, sleep_until, timeout};

use super::feed::Frame;
use super::hub::{HOLD, Viewer};

/// Boundary of the parts.
pub const BOUNDARY: &str = "frame";

/// A part of the stream: header fields of our own, and the frame.
fn part(frame: &Frame) -> Bytes {
    let mut head = String::new();
    let (seconds, micros) = (frame.wall_ns / 1_000_000_000, frame.wall_ns / 1_000 % 1_000_000);
    let _ = write!(
        head,
        "--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\nX-Timestamp: {seconds}.{micros:06}\r\n\r\n",
        frame.jpeg.len()
    );
    let mut part = Vec::with_capacity(head.len() + frame.jpeg.len() + 2);
    part.extend_from_slice(head.as_bytes());
    part.extend_from_slice(&frame.jpeg);
    part.extend_from_slice(b"\r\n");
    part.into()
}

/// True for a frame that viewers may still see.
fn is_fresh(frame: &Frame) -> bool {
    u128::from(monotonic_ns().saturating_sub(frame.at_ns)) < HOLD.as_nanos()
}

/// Waits for a frame that is not older than the last one seen; `None` when the camera is stopped or
/// silent for [`HOLD`].
pub async fn next_frame(
    viewer: &Viewer,
    frames: &mut tokio::sync::watch::Receiver<Option<Arc<Frame>>>,
) -> Option<Arc<Frame>> {
    let stopped = viewer.stopped();
    let fresh = async {
        loop {
            let latest = frames.borrow_and_update().clone();
            if let Some(frame) = latest.filter(|frame| is_fresh(frame)) {
                return Some(frame);
            }
            frames.changed().await.ok()?;
        }
    };
    tokio::select! {
        () = stopped.cancelled() => None,
        frame = timeout(HOLD, fresh) => frame.ok().flatten(),
    }
}

/// Parts for a viewer, at most `fps` a second. Nothing is kept for a viewer that is slow: when it is
/// ready again it gets the latest frame.
pub fn parts(viewer: Viewer, fps: u32) -> impl Stream<Item = Result<Bytes, std::io::Error>> + Send {
    let frames = viewer.frames();
    let interval = Duration::from_secs(1) / fps.max(1);
    let begin = (viewer, frames, Instant::now(), false);
    let parts = unfold(begin, move |(viewer, mut frames, due, has_first)| async move {
        let stopped = viewer.stopped();
        tokio::select! {
            () = stopped.cancelled() => return None,
            () = sleep_until(due) => {}
        }
        if has_first {
            // The frame before was sent: another one is waited for.
            tokio::select! {
                () = stopped.cancelled() => return None,
                changed = timeout(HOLD, frames.changed()) => changed.ok()?.ok()?,
            }
        }
        let frame = next_frame(&viewer, &mut frames).await?;
        let due = Instant::now() + interval;
        Some((Ok(part(&frame)), (viewer, frames, due, true)))
    });
    futures_util::StreamExt::fuse(parts)
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::super::hub::Cameras;
    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap()
    }

    #[test]
    fn a_viewer_that_was_slow_gets_the_latest_frame() {
        runtime().block_on(async {
            let cameras = Cameras::default();
            let id = uuid::Uuid::from_u128(1);
            let camera = cameras.started_for_test(id);
            let open = || Box::pin(parts(cameras.view(id, [10, 0, 0, 1].into()).unwrap(), 60));
            let (mut fast, mut slow) = (open(), open());
            for number in 0..50_u8 {
                camera.publish(vec![0xff, 0xd8, number, 0xff, 0xd9].into());
                let part = fast.next().await.unwrap().unwrap();
                assert!(part.ends_with(&[0xff, 0xd8, number, 0xff, 0xd9, b'\r', b'\n']));
            }
            let part = slow.next().await.unwrap().unwrap();
            assert!(part.ends_with(&[0xff, 0xd8, 49, 0xff, 0xd9, b'\r', b'\n']));
            let text = String::from_utf8_lossy(&part);
            assert!(
                text.starts_with("--frame\r\nContent-Type: image/jpeg\r\nContent-Length: 5\r\n")
            );
            cameras.stop(id);
            assert!(fast.next().await.is_none() && slow.next().await.is_none());
        });
    }

    #[test]
    fn a_stream_ends_when_its_camera_is_silent() {
        runtime().block_on(async {
            let cameras = Cameras::default();
            let id = uuid::Uuid::from_u128(1);
            let camera = cameras.started_for_test(id);
            let viewer = cameras.view(id, [10, 0, 0, 1].into()).unwrap();
            let mut stream = Box::pin(parts(viewer, 10));
            camera.publish(vec![0xff, 0xd8, 0xff, 0xd9].into());
            assert!(stream.next().await.is_some());
            // The clock of the runtime is advanced while everything waits.
            assert!(stream.next().await.is_none());
        });
    }
}
