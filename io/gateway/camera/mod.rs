//! Cameras: MJPEG over HTTP, RTSP and V4L2 devices as JPEG frames.

mod error;
mod ffmpeg;
mod frames;
pub mod jpeg;
mod mjpeg;
mod rtsp;
pub mod v4l2;

pub use error::CameraError;
pub use ffmpeg::find_ffmpeg;
pub use mjpeg::read_mjpeg;
pub use rtsp::{RtspLogin, check_rtsp_url, read_rtsp};

use hyper::body::Bytes;

/// Taker of frames.
pub type Deliver<'a> = &'a (dyn Fn(Bytes) + Send + Sync);
