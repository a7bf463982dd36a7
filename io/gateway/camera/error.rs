//! Errors of cameras.

use std::io;

use groundwave_outbound::OutboundError;
use thiserror::Error;

/// Error of a camera.
#[derive(Debug, Error)]
pub enum CameraError {
    /// No connection to the camera.
    #[error(transparent)]
    Outbound(#[from] OutboundError),
    /// Answer that is no stream of pictures.
    #[error("no stream: {0}")]
    Stream(String),
    /// Frames longer than allowed.
    #[error(
        "frames too long: allowed 0 to {0} bytes, by a lower resolution or quality of the camera"
    )]
    TooLong(usize),
    /// No frame in time.
    #[error("no frame within {0} s")]
    Silent(u64),
    /// Invalid URL.
    #[error("invalid URL: allowed {0}")]
    Url(&'static str),
    /// Format that needs a program which is not installed.
    #[error("{0} needs the program ffmpeg, which is not installed")]
    NoDecoder(&'static str),
    /// Failure of the decoder.
    #[error("ffmpeg: {0}")]
    Decoder(String),
    /// Failure of a device.
    #[error("{device}: {cause}")]
    Device {
        /// Device.
        device: String,
        /// Cause.
        #[source]
        cause: io::Error,
    },
}
