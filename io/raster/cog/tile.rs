//! One tile: samples in their order, a predictor, Deflate.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::{Samples, TILE_SIDE};

const SIDE: usize = TILE_SIDE as usize;

/// A stretch of rows of one image, the rows one after another, in each row band after band.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strip<'a> {
    /// All cells of the rows.
    pub cells: &'a [f32],
    /// Columns of the image.
    pub cols: usize,
    /// Bands of the image.
    pub bands: usize,
    /// Type to write.
    pub samples: Samples,
}

impl Strip<'_> {
    /// Columns of tiles.
    pub fn tiles(self) -> usize {
        self.cols.div_ceil(SIDE)
    }

    /// Compresses the tile in column `index` of tiles; what lies beyond the image is "no data".
    ///
    /// # Errors
    /// None that is known: the stream goes to memory.
    pub fn encode(self, index: usize) -> io::Result<Vec<u8>> {
        let left = index * SIDE;
        let right = self.cols.min(left + SIDE);
        let row_bytes = SIDE * self.bands * self.samples.bytes();
        let mut deflate = ZlibEncoder::new(Vec::new(), Compression::default());
        let mut line = vec![f32::NAN; SIDE * self.bands];
        let mut bytes = Vec::with_capacity(row_bytes);
        for row in self.cells.chunks(self.cols * self.bands) {
            for band in 0..self.bands {
                let cells = &row[band * self.cols..][left..right];
                for (sample, &cell) in line[band..].iter_mut().step_by(self.bands).zip(cells) {
                    *sample = cell;
                }
            }
            bytes.clear();
            predict(&line, self.bands, self.samples, &mut bytes);
            deflate.write_all(&bytes)?;
        }
        line.fill(f32::NAN);
        bytes.clear();
        predict(&line, self.bands, self.samples, &mut bytes);
        for _ in self.cells.len() / (self.cols * self.bands)..SIDE {
            deflate.write_all(&bytes)?;
        }
        deflate.finish()
    }
}

/// A row of samples as the bytes that are compressed. `stride` samples lie between a sample and
/// the next of its band.
fn predict(line: &[f32], stride: usize, samples: Samples, out: &mut Vec<u8>) {
    match samples {
        Samples::F32 => floating(line, stride, out),
        Samples::U8 => differences(line, stride, 255, 0xff, out, |v| [v as u8]),
        Samples::U16 => differences(line, stride, 65_535, 0xffff, out, |v| {
            (v as u16).to_le_bytes()
        }),
        Samples::I16 => differences(line, stride, -32_768, 0xffff, out, |v| {
            (v as u16).to_le_bytes()
        }),
    }
}

/// TIFF 6.0, section 14: each sample less the one before, modulo the size of a sample.
fn differences<const N: usize>(
    line: &[f32],
    stride: usize,
    nodata: i32,
    mask: i32,
    out: &mut Vec<u8>,
    bytes: impl Fn(i32) -> [u8; N],
) {
    let whole = |value: f32| {
        if value.is_nan() {
            nodata
        } else {
            value.round() as i32
        }
    };
    for (at, &value) in line.iter().enumerate() {
        let before = at
            .checked_sub(stride)
            .map_or(0, |before| whole(line[before]));
        out.extend_from_slice(&bytes((whole(value) - before) & mask));
    }
}

/// TIFF Technical Note 3: the bytes of all samples, most significant first, are gathered plane
/// by plane, and each byte of the row is written less the one `stride` before.
fn floating(line: &[f32], stride: usize, out: &mut Vec<u8>) {
    let start = out.len();
    for shift in [24, 16, 8, 0] {
        out.extend(line.iter().map(|&value| {
            // One NaN for all, whatever its sign and payload were.
            let bits = if value.is_nan() {
                NAN_BITS
            } else {
                value.to_bits()
            };
            (bits >> shift) as u8
        }));
    }
    let row = &mut out[start..];
    for at in (stride..row.len()).rev() {
        row[at] = row[at].wrapping_sub(row[at - stride]);
    }
}

const NAN_BITS: u32 = 0x7fc0_0000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_become_differences() {
        let mut out = Vec::new();
        predict(&[3.0, 5.0, 4.4, f32::NAN], 1, Samples::U8, &mut out);
        assert_eq!(out, [3, 2, 255, 251]);
        out.clear();
        predict(&[1.0, -2.0, 300.0, -1.0], 2, Samples::I16, &mut out);
        assert_eq!(out, [1, 0, 0xfe, 0xff, 0x2b, 1, 1, 0]);
    }

    #[test]
    fn floats_become_differences_of_byte_planes() {
        let mut out = Vec::new();
        // 1.0 is 3f800000, 2.5 is 40200000.
        predict(&[1.0, 2.5], 1, Samples::F32, &mut out);
        assert_eq!(out, [0x3f, 1, 0x40, 0xa0, 0xe0, 0, 0, 0]);
        out.clear();
        predict(&[-f32::NAN], 1, Samples::F32, &mut out);
        assert_eq!(out, [0x7f, 0x41, 0x40, 0]);
    }
}
