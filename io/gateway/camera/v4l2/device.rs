//! Video devices of this machine and their formats.

use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{
    CAN_CAPTURE, CAN_STREAM, CAPTURE, Capability, ENUM_FMT, ENUM_FRAMESIZES, FormatDescription,
    FrameSize, HAS_DEVICE_CAPS, QUERYCAP, fourcc, open, request, zeroed,
};

/// Formats listed of a device at most, and sizes of a format.
const LISTED_MAX: u32 = 64;

/// Format of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceFormat {
    /// Four-character code, such as `MJPG` or `YUYV`.
    pub fourcc: String,
    /// Width and height, pixels; of a range its largest.
    pub sizes: Vec<(u32, u32)>,
}

/// Video device that captures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VideoDevice {
    /// Path, such as `/dev/video0`.
    pub device: String,
    /// Driver.
    pub driver: String,
    /// Name.
    pub card: String,
    /// Place on its bus.
    pub bus_info: String,
    /// Formats.
    pub formats: Vec<DeviceFormat>,
}

/// Text up to its first zero.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn look(path: &Path) -> io::Result<Option<VideoDevice>> {
    let file = open(path)?;
    let device = file.as_raw_fd();
    let mut capability: Capability = zeroed();
    // SAFETY: QUERYCAP takes a Capability.
    unsafe { request(device, QUERYCAP, &mut capability)? };
    let caps = match capability.capabilities & HAS_DEVICE_CAPS {
        0 => capability.capabilities,
        _ => capability.device_caps,
    };
    if caps & CAN_CAPTURE == 0 || caps & CAN_STREAM == 0 {
        return Ok(None);
    }
    let mut formats = Vec::new();
    for index in 0..LISTED_MAX {
        let mut format: FormatDescription = zeroed();
        (format.index, format.kind) = (index, CAPTURE);
        // SAFETY: ENUM_FMT takes a FormatDescription.
        if unsafe { request(device, ENUM_FMT, &mut format) }.is_err() {
            break;
        }
        let mut sizes = Vec::new();
        for index in 0..LISTED_MAX {
            let mut size: FrameSize = zeroed();
            (size.index, size.pixel_format) = (index, format.pixelformat);
            // SAFETY: ENUM_FRAMESIZES takes a FrameSize.
            if unsafe { request(device, ENUM_FRAMESIZES, &mut size) }.is_err() {
                break;
            }
            // Discrete: width, height. Stepwise: least, most and step of the width, then of the height.
            match size.kind {
                1 => sizes.push((size.size[0], size.size[1])),
                _ => sizes.push((size.size[1], size.size[4])),
            }
        }
        formats.push(DeviceFormat { fourcc: fourcc(format.pixelformat), sizes });
    }
    Ok(Some(VideoDevice {
        device: path.display().to_string(),
        driver: text(&capability.driver),
        card: text(&capability.card),
        bus_info: text(&capability.bus_info),
        formats,
    }))
}

/// Devices that capture, by path. Those that cannot be opened are left out.
#[must_use]
pub fn detect() -> Vec<VideoDevice> {
    let folder = std::fs::read_dir("/dev");
    let names = folder.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<_> = names.filter(|path| is_device(&path.display().to_string())).collect();
    paths.sort();
    paths.iter().filter_map(|path| look(path).ok().flatten()).collect()
}

/// True if this machine has a video device.
#[must_use]
pub fn is_present() -> bool {
    let folder = std::fs::read_dir("/dev");
    let names = folder.into_iter().flatten().flatten().map(|entry| entry.path());
    names.into_iter().any(|path| is_device(&path.display().to_string()))
}

/// True for `/dev/videoN`.
#[must_use]
pub fn is_device(path: &str) -> bool {
    let number = path.strip_prefix("/dev/video").unwrap_or("");
    (1..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_by_number() {
        for name in ["/dev/video0", "/dev/video63"] {
            assert!(is_device(name), "{name}");
        }
        for name in [
            "/dev/video",
            "/dev/sda",
            "/dev/video0/../sda",
            "video0",
            "/dev/videox",
            "/dev/video1234",
        ] {
            assert!(!is_device(name), "{name}");
        }
    }
}
