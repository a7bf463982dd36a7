//! A tile as LERC (Limited Error Raster Compression, Esri, version 2.4): a blob for each band, one after the
//! other, each with the mask of its cells. Zstandard takes out what the bands have in common.
//!
//! TIFF has no name for what a mask leaves out; readers take NaN. Blobs are of version 4, which the tag
//! LercParameters names, and which the encoder writes under its profile `Gdal` alone.

use std::io;

use lerc_writer::{EncodeOptions, EncoderProfile, MaskView, RasterView};

use super::super::pyramid::{TILE_SIDE, Tile};
use super::CogLayout;
use super::samples::rounded;

const SIDE: usize = TILE_SIDE as usize;

/// Largest error of rounded samples: half of their resolution. The encoder quantises in steps of twice
/// that from the least sample of a block, which is on the same steps: rounded samples stay as they are.
const ERROR: f64 = 1.0 / 256.0;

/// Values of the TIFF tag LercParameters: the version, then Zstandard.
pub(super) const PARAMETERS: [u32; 2] = [4, 2];

/// Compresses a tile; what lies beyond the image is "no data".
///
/// # Errors
/// When the encoders have no memory.
pub(super) fn encode(tile: &Tile, layout: &CogLayout) -> io::Result<Vec<u8>> {
    let is_rounded = layout.is_rounded;
    let options = EncodeOptions::new()
        .with_max_z_error(if is_rounded { ERROR } else { 0.0 })
        .with_profile(EncoderProfile::Gdal);
    let (mut values, mut mask) = (vec![0.0; SIDE * SIDE], vec![0; SIDE * SIDE]);
    let mut blobs = Vec::new();
    for band in 0..layout.bands.len() {
        if let Some(cells) = &tile.cells {
            let plane = &cells[band * tile.cols * tile.rows..][..tile.cols * tile.rows];
            for (row, cells) in plane.chunks_exact(tile.cols).enumerate() {
                let first = row * SIDE;
                let places = values[first..].iter_mut().zip(&mut mask[first..]);
                for ((value, is_known), &cell) in places.zip(cells) {
                    *is_known = u8::from(!cell.is_nan());
                    *value = match (cell.is_nan(), is_rounded) {
                        (true, _) => 0.0,
                        (false, true) => rounded(cell),
                        (false, false) => cell,
                    };
                }
            }
        }
        let values = RasterView::new(TILE_SIDE, TILE_SIDE, 1, &values);
        let mask = MaskView::new(TILE_SIDE, TILE_SIDE, &mask);
        let blob = values.and_then(|values| lerc_writer::encode(values, Some(mask?), options));
        blobs.extend(blob.map_err(io::Error::other)?);
    }
    zstd::bulk::compress(&blobs, 1)
}
