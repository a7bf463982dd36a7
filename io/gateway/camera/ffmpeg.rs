//! Decoder or encoder in an external ffmpeg: raw video or H.264 in, JPEG frames out.

use std::path::PathBuf;
use std::process::Stdio;

use hyper::body::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::sync::mpsc;

use super::Deliver;
use super::error::CameraError;
use super::frames::FrameReader;

/// Input of ffmpeg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    /// H.264, Annex B.
    H264,
    /// YUYV pictures of a size.
    Yuyv {
        /// Width, pixels.
        width: u32,
        /// Height, pixels.
        height: u32,
    },
}

/// Packets that wait for the program; later ones are dropped.
pub(super) const WAITING_MAX: usize = 64;

/// Longest error text, bytes.
const ERROR_BYTES_MAX: usize = 4096;

/// ffmpeg on the `PATH`, if it is installed.
#[must_use]
pub fn find_ffmpeg() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path).map(|folder| folder.join("ffmpeg"));
    files.find(|file| file.is_file())
}

/// Arguments for an input.
fn arguments(input: Input) -> Vec<String> {
    let mut all: Vec<String> =
        ["-hide_banner", "-loglevel", "error", "-nostdin"].map(str::to_owned).into();
    let of_input = match input {
        Input::H264 => vec![
            "-fflags".to_owned(),
            "nobuffer".to_owned(),
            "-flags".to_owned(),
            "low_delay".to_owned(),
            "-probesize".to_owned(),
            "32".to_owned(),
            "-analyzeduration".to_owned(),
            "0".to_owned(),
            "-f".to_owned(),
            "h264".to_owned(),
        ],
        Input::Yuyv { width, height } => vec![
            "-f".to_owned(),
            "rawvideo".to_owned(),
            "-pix_fmt".to_owned(),
            "yuyv422".to_owned(),
            "-video_size".to_owned(),
            format!("{width}x{height}"),
        ],
    };
    all.extend(of_input);
    let output =
        ["-i", "pipe:0", "-an", "-vsync", "passthrough", "-f", "mjpeg", "-q:v", "5", "pipe:1"];
    all.extend(output.map(str::to_owned));
    all
}

/// Converts packets until they end or the program does; frames go to `deliver`.
pub(super) async fn convert(
    input: Input,
    mut packets: mpsc::Receiver<Bytes>,
    deliver: Deliver<'_>,
) -> Result<(), CameraError> {
    let what = match input {
        Input::H264 => "H.264",
        Input::Yuyv { .. } => "YUYV",
    };
    let program = find_ffmpeg().ok_or(CameraError::NoDecoder(what))?;
    let failed = |err: std::io::Error| CameraError::Decoder(err.to_string());
    let mut child = Command::new(program)
        .args(arguments(input))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
    let ((mut stdin, mut stdout), stderr) = pipes.expect("all three are piped");
    let write = async move {
        while let Some(packet) = packets.recv().await {
            stdin.write_all(&packet).await?;
            stdin.flush().await?;
        }
        std::io::Result::Ok(())
    };
    let write = async { Ok::<_, CameraError>(write.await) };
    let read = async {
        let mut reader = FrameReader::new();
        let mut part = vec![0; 64 << 10];
        loop {
            let count = stdout.read(&mut part).await.map_err(failed)?;
            if count == 0 {
                return Ok(());
            }
            reader.push(&part[..count], deliver)?;
        }
    };
    let complain = async {
        let mut text = Vec::new();
        let mut stderr = stderr.take(ERROR_BYTES_MAX as u64);
        let _ = stderr.read_to_end(&mut text).await;
        Ok::<_, CameraError>(text)
    };
    // The write ends with the packets, the read with the program, whose output is complete then. A read
    // that fails ends the program.
    let (written, (), text) = tokio::try_join!(write, read, complain)?;
    let status = child.wait().await.map_err(failed)?;
    let text = String::from_utf8_lossy(&text);
    let first = text.lines().next().unwrap_or_default();
    match (status.success(), written) {
        (true, Ok(())) => Ok(()),
        (true, Err(err)) => Err(failed(err)),
        (false, _) => Err(CameraError::Decoder(format!("{status}: {first}"))),
    }
}
