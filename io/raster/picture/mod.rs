//! Pictures: coloured layers, maps with legend and hillshade, sheets of many.
//!
//! Everything is drawn by this module, text included, so that a picture has the same bytes on
//! every machine whatever fonts are installed there.

mod canvas;
mod font;
mod glyphs;
mod ground;
mod key;
mod legend;
mod map;
mod marks;
mod overlay;
mod palette;
mod scale;
mod shade;
mod sheet;
mod style;

pub use canvas::{Canvas, Rgba, mix, over};
pub use font::{Anchor, Font};
pub use legend::Legend;
pub use map::{Map, MapPicture};
pub use overlay::{WGS84_WKT, WorldFile, coloured, encode_png, write_overlay, write_png};
pub use palette::{Sequence, VERDICTS, category};
pub use shade::{Light, hillshade, redraw};
pub use sheet::Sheet;
pub use style::{Category, Colours, Style};

/// Ink and paper of everything around a layer.
mod paper {
    use super::Rgba;

    pub const PAGE: Rgba = [255, 255, 255, 255];
    pub const INK: Rgba = [27, 36, 48, 255];
    pub const SOFT: Rgba = [84, 96, 110, 255];
    pub const HALO: Rgba = [255, 255, 255, 215];
    pub const LAND: Rgba = [233, 231, 224, 255];
    pub const SEA: Rgba = [205, 220, 232, 255];
}

#[cfg(test)]
mod tests;
