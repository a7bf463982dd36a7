//! RTSP: JPEG frames as they are, H.264 by ffmpeg.

use futures_util::StreamExt;
use groundwave_outbound::Outbound;
use hyper::body::Bytes;
use retina::client::{
    Credentials, PlayOptions, Session, SessionOptions, SetupOptions, TeardownPolicy,
};
use retina::codec::{CodecItem, FrameFormat};
use tokio::sync::mpsc;
use tokio::time::timeout;
use url::Url;

use super::Deliver;
use super::error::CameraError;
use super::ffmpeg::{Input, WAITING_MAX, convert, find_ffmpeg};
use super::frames::{FrameReader, SILENCE_MAX};

/// User name and password.
#[derive(Clone, PartialEq, Eq)]
pub struct RtspLogin {
    /// User name.
    pub username: String,
    /// Password.
    pub password: String,
}

/// Allowed URLs.
const URL: &str = "rtsp:// with a host and without user information";

/// Host and port of a URL.
///
/// # Errors
/// [`CameraError::Url`] for another scheme, and for user information.
pub fn check_rtsp_url(text: &str) -> Result<(String, u16), CameraError> {
    let url = Url::parse(text).map_err(|_| CameraError::Url(URL))?;
    let host = url.host_str().unwrap_or_default();
    let is_bare = url.username().is_empty() && url.password().is_none();
    match url.scheme() == "rtsp" && is_bare && !host.is_empty() && text.len() <= 2048 {
        true => Ok((host.to_owned(), url.port().unwrap_or(554))),
        false => Err(CameraError::Url(URL)),
    }
}

/// Reads frames until the stream ends, and hands each to `deliver`.
///
/// The host of the URL is replaced by the address that was judged, for the session resolves the host
/// of its URL itself.
///
/// # Errors
/// The reason of the end.
pub async fn read_rtsp(
    outbound: &Outbound,
    url: &str,
    login: Option<RtspLogin>,
    deliver: Deliver<'_>,
) -> Result<(), CameraError> {
    let (host, port) = check_rtsp_url(url)?;
    let target = outbound.target(&host, port).await?;
    let address = target.addresses().first().copied().ok_or(CameraError::Url(URL))?;
    let mut url = Url::parse(url).map_err(|_| CameraError::Url(URL))?;
    url.set_ip_host(address.ip()).map_err(|()| CameraError::Url(URL))?;
    let failed = |err: retina::Error| CameraError::Stream(err.to_string());
    let silent = |_| CameraError::Silent(SILENCE_MAX.as_secs());
    let creds =
        login.map(|login| Credentials { username: login.username, password: login.password });
    let options = SessionOptions::default()
        .creds(creds)
        .user_agent(concat!("groundwave/", env!("CARGO_PKG_VERSION")).to_owned())
        .teardown(TeardownPolicy::Never);
    let described = timeout(SILENCE_MAX, Session::describe(url, options)).await;
    let mut session = described.map_err(silent)?.map_err(failed)?;
    let is_known = |stream: &retina::client::Stream| {
        stream.media() == "video" && ["jpeg", "h264"].contains(&stream.encoding_name())
    };
    let video = session
        .streams()
        .iter()
        .position(is_known)
        .ok_or_else(|| CameraError::Stream("no video as JPEG or H.264".to_owned()))?;
    let is_h264 = session.streams()[video].encoding_name() == "h264";
    if is_h264 && find_ffmpeg().is_none() {
        return Err(CameraError::NoDecoder("H.264"));
    }
    let options = SetupOptions::default().frame_format(FrameFormat::SIMPLE);
    let set_up = timeout(SILENCE_MAX, session.setup(video, options)).await;
    set_up.map_err(silent)?.map_err(failed)?;
    let playing = timeout(SILENCE_MAX, session.play(PlayOptions::default())).await;
    let mut frames = playing.map_err(silent)?.map_err(failed)?.demuxed().map_err(failed)?;
    let (sender, receiver) = mpsc::channel::<Bytes>(WAITING_MAX);
    let read = async {
        let mut reader = FrameReader::new();
        loop {
            let item = timeout(SILENCE_MAX, frames.next()).await.map_err(silent)?;
            let Some(item) = item else {
                return Err(CameraError::Stream("the camera ended it".to_owned()));
            };
            let CodecItem::VideoFrame(frame) = item.map_err(failed)? else {
                continue;
            };
            if !is_h264 {
                reader.push(frame.data(), deliver)?;
            } else if sender.send(frame.into_data().into()).await.is_err() {
                return Err(CameraError::Decoder("it ended".to_owned()));
            }
        }
    };
    if !is_h264 {
        return read.await;
    }
    tokio::select! {
        ended = read => ended,
        converted = convert(Input::H264, receiver, deliver) => converted,
    }
}
