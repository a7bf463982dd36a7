//! Cameras of this machine: Video4Linux devices, by the kernel's interface (videodev2.h).
#![expect(unsafe_code, reason = "ioctl and mmap have no safe form; layouts are checked by a test")]

mod capture;
mod device;
mod layout;

pub use capture::{Wanted, read_v4l2};
pub use device::{DeviceFormat, VideoDevice, detect, is_device, is_present};
