//! Structures of videodev2.h for 64-bit machines, the numbers of its requests, and their calls.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// struct `v4l2_capability`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Capability {
    pub driver: [u8; 16],
    pub card: [u8; 32],
    pub bus_info: [u8; 32],
    pub version: u32,
    pub capabilities: u32,
    pub device_caps: u32,
    pub reserved: [u32; 3],
}

/// struct `v4l2_fmtdesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FormatDescription {
    pub index: u32,
    pub kind: u32,
    pub flags: u32,
    pub description: [u8; 32],
    pub pixelformat: u32,
    pub mbus_code: u32,
    pub reserved: [u32; 3],
}

/// struct `v4l2_frmsizeenum`; `size` is width and height, or the steps of both.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FrameSize {
    pub index: u32,
    pub pixel_format: u32,
    pub kind: u32,
    pub size: [u32; 6],
    pub reserved: [u32; 2],
}

/// struct `v4l2_format` with `v4l2_pix_format` in its union of 200 bytes.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct Format {
    pub kind: u32,
    pub pad: u32,
    pub width: u32,
    pub height: u32,
    pub pixelformat: u32,
    pub field: u32,
    pub bytesperline: u32,
    pub rest: [u32; 45],
}

/// struct `v4l2_requestbuffers`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RequestBuffers {
    pub count: u32,
    pub kind: u32,
    pub memory: u32,
    pub capabilities: u32,
    pub flags: u32,
}

/// struct `v4l2_buffer`.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct Buffer {
    pub index: u32,
    pub kind: u32,
    pub bytesused: u32,
    pub flags: u32,
    pub field: u32,
    pub pad: u32,
    pub timestamp: [u64; 2],
    pub timecode: [u32; 4],
    pub sequence: u32,
    pub memory: u32,
    pub offset: u64,
    pub length: u32,
    pub reserved2: u32,
    pub request_fd: u32,
    pub pad2: u32,
}

const fn number(direction: u64, number: u64, size: usize) -> u64 {
    direction << 30 | (size as u64) << 16 | (b'V' as u64) << 8 | number
}

/// `VIDIOC_QUERYCAP`.
pub const QUERYCAP: u64 = number(2, 0, size_of::<Capability>());
/// `VIDIOC_ENUM_FMT`.
pub const ENUM_FMT: u64 = number(3, 2, size_of::<FormatDescription>());
/// `VIDIOC_S_FMT`.
pub const S_FMT: u64 = number(3, 5, size_of::<Format>());
/// `VIDIOC_REQBUFS`.
pub const REQBUFS: u64 = number(3, 8, size_of::<RequestBuffers>());
/// `VIDIOC_QUERYBUF`.
pub const QUERYBUF: u64 = number(3, 9, size_of::<Buffer>());
/// `VIDIOC_QBUF`.
pub const QBUF: u64 = number(3, 15, size_of::<Buffer>());
/// `VIDIOC_DQBUF`.
pub const DQBUF: u64 = number(3, 17, size_of::<Buffer>());
/// `VIDIOC_STREAMON`.
pub const STREAMON: u64 = number(1, 18, size_of::<i32>());
/// `VIDIOC_ENUM_FRAMESIZES`.
pub const ENUM_FRAMESIZES: u64 = number(3, 74, size_of::<FrameSize>());
/// `V4L2_CAP_VIDEO_CAPTURE`.
pub const CAN_CAPTURE: u32 = 1;
/// `V4L2_CAP_STREAMING`.
pub const CAN_STREAM: u32 = 0x0400_0000;
/// `V4L2_CAP_DEVICE_CAPS`.
pub const HAS_DEVICE_CAPS: u32 = 0x8000_0000;
/// `V4L2_BUF_TYPE_VIDEO_CAPTURE`.
pub const CAPTURE: u32 = 1;
/// `V4L2_MEMORY_MMAP`.
pub const MMAP: u32 = 1;
/// `V4L2_BUF_FLAG_ERROR`.
pub const DAMAGED: u32 = 0x40;

/// Sends a request until it is not interrupted.
///
/// # Safety
/// `T` is the structure that the request names.
pub unsafe fn request<T>(device: RawFd, request: u64, value: &mut T) -> io::Result<()> {
    loop {
        // SAFETY: the caller vouches for the structure, which lives for the call.
        let status = unsafe { libc::ioctl(device, request as _, std::ptr::from_mut(value)) };
        if status >= 0 {
            return Ok(());
        }
        let err = io::Error::last_os_error();
        if err.kind() != io::ErrorKind::Interrupted {
            return Err(err);
        }
    }
}

/// A structure of zeros.
pub fn zeroed<T: Copy>() -> T {
    // SAFETY: the structures of `layout` are integers and arrays of them.
    unsafe { std::mem::zeroed() }
}

/// Four-character code.
pub fn fourcc(code: u32) -> String {
    code.to_le_bytes()
        .map(|byte| char::from(byte & 0x7f))
        .iter()
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// Opens a device without blocking.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_numbers_of_the_kernel() {
        // From videodev2.h on x86-64, as a C compiler computes them.
        let numbers = [
            (QUERYCAP, 0x8068_5600),
            (ENUM_FMT, 0xc040_5602),
            (S_FMT, 0xc0d0_5605),
            (REQBUFS, 0xc014_5608),
            (QUERYBUF, 0xc058_5609),
            (QBUF, 0xc058_560f),
            (DQBUF, 0xc058_5611),
            (STREAMON, 0x4004_5612),
            (ENUM_FRAMESIZES, 0xc02c_564a),
        ];
        for (code, number) in numbers {
            assert_eq!(code, number, "{code:#x}");
        }
        assert_eq!(fourcc(u32::from_le_bytes(*b"YUYV")), "YUYV");
        assert_eq!(fourcc(u32::from_le_bytes(*b"Y8  ")), "Y8");
    }
}
