//! Packing of entries: zstd frames, cut at every commit.

use std::io::{self, Write};

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};
use zstd::stream::write::Encoder;

use crate::limits::LOG_FRAME_BYTES_MAX;

/// zstd's own default: three quarters off a log at 300 MB/s.
const LEVEL: i32 = 3;
/// Most bytes a chunk may unpack to: the longest entry behind a full buffer of others.
const UNPACKED_BYTES_MAX: usize = 2 * LOG_FRAME_BYTES_MAX;
/// Largest window of a frame, as a power of 2: level 3 writes 21 at most.
const WINDOW_LOG_MAX: u32 = 23;

/// Packs the entries of one frame after the other.
pub struct Packer(Encoder<'static, Vec<u8>>);

impl Packer {
    /// At the beginning of a frame.
    pub fn fresh() -> io::Result<Self> {
        Encoder::new(Vec::new(), LEVEL).map(Self)
    }

    /// Everything that can be read up to the end of `entries`, and was not given out yet.
    pub fn pack(&mut self, entries: &[u8]) -> io::Result<Vec<u8>> {
        self.0.write_all(entries)?;
        self.0.flush()?;
        Ok(std::mem::take(self.0.get_mut()))
    }
}

/// Unpacks what a [`Packer`] packed.
pub struct Unpacker(Decoder<'static>);

impl Unpacker {
    pub fn new() -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))?;
        Ok(Self(decoder))
    }

    /// Forgets the frame so far.
    pub fn fresh(&mut self) -> io::Result<()> {
        self.0.reinit()
    }

    /// Appends the entries in `packed` to `out`.
    pub fn unpack(&mut self, packed: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let before = out.len();
        let mut input = InBuffer::around(packed);
        let mut part = [0; 32 << 10];
        loop {
            let mut output = OutBuffer::around(&mut part[..]);
            self.0.run(&mut input, &mut output)?;
            let full = output.pos() == output.capacity();
            out.extend_from_slice(output.as_slice());
            if out.len() - before > UNPACKED_BYTES_MAX {
                return Err(io::Error::other("a chunk unpacks to more than any entry"));
            }
            if input.pos() == packed.len() && !full {
                return Ok(());
            }
        }
    }
}
