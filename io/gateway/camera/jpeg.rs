//! JPEG frames in a stream of bytes: multipart parts, a decoder's output, a buffer of a camera.
//!
//! Boundaries follow from the markers (ITU-T T.81, annex B), so that neither the headers of parts nor
//! thumbnails inside segments matter, and only whole frames are handed on.

use hyper::body::Bytes;

/// Longest frame, bytes.
pub const FRAME_BYTES_MAX: usize = 2 << 20;

/// Finder of frames in a stream.
#[derive(Debug, Default)]
pub struct FrameSplitter {
    data: Vec<u8>,
    /// Position in `data` up to which it was read.
    at: usize,
    phase: Phase,
    /// A scan was seen: without one there is no picture.
    has_scan: bool,
    /// Number of frames that were dropped because of their length.
    too_long: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    /// Before the start of a frame.
    #[default]
    Outside,
    /// At a marker.
    Marker,
    /// In entropy-coded data.
    Scan,
}

const START: [u8; 2] = [0xff, 0xd8];

impl FrameSplitter {
    /// Adds bytes; returns the frames that are complete with them.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Bytes> {
        self.data.extend_from_slice(bytes);
        let mut frames = Vec::new();
        loop {
            let is_done = match self.phase {
                Phase::Outside => !self.begin(),
                Phase::Marker => match self.marker() {
                    Step::Wait => true,
                    Step::On => false,
                    Step::Frame(frame) => {
                        frames.push(frame);
                        false
                    }
                },
                Phase::Scan => !self.scan(),
            };
            if is_done {
                break;
            }
        }
        if self.phase != Phase::Outside && self.data.len() > FRAME_BYTES_MAX {
            self.too_long += 1;
            self.data.clear();
            (self.at, self.phase) = (0, Phase::Outside);
        }
        frames
    }

    /// Number of frames that were dropped because of their length since the last call.
    pub fn take_too_long(&mut self) -> u32 {
        std::mem::take(&mut self.too_long)
    }

    /// Finds the start of a frame and drops what is before it.
    fn begin(&mut self) -> bool {
        let start = self.data.windows(2).position(|pair| pair == START);
        if let Some(start) = start {
            self.data.drain(..start);
            (self.at, self.phase, self.has_scan) = (2, Phase::Marker, false);
            return true;
        }
        let keeps_last = self.data.last() == Some(&0xff);
        let most = self.data.len() - usize::from(keeps_last);
        self.data.drain(..most);
        false
    }

    /// Drops the start of a frame that is none.
    fn drop_start(&mut self) {
        self.data.drain(..2);
        (self.at, self.phase) = (0, Phase::Outside);
    }

    /// Reads a marker with its segment.
    fn marker(&mut self) -> Step {
        // Fill bytes, B.1.1.2.
        while self.data.get(self.at..self.at + 2) == Some(&[0xff, 0xff]) {
            self.at += 1;
        }
        let Some(&[mark, code]) = self.data.get(self.at..self.at + 2) else {
            return Step::Wait;
        };
        match (mark, code) {
            (0xff, 0xd9) if self.has_scan => {
                let rest = self.data.split_off(self.at + 2);
                let frame = std::mem::replace(&mut self.data, rest);
                (self.at, self.phase) = (0, Phase::Outside);
                match frame.len() <= FRAME_BYTES_MAX {
                    true => Step::Frame(frame.into()),
                    false => {
                        self.too_long += 1;
                        Step::On
                    }
                }
            }
            // The rest of the frame is lost: this is the next one, and not a thumbnail.
            (0xff, 0xd8) if self.has_scan => {
                self.data.drain(..self.at);
                (self.at, self.has_scan) = (2, false);
                Step::On
            }
            (0xff, 0x01 | 0xd0..=0xd7) => {
                self.at += 2;
                Step::On
            }
            (0xff, 0xc0..=0xcf | 0xda..=0xef | 0xfe) => {
                let Some(&[high, low]) = self.data.get(self.at + 2..self.at + 4) else {
                    return Step::Wait;
                };
                let length = usize::from(u16::from_be_bytes([high, low]));
                if length < 2 {
                    self.drop_start();
                    return Step::On;
                }
                self.at += 2 + length;
                if code == 0xda {
                    (self.phase, self.has_scan) = (Phase::Scan, true);
                }
                Step::On
            }
            _ => {
                self.drop_start();
                Step::On
            }
        }
    }

    /// Reads entropy-coded data up to a marker that ends it.
    fn scan(&mut self) -> bool {
        while let Some(&[mark, code]) = self.data.get(self.at..self.at + 2) {
            match (mark, code) {
                // Stuffed zeros, fill bytes and restart markers belong to the data.
                (0xff, 0x00 | 0xd0..=0xd7) => self.at += 2,
                (0xff, 0xff) => self.at += 1,
                (0xff, _) => {
                    self.phase = Phase::Marker;
                    return true;
                }
                _ => self.at += 1,
            }
        }
        false
    }
}

enum Step {
    /// More bytes are needed.
    Wait,
    /// Read on.
    On,
    /// A frame is complete.
    Frame(Bytes),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A frame: a segment with a thumbnail in it, a scan with stuffing and restarts.
    fn frame(fill: u8) -> Vec<u8> {
        let thumbnail = [0xff, 0xd8, 0xff, 0xda, 0, 2, 1, 0xff, 0xd9];
        let mut frame = vec![0xff, 0xd8, 0xff, 0xe0, 0, 2 + thumbnail.len() as u8];
        frame.extend(thumbnail);
        frame.extend([0xff, 0xff, 0xc0, 0, 3, fill, 0xff, 0xda, 0, 3, 1]);
        frame.extend([fill, 0xff, 0x00, fill, 0xff, 0xd3, fill, 0xff, 0xd9]);
        frame
    }

    #[test]
    fn frames_are_found_between_headers_of_parts() {
        let mut stream = b"--b\r\nContent-Type: application/octet-stream\r\n\r\n".to_vec();
        for fill in [1, 2, 3] {
            stream.extend(frame(fill));
            stream.extend(b"\r\n--b\r\nContent-Length: 99\r\n\r\n");
        }
        for step in [1, 2, 3, 7, stream.len()] {
            let mut splitter = FrameSplitter::default();
            let frames: Vec<_> = stream.chunks(step).flat_map(|part| splitter.push(part)).collect();
            assert_eq!(frames, [frame(1), frame(2), frame(3)], "{step}");
        }
    }

    #[test]
    fn damaged_and_endless_frames_are_dropped() {
        let mut splitter = FrameSplitter::default();
        // Cut off in its scan, by the next frame's start.
        let mut cut = frame(1);
        cut.truncate(cut.len() - 3);
        cut.extend(frame(2));
        assert_eq!(splitter.push(&cut), [frame(2)]);
        // Without a scan; with a segment of no length.
        assert!(splitter.push(&[0xff, 0xd8, 0xff, 0xd9]).is_empty());
        assert!(splitter.push(&[0xff, 0xd8, 0xff, 0xe0, 0, 1]).is_empty());
        assert_eq!(splitter.push(&frame(3)), [frame(3)]);
        let mut endless = frame(4);
        endless.truncate(endless.len() - 2);
        assert!(splitter.push(&endless).is_empty());
        for _ in 0..33 {
            assert!(splitter.push(&[7; 64 << 10]).is_empty());
        }
        assert!(splitter.data.len() <= FRAME_BYTES_MAX);
        assert_eq!(splitter.push(&frame(5)), [frame(5)]);
    }

    proptest! {
        #[test]
        fn any_bytes_give_whole_frames_alone(parts in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..40),
                any::<u8>().prop_map(frame),
                Just(vec![0xff, 0xd8, 0xff]),
            ], 0..12)) {
            let stream = parts.concat();
            let mut splitter = FrameSplitter::default();
            let mut frames: Vec<Bytes> = Vec::new();
            for part in stream.chunks(5) {
                frames.extend(splitter.push(part));
            }
            let mut whole = FrameSplitter::default();
            prop_assert_eq!(&whole.push(&stream), &frames);
            for frame in &frames {
                prop_assert_eq!(&frame[..2], &START[..]);
                prop_assert_eq!(&frame[frame.len() - 2..], &[0xff, 0xd9][..]);
            }
        }
    }
}
