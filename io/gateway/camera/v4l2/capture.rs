//! Capture from a video device through mapped buffers.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use groundwave_files::wall::monotonic_ns;
use hyper::body::Bytes;
use tokio::sync::mpsc;

use super::layout::{
    Buffer, CAPTURE, DAMAGED, DQBUF, Format, MMAP, QBUF, QUERYBUF, REQBUFS, RequestBuffers, S_FMT,
    STREAMON, fourcc, open, request, zeroed,
};
use crate::camera::Deliver;
use crate::camera::error::CameraError;
use crate::camera::ffmpeg::{Input, WAITING_MAX, convert, find_ffmpeg};
use crate::camera::frames::FrameReader;

/// Number of requested buffers.
const BUFFERS: u32 = 4;
/// Longest wait for a frame, ms.
const WAIT_MS: i32 = 5_000;

/// Mapped buffer of a device.
struct Mapped {
    start: *mut libc::c_void,
    length: usize,
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for Mapped {}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: start and length are those of the mapping.
        unsafe { libc::munmap(self.start, self.length) };
    }
}

impl Mapped {
    fn bytes(&self, used: usize) -> &[u8] {
        // SAFETY: the kernel fills at most `length` bytes, and not while the buffer is ours.
        unsafe { std::slice::from_raw_parts(self.start.cast(), used.min(self.length)) }
    }
}

/// Capture from a device.
struct Capture {
    file: File,
    buffers: Vec<Mapped>,
    /// `MJPG`, `JPEG` or `YUYV`.
    fourcc: String,
    width: u32,
    height: u32,
    /// Bytes from a line to the next one, at least those of a line.
    line_bytes: usize,
}

const MJPG: u32 = u32::from_le_bytes(*b"MJPG");
const JPEG: u32 = u32::from_le_bytes(*b"JPEG");
const YUYV: u32 = u32::from_le_bytes(*b"YUYV");

impl Capture {
    /// Starts to capture: as JPEG where the device has it, else as YUYV.
    fn start(path: &Path, width: u32, height: u32) -> io::Result<Self> {
        let file = open(path)?;
        let device = file.as_raw_fd();
        let mut set: Option<Format> = None;
        for pixelformat in [MJPG, JPEG, YUYV] {
            let mut format: Format = zeroed();
            format.kind = CAPTURE;
            (format.width, format.height, format.pixelformat) = (width, height, pixelformat);
            // SAFETY: S_FMT takes a Format.
            unsafe { request(device, S_FMT, &mut format)? };
            if format.pixelformat == pixelformat {
                set = Some(format);
                break;
            }
        }
        let set = set.ok_or_else(|| io::Error::other("neither MJPG nor YUYV"))?;
        let mut pool: RequestBuffers = zeroed();
        (pool.count, pool.kind, pool.memory) = (BUFFERS, CAPTURE, MMAP);
        // SAFETY: REQBUFS takes a RequestBuffers.
        unsafe { request(device, REQBUFS, &mut pool)? };
        let mut buffers = Vec::new();
        for index in 0..pool.count {
            let mut buffer: Buffer = zeroed();
            (buffer.index, buffer.kind, buffer.memory) = (index, CAPTURE, MMAP);
            // SAFETY: QUERYBUF takes a Buffer.
            unsafe { request(device, QUERYBUF, &mut buffer)? };
            let length = buffer.length as usize;
            // The union holds an offset of 32 bits.
            let offset = (buffer.offset & 0xffff_ffff) as libc::off_t;
            let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
            // SAFETY: length and offset are those that the kernel names for this buffer.
            let start = unsafe {
                libc::mmap(std::ptr::null_mut(), length, protection, flags, device, offset)
            };
            if start == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            buffers.push(Mapped { start, length });
            // SAFETY: QBUF takes a Buffer.
            unsafe { request(device, QBUF, &mut buffer)? };
        }
        let mut kind = CAPTURE as i32;
        // SAFETY: STREAMON takes an int.
        unsafe { request(device, STREAMON, &mut kind)? };
        Ok(Self {
            file,
            buffers,
            fourcc: fourcc(set.pixelformat),
            width: set.width,
            height: set.height,
            line_bytes: set.bytesperline as usize,
        })
    }

    /// The next picture; `None` for a damaged one.
    fn next(&mut self) -> io::Result<Option<Bytes>> {
        let device = self.file.as_raw_fd();
        let mut ready = libc::pollfd { fd: device, events: libc::POLLIN, revents: 0 };
        // SAFETY: one pollfd, which lives for the call.
        let count = unsafe { libc::poll(&raw mut ready, 1, WAIT_MS) };
        match count {
            0 => return Err(io::ErrorKind::TimedOut.into()),
            count if count < 0 => return Err(io::Error::last_os_error()),
            _ => {}
        }
        let mut buffer: Buffer = zeroed();
        (buffer.kind, buffer.memory) = (CAPTURE, MMAP);
        // SAFETY: DQBUF takes a Buffer.
        unsafe { request(device, DQBUF, &mut buffer)? };
        let mapping = self.buffers.get(buffer.index as usize);
        let used = buffer.bytesused as usize;
        let mapping = mapping.filter(|_| buffer.flags & DAMAGED == 0);
        let picture = mapping.and_then(|mapping| self.picture(mapping.bytes(used)));
        // SAFETY: QBUF takes a Buffer.
        unsafe { request(device, QBUF, &mut buffer)? };
        Ok(picture)
    }

    fn is_raw(&self) -> bool {
        self.fourcc == "YUYV"
    }

    /// Copy of a picture, of a raw one without what fills its lines up; `None` for one that is too
    /// short.
    fn picture(&self, bytes: &[u8]) -> Option<Bytes> {
        match self.is_raw() {
            true => packed(bytes, self.width as usize * 2, self.line_bytes, self.height),
            false => Some(Bytes::copy_from_slice(bytes)),
        }
    }
}

/// Lines of `width_bytes`, each at a multiple of `line_bytes`.
fn packed(bytes: &[u8], width_bytes: usize, line_bytes: usize, height: u32) -> Option<Bytes> {
    let line_bytes = line_bytes.max(width_bytes);
    let mut picture = Vec::with_capacity(width_bytes * height as usize);
    for line in 0..height as usize {
        let start = line * line_bytes;
        picture.extend_from_slice(bytes.get(start..start + width_bytes)?);
    }
    Some(picture.into())
}

/// Requested capture of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// Most pictures a second that are encoded, where the device sends none as JPEG.
    pub fps: u32,
}

/// Times at which pictures are taken of a faster device.
struct Schedule {
    interval_ns: u64,
    due_ns: u64,
}

impl Schedule {
    fn new(fps: u32) -> Self {
        Self { interval_ns: 1_000_000_000 / u64::from(fps.max(1)), due_ns: 0 }
    }

    /// `true` if the picture of a time, ns, is taken.
    fn takes(&mut self, now_ns: u64) -> bool {
        let is_due = now_ns >= self.due_ns;
        if is_due {
            self.due_ns = (self.due_ns + self.interval_ns).max(now_ns);
        }
        is_due
    }
}

/// Reads frames of a device until it fails, and hands each to `deliver`.
///
/// # Errors
/// The reason of the end.
pub async fn read_v4l2(
    device: &str,
    settings: Wanted,
    deliver: Deliver<'_>,
) -> Result<(), CameraError> {
    let failed = |cause| CameraError::Device { device: device.to_owned(), cause };
    let path = std::path::PathBuf::from(device);
    let start = move || Capture::start(&path, settings.width, settings.height);
    let started = tokio::task::spawn_blocking(start).await;
    let mut capture = started.map_err(|err| failed(io::Error::other(err)))?.map_err(failed)?;
    let input = Input::Yuyv { width: capture.width, height: capture.height };
    let is_raw = capture.is_raw();
    if is_raw && find_ffmpeg().is_none() {
        return Err(CameraError::NoDecoder("YUYV"));
    }
    let (sender, mut receiver) = mpsc::channel::<Bytes>(if is_raw { 2 } else { WAITING_MAX });
    // Ends when its receiver is gone.
    let captured = tokio::task::spawn_blocking(move || -> io::Result<()> {
        let mut schedule = Schedule::new(settings.fps);
        loop {
            let picture = capture.next()?;
            if sender.is_closed() {
                return Ok(());
            }
            if let Some(picture) = picture
                && (!is_raw || schedule.takes(monotonic_ns()))
            {
                // A picture that finds no space is older than the next one.
                let _ = sender.try_send(picture);
            }
        }
    });
    let delivery = async {
        if is_raw {
            return convert(input, receiver, deliver).await;
        }
        let mut reader = FrameReader::new();
        while let Some(picture) = receiver.recv().await {
            reader.push(&picture, deliver)?;
        }
        Ok(())
    };
    delivery.await?;
    let ended = captured.await.map_err(|err| failed(io::Error::other(err)))?;
    ended.map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_device_is_slowed_down() {
        // 30 pictures a second that come a little early or late.
        let arrivals = (0..300_u64).map(|number| 7_000_000_000 + number * 33_333_333 + number % 3);
        let mut schedule = Schedule::new(10);
        let taken = arrivals.clone().filter(|now_ns| schedule.takes(*now_ns)).count();
        assert!((99..=102).contains(&taken), "{taken}");
        let mut schedule = Schedule::new(60);
        assert_eq!(arrivals.filter(|now_ns| schedule.takes(*now_ns)).count(), 300);
    }

    #[test]
    fn what_fills_lines_up_is_left_out() {
        let bytes: Vec<u8> = (0..12).collect();
        assert_eq!(packed(&bytes, 4, 4, 3).unwrap(), bytes);
        assert_eq!(packed(&bytes, 4, 0, 3).unwrap(), bytes);
        assert_eq!(packed(&bytes, 4, 6, 2).unwrap(), [0, 1, 2, 3, 6, 7, 8, 9][..]);
        assert_eq!(packed(&bytes, 4, 4, 4), None);
    }
}
