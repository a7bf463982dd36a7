//! GeoTIFF files of heights, COG among them: any size, non-square posts, geographic or UTM.
//!
//! Read by the crate `tiff-reader`: strips and tiles, deflate, LZW, ZSTD, LERC, predictors, within
//! budgets. Posts are decoded in blocks when samples fall on them and kept within a budget. Each post
//! passes mask, declared and customary values of posts without a height, unit and range of the Earth.

mod band;
mod blocks;
mod contents;
mod crs;
mod error;
mod file;
mod grid;
mod header;
mod mask;
mod mosaic;
mod open;
mod vertical;

pub(super) use contents::Contents;
pub use error::RasterError;
pub(super) use file::{Raster, file_digest};
pub(super) use grid::turned;
pub(super) use mosaic::{Mosaic, Reading, RecentBlocks};
pub use open::RemoteFile;
