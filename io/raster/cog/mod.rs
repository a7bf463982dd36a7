//! Cloud-optimised GeoTIFF.
//!
//! Format: TIFF 6.0 with its supplement on Deflate, TIFF Technical Note 3 (floating-point
//! predictor), the BigTIFF extension, OGC GeoTIFF 1.1 (19-008r4), and the layout that GDAL
//! documents for its COG driver: all directories first, then the tiles of the smallest overview,
//! and so on to those of the full raster, each tile between a leader with its size and a trailer
//! with its last four bytes repeated.
//!
//! The raster is read once. Compressed tiles wait in a spool file until the sizes of all are
//! known, so that memory stays below 8 KiB for each column and band whatever the number of rows.

mod directory;
mod field;
mod metadata;
mod pyramid;
mod samples;
mod tile;

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::num::NonZeroUsize;
use std::path::Path;

pub use samples::Samples;

use self::directory::{Header, Image};
use self::pyramid::Pyramid;
use super::atomic::PartFile;
use super::error::RasterError;
use super::geometry::GridGeometry;
use super::grid::{Resampling, Rows};

/// Side of a tile (cells); overviews are added until one fits into a tile.
pub const TILE_SIDE: u32 = 512;

/// Bands in one file, so that a strip of a wide raster stays within memory.
pub const BANDS_MAX: usize = 32;

/// One layer of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Band {
    /// Quantity of the band, e.g. `rx power`.
    pub name: String,
    /// The unit of its values, e.g. `dBm`; empty for categories and counts.
    pub unit: String,
    /// Method by which overviews are computed.
    pub resampling: Resampling,
}

/// Content of the file besides the cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CogLayout {
    /// Type of all samples; it settles what stands for "no data".
    pub samples: Samples,
    /// The layers, 1 to [`BANDS_MAX`].
    pub bands: Vec<Band>,
    /// Remarks on the whole raster, key and value, e.g. `SITE_3` and `Ramberget`.
    pub remarks: Vec<(String, String)>,
    /// Threads that compress; the bytes do not depend on it.
    pub threads: NonZeroUsize,
    /// `true` writes 8-byte offsets even where 4 bytes suffice. Beyond 4 GiB they always have 8.
    pub always_big: bool,
}

impl CogLayout {
    /// One band, one thread, no remarks.
    #[must_use]
    pub fn single(samples: Samples, name: &str, unit: &str, resampling: Resampling) -> Self {
        let (name, unit) = (name.to_owned(), unit.to_owned());
        Self {
            samples,
            bands: vec![Band {
                name,
                unit,
                resampling,
            }],
            remarks: Vec::new(),
            threads: NonZeroUsize::MIN,
            always_big: false,
        }
    }
}

/// Properties of a finished file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CogFacts {
    /// Size of the file, bytes.
    pub bytes: u64,
    /// Number of overviews.
    pub overviews: usize,
    /// `true` if offsets have 8 bytes (BigTIFF).
    pub is_big: bool,
}

/// Writes `source` as `path`. Categories and integers are rounded to whole numbers, half away
/// from zero; values of [`Samples::F32`] are kept to the bit.
///
/// # Errors
/// When the raster is impossible, the source or the disk fails, a cell does not fit the samples
/// (infinite, out of range, or the value that says "no data"), or a name has a control character
/// in it. Nothing is then left of the file.
pub fn write_cog(
    path: &Path,
    geometry: GridGeometry,
    layout: &CogLayout,
    source: &mut dyn Rows,
) -> Result<CogFacts, RasterError> {
    let geometry = geometry.check()?;
    metadata::check_texts(layout)?;
    let mut part = PartFile::create(path)?;
    let mut pyramid = Pyramid::new(geometry, layout, PartFile::scratch(path)?);
    let mut cells = vec![f32::NAN; layout.bands.len() * geometry.cols as usize];
    for row in 0..geometry.rows {
        source
            .read(row, &mut cells)
            .map_err(|source| RasterError::ReadRow { row, source })?;
        check_cells(row, &cells, geometry.cols, layout.samples)?;
        pyramid.push(&cells)?;
    }
    let (images, mut spool) = pyramid.finish();
    let header = Header::new(geometry, layout, &images);
    let written = assemble(&mut part, &header, &images, &mut spool);
    written.map_err(part.failed())?;
    part.commit()?;
    Ok(CogFacts {
        bytes: header.file_bytes,
        overviews: images.len() - 1,
        is_big: header.is_big,
    })
}

fn check_cells(row: u32, cells: &[f32], cols: u32, samples: Samples) -> Result<(), RasterError> {
    let Some(at) = cells.iter().position(|&value| !samples.holds(value)) else {
        return Ok(());
    };
    let cols = cols as usize;
    Err(RasterError::BadCell {
        row,
        col: u32::try_from(at % cols).unwrap_or(u32::MAX),
        band: at / cols,
        value: cells[at],
        samples: samples.name(),
    })
}

/// The header, then all tiles, the smallest image first.
fn assemble(
    out: &mut PartFile,
    header: &Header,
    images: &[Image],
    spool: &mut PartFile,
) -> io::Result<()> {
    out.write_all(&header.bytes)?;
    let spool = spool.flushed()?;
    let mut tile = Vec::new();
    for stored in images.iter().rev().flat_map(|image| &image.tiles) {
        tile.resize(stored.bytes as usize, 0);
        spool.seek(SeekFrom::Start(stored.spool_offset))?;
        spool.read_exact(&mut tile)?;
        out.write_all(&stored.bytes.to_le_bytes())?;
        out.write_all(&tile)?;
        // Zlib streams are longer than 4 bytes: 2 of head, 4 of checksum.
        out.write_all(&tile[tile.len().saturating_sub(4)..])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
