//! A layer over shaded terrain, as pixels.

use rayon::prelude::*;

use super::super::geometry::GridGeometry;
use super::super::grid::Grid;
use super::paper;
use super::shade::{Light, hillshade, redraw};
use super::style::{Classes, Colours, Style};
use crate::picture::{Bitmap, Rgba, over, shaded};

/// Shades of land and of sea, which is level but for its shores.
const LAND_SHADES: usize = 16;
const SEA_SHADES: usize = 4;

/// Codes of a pixel: shades of land, then of sea, then the two tones of ground of unknown height.
const VOID: u8 = (LAND_SHADES + SEA_SHADES) as u8;
const CODES: usize = LAND_SHADES + SEA_SHADES + 2;

/// Shade of level ground, and brightness from one shade to the next: of land and of sea.
const LEVEL: [f64; 2] = [11.0, 2.0];
const STEP: [f64; 2] = [0.075, 0.3];

/// Terrain with its brightness, worked out once for pictures of several sizes.
#[derive(Debug, Clone)]
pub struct LitTerrain {
    heights: Grid,
    brightness: Grid,
}

impl LitTerrain {
    /// Terrain of these heights, m, under the usual light.
    #[must_use]
    pub fn new(heights: Grid) -> Self {
        let brightness = hillshade(&heights, Light::default());
        Self {
            heights,
            brightness,
        }
    }
}

/// Shaded terrain in the frame of a picture: the same for all maps of an area.
#[derive(Debug, Clone)]
pub struct Relief {
    frame: GridGeometry,
    /// A code for each pixel; empty without heights.
    codes: Vec<u8>,
    /// Pixels at a coast.
    coast: Vec<u32>,
    has_voids: bool,
}

impl Relief {
    /// The terrain in `frame`; level land without heights.
    pub(super) fn new(terrain: Option<&LitTerrain>, frame: GridGeometry) -> Self {
        let Some(terrain) = terrain else {
            return Self {
                frame,
                codes: Vec::new(),
                coast: Vec::new(),
                has_voids: false,
            };
        };
        let (heights, lit) = rayon::join(
            || redraw(&terrain.heights, frame),
            || redraw(&terrain.brightness, frame),
        );
        let (cols, level) = (frame.cols as usize, Light::default().level());
        let mut codes = vec![0; heights.cells.len()];
        let rows = codes
            .par_chunks_mut(cols)
            .zip(heights.cells.par_chunks(cols));
        let rows = rows.zip(lit.cells.par_chunks(cols)).enumerate();
        rows.for_each(|(row, ((codes, heights), lit))| {
            let pixels = codes.iter_mut().zip(heights).zip(lit).enumerate();
            for (col, ((code, &height_m), &lit)) in pixels {
                *code = if height_m.is_nan() || lit.is_nan() {
                    VOID + u8::from((row + col) % 8 < 2)
                } else {
                    shade(height_m == 0.0, f64::from(lit) / level)
                };
            }
        });
        let is_land = |at: usize| {
            let height_m = heights.cells[at];
            if height_m.is_nan() {
                height_m
            } else {
                f32::from(height_m != 0.0)
            }
        };
        Self {
            coast: borders(frame, is_land),
            frame,
            codes,
            has_voids: terrain
                .heights
                .cells
                .iter()
                .any(|height_m| height_m.is_nan()),
        }
    }

    /// Area and pixels of the picture that it fits.
    pub(super) fn frame(&self) -> GridGeometry {
        self.frame
    }

    /// True if the height of the ground at a pixel is not known.
    fn is_void(&self, at: usize) -> bool {
        self.codes.get(at).is_some_and(|&code| code >= VOID)
    }

    /// True if the height of some ground is not known.
    pub(super) fn has_voids(&self) -> bool {
        self.has_voids
    }
}

/// Code of ground of this brightness, relative to level ground.
fn shade(is_sea: bool, brightness: f64) -> u8 {
    let kind = usize::from(is_sea);
    let (first, count) = [(0, LAND_SHADES), (LAND_SHADES, SEA_SHADES)][kind];
    let index = LEVEL[kind] + (brightness - 1.0) / STEP[kind];
    first as u8 + (index + 0.5).clamp(0.0, (count - 1) as f64) as u8
}

/// Base colour and brightness of a code below [`VOID`].
fn unshade(code: usize) -> (Rgba, f64) {
    let (base, index, kind) = if code < LAND_SHADES {
        (paper::LAND, code, 0)
    } else {
        (paper::SEA, code - LAND_SHADES, 1)
    };
    (base, 1.0 + (index as f64 - LEVEL[kind]) * STEP[kind])
}

/// Draws `layer` into the frame of `relief`, whose corner lies at `origin` of the picture, one
/// pixel a cell of the frame. Where `computed` is NaN nothing was computed. Height 0 is drawn as sea; its coastline has opacity `coast` in
/// [0, 1].
pub(super) fn draw(
    bitmap: &mut Bitmap,
    origin: [u32; 2],
    layer: &Grid,
    style: &Style,
    relief: &Relief,
    computed: Option<&Grid>,
    coast: f64,
) {
    let frame = relief.frame;
    let classes = Classes::new(style);
    let mut pixels = values(layer, style, &classes, frame);
    let outside = classes.count() as u16;
    if let Some(computed) = computed {
        mark_outside(&mut pixels, computed, relief, outside);
    }
    let mut table: Vec<[Rgba; CODES]> = (0..classes.count())
        .map(|class| std::array::from_fn(|code| colour(classes.colour(class), code)))
        .collect();
    table.push(std::array::from_fn(|code| {
        over(colour(None, code), paper::OUTSIDE, 1.0)
    }));
    let level = shade(false, 1.0);
    let cols = frame.cols as usize;
    let [left, top] = origin.map(|side| side as usize);
    let width = bitmap.width() as usize;
    let rows = bitmap.pixels_mut().chunks_exact_mut(width).skip(top);
    let rows: Vec<_> = rows.zip(pixels.chunks_exact(cols)).enumerate().collect();
    rows.into_par_iter().for_each(|(row, (out, classes))| {
        let out = &mut out[left..left + cols];
        match relief.codes.get(row * cols..(row + 1) * cols) {
            Some(codes) => {
                for ((out, &class), &code) in out.iter_mut().zip(classes).zip(codes) {
                    *out = table[usize::from(class)][usize::from(code)];
                }
            }
            None => {
                for (out, &class) in out.iter_mut().zip(classes) {
                    *out = table[usize::from(class)][usize::from(level)];
                }
            }
        }
    });
    let mut darken = |at: usize, cover: f64| {
        let pixel = &mut bitmap.pixels_mut()[(top + at / cols) * width + left + at % cols];
        *pixel = over(*pixel, paper::INK, cover);
    };
    if matches!(style.colours, Colours::Categories(_)) {
        let kind = |at: usize| match pixels[at] {
            0 => f32::NAN,
            class if class == outside => f32::NAN,
            class => f32::from(class),
        };
        borders(frame, kind)
            .into_iter()
            .for_each(|at| darken(at as usize, 0.2));
    }
    relief
        .coast
        .iter()
        .for_each(|&at| darken(at as usize, coast));
    if computed.is_some() {
        // The rim of what was computed, but not where it ends at ground of unknown height.
        let side = |at: usize| match pixels[at] {
            class if class == outside => 1.0,
            _ if relief.is_void(at) => f32::NAN,
            _ => 0.0,
        };
        let rim = borders(frame, side);
        rim.into_iter().for_each(|at| darken(at as usize, 0.75));
    }
}

/// Gives the class `outside` to pixels of known ground where nothing was computed: where `computed` is
/// NaN.
fn mark_outside(pixels: &mut [u16], computed: &Grid, relief: &Relief, outside: u16) {
    let frame = relief.frame;
    let columns = frame.cols as usize;
    let cell = computed.geometry;
    // What lies west of the raster becomes a column that it does not have.
    let from_cols: Vec<usize> = (0..frame.cols)
        .map(|col| cell.at(cell.north_deg, frame.lon_deg(col))[0].floor() as i64 as usize)
        .collect();
    let rows = pixels.par_chunks_mut(columns).zip(0..frame.rows);
    rows.for_each(|(out, row)| {
        let from_row = cell.at(frame.lat_deg(row), cell.west_deg)[1].floor();
        let inside = (0.0..f64::from(cell.rows)).contains(&from_row);
        let line = inside.then(|| computed.row(from_row as u32)).flatten();
        let line = line.unwrap_or_default();
        for (col, out) in out.iter_mut().enumerate() {
            let is_known = line
                .get(from_cols[col])
                .is_some_and(|value| !value.is_nan());
            if *out == 0 && !is_known && !relief.is_void(row as usize * columns + col) {
                *out = outside;
            }
        }
    });
}

/// Colour of a class on ground of this code.
fn colour(colour: Option<Rgba>, code: usize) -> Rgba {
    if code >= usize::from(VOID) {
        // A layer over a void stays visible on hatching.
        let hatch = if code > usize::from(VOID) {
            [150, 150, 156, 255]
        } else {
            [246, 246, 246, 255]
        };
        return over(hatch, colour.unwrap_or([0; 4]), 0.75);
    }
    let (base, brightness) = unshade(code);
    let bare = shaded(base, (0.35 + 0.65 * brightness).clamp(0.45, 1.08));
    let Some(colour) = colour else { return bare };
    // Less contrast under a layer, whose lightness carries values.
    let lit = shaded(colour, (0.42 + 0.58 * brightness).clamp(0.6, 1.2));
    over(bare, lit, 0.94)
}

/// Classes of the layer's values at the pixels of the frame; 0 without a value.
fn values(layer: &Grid, style: &Style, classes: &Classes, frame: GridGeometry) -> Vec<u16> {
    let cell = layer.geometry;
    let is_finer = frame.cell_lon_deg > 1.5 * cell.cell_lon_deg
        || frame.cell_lat_deg > 1.5 * cell.cell_lat_deg;
    if is_finer && !matches!(style.colours, Colours::Categories(_)) {
        // Means where cells of a ramp are smaller than pixels.
        let means = redraw(layer, frame);
        return means
            .cells
            .par_iter()
            .map(|&value| classes.of(value))
            .collect();
    }
    let of_cells: Vec<u16> = layer
        .cells
        .par_iter()
        .map(|&value| classes.of(value))
        .collect();
    // The nearest cell: its row does not depend on the column of the pixel, nor the other way.
    let from_col = |col: u32| cell.at(cell.north_deg, frame.lon_deg(col))[0].floor() as i64;
    let from_row = |row: u32| cell.at(frame.lat_deg(row), cell.west_deg)[1].floor() as i64;
    let (cols, rows) = (i64::from(cell.cols), i64::from(cell.rows));
    let from_cols: Vec<i64> = (0..frame.cols).map(from_col).collect();
    let mut out = vec![0; frame.cols as usize * frame.rows as usize];
    let lines = out.par_chunks_mut(frame.cols as usize).zip(0..frame.rows);
    lines.for_each(|(out, row)| {
        let row = from_row(row);
        if !(0..rows).contains(&row) {
            return;
        }
        let cells = &of_cells[(row * cols) as usize..][..cols as usize];
        for (out, &col) in out.iter_mut().zip(&from_cols) {
            if (0..cols).contains(&col) {
                *out = cells[col as usize];
            }
        }
    });
    out
}

/// Pixels at which `kind` changes to the east or south; NaN is no kind.
fn borders(frame: GridGeometry, kind: impl Fn(usize) -> f32 + Sync) -> Vec<u32> {
    let cols = frame.cols as usize;
    let rows = (0..frame.rows.saturating_sub(1) as usize).into_par_iter();
    let of_row = |row: usize| {
        let mut found = Vec::new();
        for at in row * cols..(row + 1) * cols - 1 {
            let here = kind(at);
            let differs = |other: f32| !other.is_nan() && other != here;
            if !here.is_nan() && (differs(kind(at + 1)) || differs(kind(at + cols))) {
                found.push(at as u32);
            }
        }
        found
    };
    rows.map(of_row).collect::<Vec<_>>().concat()
}
