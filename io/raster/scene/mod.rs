//! Pictures: scenes as SVG, and bitmaps.
//!
//! A scene is drawn once, with [`svg::Canvas`], and is either the SVG file itself or rendered onto
//! a [`Bitmap`] by resvg. The only font is DejaVu Sans, embedded: a picture has the same bytes on
//! every machine. Cells of rasters are written straight into a bitmap, because one SVG element per
//! cell would take a hundred times the memory; labels and legends are rendered over them.

mod bitmap;
pub mod font;
pub mod labels;
mod palette;
pub mod scale;
pub mod svg;

pub(crate) use bitmap::encode_png;
pub use bitmap::{Bitmap, PictureError, Rgba, mix, over, shaded};
