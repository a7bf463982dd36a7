//! The EGM96 geoid: 721 x 1440 undulations, a quarter of a degree apart.
//!
//! Two published layouts are read and distinguished by their size:
//!
//! - NGA `WW15MGH.DAC`, 2,076,480 bytes: big-endian 16-bit centimetres, north row first, from
//!   0 degrees eastwards (README of the NGA EGM96 distribution)
//! - PROJ `egm96_15.gtx`, 4,153,000 bytes: 40 bytes of header, then big-endian 32-bit floating
//!   point metres, south row first, from 180 degrees west eastwards (NOAA VDatum GTX format)
//!
//! Bilinear interpolation stays within 0.06 m of NGA's published test values, which were made
//! with a spline.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use groundwave_files::hex::hex;
use groundwave_model::terrain::GeoPoint;
use sha2::{Digest, Sha256};
use thiserror::Error;

const ROWS: usize = 721;
const COLUMNS: usize = 1440;
/// Posts in a degree.
const PER_DEG: f64 = 4.0;
const DAC_BYTES: u64 = (ROWS * COLUMNS * 2) as u64;
const GTX_HEADER_BYTES: usize = 40;
const GTX_BYTES: u64 = (GTX_HEADER_BYTES + ROWS * COLUMNS * 4) as u64;
/// Bounds of a plausible undulation (m). EGM96 spans -106.99 to 85.39; a file of the right
/// size that is something else, or in the wrong byte order, does not stay inside.
const PLAUSIBLE_M: std::ops::RangeInclusive<f32> = -110.0..=90.0;

/// Reasons for refusing a geoid file.
#[derive(Debug, Error)]
pub enum GeoidError {
    /// The file cannot be opened or read.
    #[error("geoid {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The content is not one of the two layouts.
    #[error("geoid {}: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Value found.
        source: BadGrid,
    },
}

/// Format errors of a geoid.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum BadGrid {
    /// Neither layout has this size.
    #[error(
        "invalid size: found {found} bytes, allowed {DAC_BYTES} (EGM96 WW15MGH.DAC) and {GTX_BYTES} (egm96_15.gtx)"
    )]
    Size {
        /// Size in bytes, or one more than the largest allowed when the file is longer.
        found: u64,
    },
    /// The size is that of a GTX grid but its header describes another one.
    #[error("invalid GTX header: found {found}, allowed {EXPECTED_HEADER}")]
    Header {
        /// The header as it was read.
        found: String,
    },
    /// A value that no undulation has.
    #[error("{found_m} m at row {row}, column {column}; allowed are -110 to 90 m")]
    Value {
        /// Row in the file, from 0.
        row: usize,
        /// Column in the file, from 0.
        column: usize,
        /// The value.
        found_m: f32,
    },
}

const EXPECTED_HEADER: &str =
    "lat -90, lon -180, steps 0.25 and 0.25 degrees, 721 rows, 1440 columns";

/// EGM96 undulations in memory (4 MB).
#[derive(Debug, Clone, PartialEq)]
pub struct Geoid {
    /// Metres; north row first, from 0 degrees eastwards.
    posts: Vec<f32>,
}

impl Geoid {
    /// SHA-256 digest of the undulations as big-endian 32-bit metres.
    #[must_use]
    pub fn digest(&self) -> String {
        let bytes: Vec<u8> = self.posts.iter().flat_map(|post| post.to_be_bytes()).collect();
        hex(&Sha256::digest(&bytes))
    }

    /// Reads a geoid file of either layout.
    ///
    /// # Errors
    /// When the file cannot be read or is neither layout.
    pub fn open(path: &Path) -> Result<Self, GeoidError> {
        let fail = |source| GeoidError::Read { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(fail)?;
        file.take(GTX_BYTES + 1).read_to_end(&mut bytes).map_err(fail)?;
        Self::decode(&bytes).map_err(|source| GeoidError::Format { path: path.to_owned(), source })
    }

    /// Decodes either layout.
    ///
    /// # Errors
    /// When the size is neither, the header of a GTX is another grid's, or a value is no
    /// undulation.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadGrid> {
        match bytes.len() as u64 {
            DAC_BYTES => Self::decode_dac(bytes),
            GTX_BYTES => Self::decode_gtx(bytes),
            bytes => Err(BadGrid::Size { found: bytes }),
        }
    }

    /// Height of the geoid above the WGS84 ellipsoid (m), bilinear between posts.
    #[must_use]
    pub fn undulation_m(&self, at: GeoPoint) -> f64 {
        let (row, v) = cell((90.0 - at.lat_deg()) * PER_DEG, ROWS - 1);
        let (column, u) = cell(at.lon_deg().rem_euclid(360.0) * PER_DEG, COLUMNS);
        let post = |row: usize, column: usize| {
            let post = self.posts.get(row * COLUMNS + column % COLUMNS);
            f64::from(post.copied().unwrap_or_default())
        };
        let blend = |row| post(row, column) * (1.0 - u) + post(row, column + 1) * u;
        blend(row) * (1.0 - v) + blend(row + 1) * v
    }

    fn decode_dac(bytes: &[u8]) -> Result<Self, BadGrid> {
        let (pairs, _) = bytes.as_chunks::<2>();
        let metres = |pair| f32::from(i16::from_be_bytes(pair)) / 100.0;
        let posts: Vec<f32> = pairs.iter().map(|&pair| metres(pair)).collect();
        check_values(&posts)?;
        Ok(Self { posts })
    }

    fn decode_gtx(bytes: &[u8]) -> Result<Self, BadGrid> {
        let (header, body) = bytes.split_at(GTX_HEADER_BYTES);
        check_gtx_header(header)?;
        let (quads, _) = body.as_chunks::<4>();
        let mut posts: Vec<f32> = quads.iter().map(|&quad| f32::from_be_bytes(quad)).collect();
        check_values(&posts)?;
        // Into the order of the DAC: turn the rows over and each row by half the Earth.
        for row in 0..ROWS / 2 {
            let (head, tail) = posts.split_at_mut((ROWS - 1 - row) * COLUMNS);
            head[row * COLUMNS..][..COLUMNS].swap_with_slice(&mut tail[..COLUMNS]);
        }
        for row in posts.chunks_exact_mut(COLUMNS) {
            row.rotate_left(COLUMNS / 2);
        }
        Ok(Self { posts })
    }
}

fn check_gtx_header(header: &[u8]) -> Result<(), BadGrid> {
    let (words, _) = header.as_chunks::<8>();
    let (counts, _) = header.as_chunks::<4>();
    let [lat, lon, lat_step, lon_step] =
        [0, 1, 2, 3].map(|i| words.get(i).map_or(f64::NAN, |&word| f64::from_be_bytes(word)));
    let [rows, columns] = [8, 9].map(|i| counts.get(i).map_or(0, |&word| i32::from_be_bytes(word)));
    let header = format!(
        "lat {lat}, lon {lon}, steps {lat_step} and {lon_step} degrees, {rows} rows, {columns} columns"
    );
    if header == EXPECTED_HEADER { Ok(()) } else { Err(BadGrid::Header { found: header }) }
}

fn check_values(posts: &[f32]) -> Result<(), BadGrid> {
    match posts.iter().position(|m| !PLAUSIBLE_M.contains(m)) {
        None => Ok(()),
        Some(i) => Err(BadGrid::Value { row: i / COLUMNS, column: i % COLUMNS, found_m: posts[i] }),
    }
}

/// The cell that `position`, in posts, lies in, and how far along it. The far edge belongs to
/// the last of the `cells`.
fn cell(position: f64, cells: usize) -> (usize, f64) {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most 1440 and not negative"
    )]
    let index = (position as u32).min(cells as u32 - 1);
    (index as usize, position - f64::from(index))
}

#[cfg(test)]
#[path = "geoid_tests.rs"]
mod tests;
