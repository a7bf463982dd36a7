//! Cloud-optimised GeoTIFF.
//!
//! Format: TIFF 6.0 with its supplement on Deflate, TIFF Technical Note 3 (floating-point
//! predictor), LERC as Esri registered it, the BigTIFF extension, OGC GeoTIFF 1.1 (19-008r4), and the layout that GDAL
//! documents for its COG driver: all directories first, then the tiles of the smallest overview,
//! and so on to those of the full raster, each tile between a leader with its size and a trailer
//! with its last four bytes repeated.
//!
//! Tiles come in any order and from any thread. Compressed ones wait in a spool file until the
//! sizes of all are known; the file has them in their order.

mod directory;
mod field;
mod lerc;
mod metadata;
mod samples;
mod tile;
mod writer;

use std::path::Path;

use rayon::prelude::*;

pub use samples::Samples;
pub use writer::CogWriter;

use super::error::RasterError;
use super::geometry::GridGeometry;
use super::grid::{Resampling, Rows};
use super::metric::MetricGeometry;
pub use super::pyramid::TILE_SIDE;
use super::pyramid::{Cells, Pyramid, Window};

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

/// Codecs of tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// Deflate: every reader has it.
    #[default]
    Deflate,
    /// Zstandard: a third of the time; GDAL 2.3 and later, libtiff 4.0.10 and later.
    Zstd,
    /// LERC within Zstandard, for samples of [`Samples::F32`]; others take Deflate, which packs
    /// categories better. GDAL 2.4 and later.
    Lerc,
}

impl Compression {
    /// Value of the TIFF tag Compression: Deflate as Adobe registered it, Zstandard as libtiff did, LERC
    /// as Esri did.
    pub(super) const fn tag(self) -> u16 {
        match self {
            Self::Deflate => 8,
            Self::Zstd => 50_000,
            Self::Lerc => 34_887,
        }
    }
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
    /// Codec of the tiles.
    pub compression: Compression,
    /// `true` rounds samples of [`Samples::F32`] to multiples of 2^-7: an error of at most 0.0039, a
    /// file of half the size. The metadata states it.
    pub is_rounded: bool,
    /// `true` writes 8-byte offsets even where 4 bytes suffice. Beyond 4 GiB they always have 8.
    pub always_big: bool,
}

impl CogLayout {
    /// The codec that samples of this type get.
    fn codec(&self) -> Compression {
        match self.compression {
            Compression::Lerc if self.samples != Samples::F32 => Compression::Deflate,
            codec => codec,
        }
    }

    /// One band, Deflate, exact, no remarks.
    #[must_use]
    pub fn single(samples: Samples, name: &str, unit: &str, resampling: Resampling) -> Self {
        let (name, unit) = (name.to_owned(), unit.to_owned());
        Self {
            samples,
            bands: vec![Band { name, unit, resampling }],
            remarks: Vec::new(),
            compression: Compression::Deflate,
            is_rounded: false,
            always_big: false,
        }
    }
}

/// Position of the cells of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// In degrees (EPSG:4326).
    Geographic(GridGeometry),
    /// In metres, in a zone of UTM.
    Metric(MetricGeometry),
}

impl From<GridGeometry> for Place {
    fn from(geometry: GridGeometry) -> Self {
        Self::Geographic(geometry)
    }
}

impl Place {
    /// Columns and rows.
    fn size(&self) -> [u32; 2] {
        match self {
            Self::Geographic(geometry) => [geometry.cols, geometry.rows],
            Self::Metric(geometry) => [geometry.cols, geometry.rows],
        }
    }

    /// Refuses degrees that do not lie on the globe.
    fn check(self) -> Result<Self, RasterError> {
        match self {
            Self::Geographic(geometry) => Ok(Self::Geographic(geometry.check()?)),
            Self::Metric(_) => Ok(self),
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
/// from zero; values of [`Samples::F32`] are kept to the bit unless the layout rounds them. Memory
/// holds [`TILE_SIDE`] rows and the tiles of overviews that have begun.
///
/// # Errors
/// When the raster is impossible, the source or the disk fails, a cell does not fit the samples
/// (infinite, out of range, or the value for "no data"), or a name has a control character
/// in it. Nothing is then left of the file.
pub fn write_cog(
    path: &Path,
    geometry: GridGeometry,
    layout: &CogLayout,
    source: &mut dyn Rows,
) -> Result<CogFacts, RasterError> {
    let writer = CogWriter::create(path, geometry, layout.clone())?;
    let GridGeometry { cols, rows, .. } = geometry;
    let bands: Vec<Resampling> = layout.bands.iter().map(|band| band.resampling).collect();
    let pyramid = Pyramid::new(cols, rows, bands);
    let width = cols as usize;
    let row_len = layout.bands.len() * width;
    let mut strip = vec![f32::NAN; row_len * rows.min(TILE_SIDE) as usize];
    for top in (0..rows).step_by(TILE_SIDE as usize) {
        let high = TILE_SIDE.min(rows - top);
        for (row, cells) in (top..top + high).zip(strip.chunks_exact_mut(row_len)) {
            let read = source.read(row, cells);
            read.map_err(|source| RasterError::ReadRow { row, source })?;
        }
        let lefts: Vec<u32> = (0..cols).step_by(TILE_SIDE as usize).collect();
        lefts.par_iter().with_max_len(1).try_for_each(|&left| {
            let starts = (0..layout.bands.len()).map(|band| band * width + left as usize);
            let bands: Vec<&[f32]> = starts.map(|start| &strip[start..]).collect();
            let window = Window { left, top, cols: TILE_SIDE.min(cols - left), rows: high };
            let cells = Cells { bands: &bands, stride: row_len };
            pyramid.put(window, Some(cells), &|tile| writer.store(tile))
        })?;
    }
    writer.finish(&[])
}

#[cfg(test)]
mod tests;
