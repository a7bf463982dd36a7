//! A layer over shaded terrain, as pixels.

use super::super::geometry::GridGeometry;
use super::super::grid::Grid;
use super::paper;
use super::shade::{Light, hillshade, redraw};
use super::style::{Colours, Style};
use crate::picture::{Bitmap, Rgba, over, shaded};

/// Draws `layer` into `frame` of the picture, whose corner lies at `origin`, one pixel a cell of
/// the frame, over hillshade where heights are known. Height 0 is drawn as sea; its coastline has
/// opacity `coast` in [0, 1].
pub(super) fn draw(
    bitmap: &mut Bitmap,
    origin: [u32; 2],
    layer: &Grid,
    style: &Style,
    elevation: Option<&Grid>,
    frame: GridGeometry,
    coast: f64,
) {
    let values = Values::new(layer, style, frame);
    let light = Light::default();
    let relief = elevation.map(|ground| {
        let lit = redraw(&hillshade(ground, light), frame);
        (redraw(ground, frame), lit)
    });
    let position = |row: u32, col: u32| {
        let [left, top] = origin;
        [i64::from(left + col), i64::from(top + row)]
    };
    for row in 0..frame.rows {
        for col in 0..frame.cols {
            let (x, y) = (i64::from(col), i64::from(row));
            let (height_m, lit) = relief
                .as_ref()
                .map_or((1.0, light.level() as f32), |(h, lit)| {
                    (h.get(y, x), lit.get(y, x))
                });
            let colour = style.colour(values.at(row, col));
            let pixel = if height_m.is_nan() || lit.is_nan() {
                // A layer over a void stays visible on hatching.
                over(hatch(x, y), colour.unwrap_or([0; 4]), 0.75)
            } else {
                on_ground(colour, height_m, f64::from(lit) / light.level())
            };
            let [x, y] = position(row, col);
            bitmap.set(x, y, pixel);
        }
    }
    let mut darken = |row: u32, col: u32, cover: f64| {
        let [x, y] = position(row, col);
        bitmap.set(x, y, over(bitmap.get(x, y), paper::INK, cover));
    };
    if matches!(style.colours, Colours::Categories(_)) {
        borders(
            frame,
            |row, col| values.at(row, col),
            |row, col| darken(row, col, 0.2),
        );
    }
    if let Some((height_m, _)) = &relief {
        // The coastline, which a layer hides.
        let is_land = |row: u32, col: u32| {
            let height_m = height_m.get(i64::from(row), i64::from(col));
            if height_m.is_nan() {
                height_m
            } else {
                f32::from(height_m != 0.0)
            }
        };
        borders(frame, is_land, |row, col| darken(row, col, coast));
    }
}

fn on_ground(colour: Option<Rgba>, height_m: f32, brightness: f64) -> Rgba {
    let base = if height_m == 0.0 {
        paper::SEA
    } else {
        paper::LAND
    };
    let bare = shaded(base, (0.35 + 0.65 * brightness).clamp(0.45, 1.08));
    let Some(colour) = colour else { return bare };
    // Less contrast under a layer, whose lightness carries values.
    let lit = shaded(colour, (0.42 + 0.58 * brightness).clamp(0.6, 1.2));
    over(bare, lit, 0.94)
}

/// Terrain of unknown height.
fn hatch(x: i64, y: i64) -> Rgba {
    if (x + y).rem_euclid(8) < 2 {
        [150, 150, 156, 255]
    } else {
        [246, 246, 246, 255]
    }
}

/// Values of the layer at the pixels of the frame.
struct Values<'a> {
    layer: &'a Grid,
    frame: GridGeometry,
    /// Means where cells of a ramp are smaller than pixels.
    means: Option<Grid>,
}

impl<'a> Values<'a> {
    fn new(layer: &'a Grid, style: &Style, frame: GridGeometry) -> Self {
        let cell = layer.geometry;
        let is_finer = frame.cell_lon_deg > 1.5 * cell.cell_lon_deg
            || frame.cell_lat_deg > 1.5 * cell.cell_lat_deg;
        let is_smooth = matches!(style.colours, Colours::Ramp { .. });
        let means = (is_finer && is_smooth).then(|| redraw(layer, frame));
        Self {
            layer,
            frame,
            means,
        }
    }

    fn at(&self, row: u32, col: u32) -> f32 {
        match &self.means {
            Some(means) => means.get(i64::from(row), i64::from(col)),
            None => self
                .layer
                .sample(self.frame.lat_deg(row), self.frame.lon_deg(col)),
        }
    }
}

/// Calls `mark` for the cells at which `kind` changes to the east or south.
fn borders(frame: GridGeometry, kind: impl Fn(u32, u32) -> f32, mut mark: impl FnMut(u32, u32)) {
    for row in 0..frame.rows.saturating_sub(1) {
        for col in 0..frame.cols.saturating_sub(1) {
            let here = kind(row, col);
            let differs = |other: f32| !other.is_nan() && other != here;
            if !here.is_nan() && (differs(kind(row, col + 1)) || differs(kind(row + 1, col))) {
                mark(row, col);
            }
        }
    }
}
