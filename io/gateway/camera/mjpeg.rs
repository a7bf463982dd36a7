//! MJPEG over HTTP.

use groundwave_outbound::{Outbound, Request};
use tokio::time::timeout;

use super::Deliver;
use super::error::CameraError;
use super::frames::{FrameReader, SILENCE_MAX};

/// Reads frames until the stream ends, and hands each to `deliver`.
///
/// # Errors
/// The reason of the end.
pub async fn read_mjpeg(
    outbound: &Outbound,
    request: &Request,
    deliver: Deliver<'_>,
) -> Result<(), CameraError> {
    let mut response = outbound.open(request).await?;
    let status = response.status;
    if !status.is_success() {
        return Err(CameraError::Stream(format!("status {}", status.as_u16())));
    }
    let mut reader = FrameReader::new();
    let silent = || CameraError::Silent(SILENCE_MAX.as_secs());
    loop {
        let next = timeout(SILENCE_MAX, response.next()).await.map_err(|_| silent())?;
        let Some(bytes) = next.map_err(|err| CameraError::Stream(err.to_string()))? else {
            return Err(CameraError::Stream("the camera ended it".to_owned()));
        };
        reader.push(&bytes, deliver)?;
    }
}
