//! One tile: samples in their order, a predictor, a codec.

use std::io;

use super::super::pyramid::{TILE_SIDE, Tile};
use super::samples::rounded;
use super::{CogLayout, Compression, Samples, lerc};

const SIDE: usize = TILE_SIDE as usize;

/// Compresses a tile; what lies beyond the image is "no data".
///
/// # Errors
/// When the codec has no memory.
pub(super) fn encode(tile: &Tile, layout: &CogLayout) -> io::Result<Vec<u8>> {
    match layout.codec() {
        // Directly: what flate2 calls depends on the features of other crates, and so would bytes. Of others
        // fdeflate takes a quarter of the time and up to a third more room (benches/README.md).
        Compression::Deflate => {
            let bytes = predicted(tile, layout);
            Ok(miniz_oxide::deflate::compress_to_vec_zlib(&bytes, 1))
        }
        Compression::Zstd => zstd::bulk::compress(&predicted(tile, layout), 1),
        Compression::Lerc => lerc::encode(tile, layout),
    }
}

/// The bytes that are compressed: rows of [`TILE_SIDE`] cells, in each the samples of a cell
/// together, then what the predictor makes of them.
fn predicted(tile: &Tile, layout: &CogLayout) -> Vec<u8> {
    let (bands, samples) = (layout.bands.len(), layout.samples);
    let mut line = vec![f32::NAN; SIDE * bands];
    let mut predictor = Predictor::new(bands, samples, layout.is_rounded);
    let row_bytes = line.len() * samples.bytes();
    let mut bytes = vec![0; SIDE * row_bytes];
    let rows = if tile.cells.is_some() { tile.rows } else { 0 };
    for (row, out) in bytes.chunks_exact_mut(row_bytes).take(rows).enumerate() {
        let planes = tile.cells.iter().flat_map(|cells| cells.chunks_exact(tile.cols * tile.rows));
        for (band, plane) in planes.enumerate() {
            let cells = &plane[row * tile.cols..][..tile.cols];
            for (sample, &cell) in line[band..].iter_mut().step_by(bands).zip(cells) {
                *sample = cell;
            }
        }
        predictor.row(&line, out);
    }
    if rows < SIDE {
        line.fill(f32::NAN);
        let first = rows * row_bytes;
        predictor.row(&line, &mut bytes[first..first + row_bytes]);
        for row in rows + 1..SIDE {
            bytes.copy_within(first..first + row_bytes, row * row_bytes);
        }
    }
    bytes
}

/// Turns rows of samples into the bytes that are compressed.
struct Predictor {
    /// Samples from one of a band to the next of the same.
    stride: usize,
    samples: Samples,
    is_rounded: bool,
    bits: Vec<u32>,
    planes: Vec<u8>,
}

impl Predictor {
    fn new(stride: usize, samples: Samples, is_rounded: bool) -> Self {
        Self { stride, samples, is_rounded, bits: Vec::new(), planes: Vec::new() }
    }

    fn row(&mut self, line: &[f32], out: &mut [u8]) {
        match self.samples {
            Samples::F32 => self.floating(line, out),
            Samples::U8 => self.differences(line, 255, out, |v| [v as u8]),
            Samples::U16 => self.differences(line, 65_535, out, |v| (v as u16).to_le_bytes()),
            Samples::I16 => self.differences(line, -32_768, out, |v| (v as u16).to_le_bytes()),
        }
    }

    /// TIFF 6.0, section 14: each sample less the one before, modulo the size of a sample.
    fn differences<const N: usize>(
        &mut self,
        line: &[f32],
        nodata: i32,
        out: &mut [u8],
        bytes: impl Fn(i32) -> [u8; N],
    ) {
        self.bits.clear();
        self.bits.extend(line.iter().map(|&value| whole(value, nodata) as u32));
        let (places, _) = out.as_chunks_mut::<N>();
        let (head, tail) = places.split_at_mut(self.stride.min(line.len()));
        for (place, &value) in head.iter_mut().zip(&self.bits) {
            *place = bytes(value as i32);
        }
        let pairs = self.bits[head.len()..].iter().zip(&self.bits);
        for (place, (&value, &before)) in tail.iter_mut().zip(pairs) {
            *place = bytes(value.wrapping_sub(before) as i32);
        }
    }

    /// TIFF Technical Note 3: the bytes of all samples, most significant first, are gathered plane
    /// by plane, and each byte of the row is written less the one `stride` before.
    fn floating(&mut self, line: &[f32], out: &mut [u8]) {
        self.bits.clear();
        let is_rounded = self.is_rounded;
        self.bits.extend(line.iter().map(|&value| {
            let value = if is_rounded { rounded(value) } else { value };
            // One NaN for all, whatever its sign and payload were.
            if value.is_nan() { NAN_BITS } else { value.to_bits() }
        }));
        self.planes.resize(4 * line.len(), 0);
        for (plane, shift) in self.planes.chunks_exact_mut(line.len()).zip([24, 16, 8, 0]) {
            for (byte, bits) in plane.iter_mut().zip(&self.bits) {
                *byte = (bits >> shift) as u8;
            }
        }
        let planes = &self.planes;
        let first = self.stride.min(planes.len());
        out[..first].copy_from_slice(&planes[..first]);
        let pairs = planes[first..].iter().zip(planes);
        for (out, (value, before)) in out[first..].iter_mut().zip(pairs) {
            *out = value.wrapping_sub(*before);
        }
    }
}

const NAN_BITS: u32 = 0x7fc0_0000;

/// The nearest whole number, half away from zero.
fn whole(value: f32, nodata: i32) -> i32 {
    if value.is_nan() {
        return nodata;
    }
    // Not `round`, which is a call on processors without SSE4.1.
    let towards_zero = value as i32;
    let rest = value - towards_zero as f32;
    towards_zero + i32::from(rest >= 0.5) - i32::from(rest <= -0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predict(line: &[f32], stride: usize, samples: Samples) -> Vec<u8> {
        let mut out = vec![0; line.len() * samples.bytes()];
        Predictor::new(stride, samples, false).row(line, &mut out);
        out
    }

    #[test]
    fn integers_become_differences() {
        let line = [3.0, 5.0, 4.4, f32::NAN];
        assert_eq!(predict(&line, 1, Samples::U8), [3, 2, 255, 251]);
        let line = [1.0, -2.0, 300.0, -1.0];
        let expected = [1, 0, 0xfe, 0xff, 0x2b, 1, 1, 0];
        assert_eq!(predict(&line, 2, Samples::I16), expected);
    }

    #[test]
    fn floats_become_differences_of_byte_planes() {
        // 1.0 is 3f800000, 2.5 is 40200000.
        let expected = [0x3f, 1, 0x40, 0xa0, 0xe0, 0, 0, 0];
        assert_eq!(predict(&[1.0, 2.5], 1, Samples::F32), expected);
        let expected = [0x7f, 0x41, 0x40, 0];
        assert_eq!(predict(&[-f32::NAN], 1, Samples::F32), expected);
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        for value in [0.0, 0.4, 0.5, -0.5, 1.5, 2.5, -2.5, 0.499_999_97, 65_534.4, -32_767.5] {
            assert_eq!(whole(value, 0), value.round() as i32, "{value}");
        }
        assert_eq!(whole(f32::NAN, 255), 255);
    }
}
