//! Raster pictures: coloured layers, maps with legend and hillshade, contact sheets.
//!
//! Cells are written as pixels; everything else is drawn as SVG over them (see [`crate::scene`]).

mod choice;
mod colouring;
mod ground;
mod key;
mod legend;
mod map;
mod marks;
mod overlay;
mod palette;
mod pixels;
mod qgis;
mod relief;
mod shade;
mod sheet;
mod style;
mod web_tile;

pub use choice::{Choice, Scale, Spread};
pub use colouring::colours_apart;
pub use legend::Legend;
pub use map::{Map, MapPicture, Threshold};
pub use overlay::{
    WGS84_WKT, WorldFile, coloured, write_encoded, write_overlay, write_png, zipped,
};
pub use palette::{Palette, Sequence, VERDICTS, category};
pub(crate) use qgis::hex;
pub use qgis::qgis_style;
pub use relief::{LitTerrain, Relief};
pub use shade::{Light, Sun, hillshade};
pub use sheet::Sheet;
pub use style::{ALL_SHOWN, Category, Colours, Style};
pub use web_tile::{detailed_relief, relief, terrarium};

/// Colours of text, background and bare terrain.
mod paper {
    use crate::scene::{Rgba, over};

    pub const PAGE: Rgba = [255, 255, 255, 255];
    pub const INK: Rgba = [27, 36, 48, 255];
    pub const LAND: Rgba = [233, 231, 224, 255];
    pub const SEA: Rgba = [205, 220, 232, 255];
    /// Over ground that was not computed.
    pub const OUTSIDE: Rgba = [255, 255, 255, 170];
    /// Opacity of a layer over ground, the same whatever the relief: that of overlays for a globe, too.
    pub const LAYER_OPACITY: f64 = 0.8;

    /// Colour of a layer on level land, in maps as in their legends.
    pub fn on_land(colour: Rgba) -> Rgba {
        over(LAND, colour, LAYER_OPACITY)
    }

    /// [`PAGE`], [`INK`] and secondary text in SVG.
    pub const PAGE_SVG: &str = "#ffffff";
    pub const INK_SVG: &str = "#1b2430";
    pub const SOFT_SVG: &str = "#54606e";

    /// A fill in SVG.
    pub fn fill([r, g, b, a]: Rgba) -> String {
        let opacity = f64::from(a) / 255.0;
        format!("fill=\"#{r:02x}{g:02x}{b:02x}\" fill-opacity=\"{opacity:.3}\"")
    }

    /// A frame of width 1 px in SVG, for rectangles at half pixels.
    pub fn frame(colour: &str) -> String {
        format!("fill=\"none\" stroke=\"{colour}\"")
    }
}

#[cfg(test)]
mod tests;
