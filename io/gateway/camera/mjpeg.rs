//! MJPEG over HTTP.

use std::time::Duration;

use groundwave_outbound::{Outbound, Request};
use tokio::time::timeout;

use super::Deliver;
use super::error::CameraError;
use super::jpeg::FrameSplitter;

/// Longest silence of a camera.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(10);

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
    let mut splitter = FrameSplitter::default();
    let silent = || CameraError::Silent(SILENCE_MAX.as_secs());
    loop {
        let next = timeout(SILENCE_MAX, response.next()).await.map_err(|_| silent())?;
        let Some(bytes) = next.map_err(|err| CameraError::Stream(err.to_string()))? else {
            return Err(CameraError::Stream("the camera ended it".to_owned()));
        };
        splitter.push(&bytes).into_iter().for_each(deliver);
    }
}
