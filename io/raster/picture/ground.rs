//! A layer over shaded terrain, as pixels.

use rayon::prelude::*;

use super::super::geometry::GridGeometry;
use super::super::grid::Grid;
use super::paper;
use super::pixels::{Edges, Line, NO_KIND, Nearest, STRIP, borders};
use super::shade::{Light, Redrawing, Stretched, hillshade, is_coarser};
use super::style::{Classes, Colours, Style};
use crate::picture::{Bitmap, Rgba, over, shaded};

/// Shades of land and of sea, which is level but for its shores.
const LAND_SHADES: usize = 16;
const SEA_SHADES: usize = 4;

/// Codes of a pixel: shades of land, then of sea, then the two tones of ground of unknown height.
const VOID: u8 = (LAND_SHADES + SEA_SHADES) as u8;
const CODES: usize = LAND_SHADES + SEA_SHADES + 2;

/// Shade of level ground, and brightness from one shade to the next: of land and of sea.
const LEVEL: [f32; 2] = [11.0, 2.0];
const STEP: [f32; 2] = [0.075, 0.3];

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
    /// Pixels at a coast, row by row.
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
        let heights = Redrawing::new(&terrain.heights, frame);
        let brightness = Redrawing::new(&terrain.brightness, frame);
        let relative = (1.0 / Light::default().level()) as f32;
        let cols = frame.cols as usize;
        let mut codes = vec![0; cols * frame.rows as usize];
        let rows = codes.par_chunks_mut(cols).zip(0..frame.rows);
        let room = || [(); 2].map(|()| (Stretched::default(), vec![f32::NAN; cols]));
        rows.for_each_init(room, |[(ground, height), (light, lit)], (codes, row)| {
            heights.row(row, ground, height);
            brightness.row(row, light, lit);
            for ((code, height_m), lit) in codes.iter_mut().zip(height).zip(lit) {
                *code = shade(*height_m, *lit * relative);
            }
            // Rare, and therefore apart: hatching.
            if codes.contains(&VOID) {
                for (col, code) in codes.iter_mut().enumerate() {
                    let is_dark = (row as usize + col) % 8 < 2;
                    *code += u8::from(*code == VOID && is_dark);
                }
            }
        });
        let coast = borders(frame, |row, kinds| {
            for (kind, code) in kinds.iter_mut().zip(&codes[row * cols..]) {
                *kind = match code {
                    &(VOID..) => NO_KIND,
                    code => u16::from(usize::from(*code) < LAND_SHADES),
                };
            }
        });
        Self {
            coast,
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

    /// The codes of a row of pixels; `None` without heights.
    fn codes(&self, row: usize) -> Option<&[u8]> {
        let cols = self.frame.cols as usize;
        self.codes.get(row * cols..)?.get(..cols)
    }

    /// The codes of a row of pixels, if the height of some ground in it is not known.
    fn voids(&self, row: usize) -> Option<&[u8]> {
        let codes = self.codes(row)?;
        let has_voids = codes.iter().fold(false, |any, &code| any | (code >= VOID));
        has_voids.then_some(codes)
    }

    /// Columns of a row's pixels at a coast.
    fn coast(&self, row: usize) -> impl Iterator<Item = usize> {
        let cols = self.frame.cols as usize;
        let before = |end: usize| self.coast.partition_point(|&at| (at as usize) < end);
        let pixels = &self.coast[before(row * cols)..before((row + 1) * cols)];
        pixels.iter().map(move |&at| at as usize - row * cols)
    }

    /// True if the height of some ground is not known.
    pub(super) fn has_voids(&self) -> bool {
        self.has_voids
    }
}

/// Code of ground of this height, m, and brightness, relative to level ground; [`VOID`] where one of
/// them is NaN.
#[inline]
fn shade(height_m: f32, brightness: f32) -> u8 {
    // Factors instead of quotients, and selected without a branch: this is done for every pixel, in vector
    // code.
    const PER_UNIT: [f32; 2] = [1.0 / STEP[0], 1.0 / STEP[1]];
    /// The last bits of a float of this size count ones.
    const ONES: f32 = 8_388_608.0;
    let kind = |land: f32, sea: f32| if height_m == 0.0 { sea } else { land };
    let last = kind((LAND_SHADES - 1) as f32, (SEA_SHADES - 1) as f32);
    let index = kind(LEVEL[0], LEVEL[1]) + (brightness - 1.0) * kind(PER_UNIT[0], PER_UNIT[1]);
    let index = if index > 0.0 { index } else { 0.0 };
    let index = if index < last { index } else { last };
    let code = (index + kind(0.0, LAND_SHADES as f32) + ONES).to_bits() as u8;
    if height_m.is_nan() | brightness.is_nan() {
        VOID
    } else {
        code
    }
}

/// Base colour and brightness of a code below [`VOID`].
fn unshade(code: usize) -> (Rgba, f64) {
    let (base, index, kind) = if code < LAND_SHADES {
        (paper::LAND, code, 0)
    } else {
        (paper::SEA, code - LAND_SHADES, 1)
    };
    let steps = index as f64 - f64::from(LEVEL[kind]);
    (base, 1.0 + steps * f64::from(STEP[kind]))
}

/// Draws `layer` into the frame of `relief`, whose corner lies at `origin` of the picture, one
/// pixel a cell of the frame. Where `computed` is NaN nothing was computed. Height 0 is drawn as sea;
/// its coastline has opacity `coast` in [0, 1].
pub(super) fn draw(
    bitmap: &mut Bitmap,
    origin: [u32; 2],
    layer: &Grid,
    style: &Style,
    relief: &Relief,
    computed: Option<&Grid>,
    coast: f64,
) {
    let values = Values::new(layer, style, relief, computed);
    let table = values.table();
    // Any land.
    let level = usize::from(shade(1.0, 1.0));
    let is_parted = matches!(style.colours, Colours::Categories(_));
    let has_rim = computed.is_some();
    let (cols, rows) = (relief.frame.cols as usize, relief.frame.rows as usize);
    let [left, top] = origin.map(|side| side as usize);
    let width = bitmap.width() as usize;
    let frame = &mut bitmap.pixels_mut()[top * width..][..rows * width];
    let strips = frame.par_chunks_mut(STRIP * width).enumerate();
    // Row by row, so that what a row needs is at hand in the cache.
    strips.for_each(|(strip, out)| {
        let first = strip * STRIP;
        let mut drawn = Drawn::default();
        let [mut here, mut south] = [(); 2].map(|()| vec![0; cols]);
        values.row(first, &mut drawn, &mut south);
        let mut areas = Edges::new(cols, |kinds| values.areas(&south, kinds));
        let mut rim = Edges::new(cols, |kinds| values.unknown(&south, first, kinds));
        for (row, out) in (first..).zip(out.chunks_exact_mut(width)) {
            std::mem::swap(&mut here, &mut south);
            let out = &mut out[left..left + cols];
            match relief.codes(row) {
                Some(codes) => {
                    for ((out, &class), &code) in out.iter_mut().zip(&here).zip(codes) {
                        *out = table[usize::from(class)][usize::from(code)];
                    }
                }
                None => {
                    for (out, &class) in out.iter_mut().zip(&here) {
                        *out = table[usize::from(class)][level];
                    }
                }
            }
            let mut darken = |col: usize, cover: f64| out[col] = over(out[col], paper::INK, cover);
            let has_south = row + 1 < rows;
            if has_south {
                values.row(row + 1, &mut drawn, &mut south);
            }
            if has_south && is_parted {
                let edges = areas.next(|kinds| values.areas(&south, kinds));
                edges.for_each(|col| darken(col, 0.2));
            }
            relief.coast(row).for_each(|col| darken(col, coast));
            if has_south && has_rim {
                let edges = rim.next(|kinds| values.unknown(&south, row + 1, kinds));
                edges.for_each(|col| darken(col, 0.75));
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

/// Classes of a layer's values at the pixels of a frame: 0 without a value, the number of classes on
/// known ground where nothing was computed.
struct Values<'a> {
    classes: Classes,
    relief: &'a Relief,
    own: Own<'a>,
    /// The number of classes where nothing was computed, else 0.
    gaps: Option<Nearest>,
}

/// Values at the pixels.
enum Own<'a> {
    /// Classes of the nearest cells.
    Nearest(Nearest),
    /// Means where cells of a ramp are smaller than pixels.
    Mean(Redrawing<'a>),
}

/// Rows that were drawn last.
#[derive(Default)]
struct Drawn {
    own: Line,
    gaps: Line,
    used: Stretched,
    means: Vec<f32>,
}

impl<'a> Values<'a> {
    fn new(layer: &'a Grid, style: &Style, relief: &'a Relief, computed: Option<&Grid>) -> Self {
        let (classes, frame) = (Classes::new(style), relief.frame);
        let outside = classes.count() as u16;
        let of_cells = |grid: &Grid, class: &(dyn Fn(f32) -> u16 + Sync), beyond: u16| {
            let cells = grid.cells.par_iter().with_min_len(1 << 12);
            let cells = cells.map(|&value| class(value)).collect();
            Nearest::new(cells, grid.geometry, frame, beyond)
        };
        let is_ramp = !matches!(style.colours, Colours::Categories(_));
        let own = if is_ramp && is_coarser(layer.geometry, frame) {
            Own::Mean(Redrawing::new(layer, frame))
        } else {
            Own::Nearest(of_cells(layer, &|value| classes.of(value), 0))
        };
        let gap = |value: f32| if value.is_nan() { outside } else { 0 };
        let gaps = computed.map(|computed| of_cells(computed, &gap, outside));
        Self {
            classes,
            relief,
            own,
            gaps,
        }
    }

    /// The class of pixels where nothing was computed.
    fn outside(&self) -> u16 {
        self.classes.count() as u16
    }

    /// Colour of each class on ground of each code.
    fn table(&self) -> Vec<[Rgba; CODES]> {
        let classes = (0..self.classes.count()).map(|class| self.classes.colour(class));
        let of_class = |class| std::array::from_fn(|code| colour(class, code));
        let outside = std::array::from_fn(|code| over(colour(None, code), paper::OUTSIDE, 1.0));
        classes.map(of_class).chain([outside]).collect()
    }

    /// Classes of a row of pixels.
    fn row(&self, row: usize, drawn: &mut Drawn, out: &mut [u16]) {
        match &self.own {
            Own::Nearest(nearest) => out.copy_from_slice(drawn.own.draw(nearest, row)),
            Own::Mean(means) => {
                drawn.means.resize(out.len(), f32::NAN);
                means.row(row as u32, &mut drawn.used, &mut drawn.means);
                for (class, &value) in out.iter_mut().zip(&drawn.means) {
                    *class = self.classes.of(value);
                }
            }
        }
        let Some(gaps) = &self.gaps else { return };
        // Without a branch: vector code.
        for (class, &gap) in out.iter_mut().zip(drawn.gaps.draw(gaps, row)) {
            *class = if *class == 0 { gap } else { *class };
        }
        let outside = self.outside();
        for (class, &code) in out
            .iter_mut()
            .zip(self.relief.voids(row).unwrap_or_default())
        {
            if *class == outside && code >= VOID {
                *class = 0;
            }
        }
    }

    /// Kinds of a row's pixels: a category each.
    fn areas(&self, classes: &[u16], kinds: &mut [u16]) {
        let outside = self.outside();
        for (kind, &class) in kinds.iter_mut().zip(classes) {
            let is_none = class == 0 || class == outside;
            *kind = if is_none { NO_KIND } else { class };
        }
    }

    /// Kinds of a row's pixels: computed or not, but none on ground of unknown height, at which no rim
    /// is drawn.
    fn unknown(&self, classes: &[u16], row: usize, kinds: &mut [u16]) {
        let outside = self.outside();
        for (kind, &class) in kinds.iter_mut().zip(classes) {
            *kind = u16::from(class == outside);
        }
        for (kind, &code) in kinds
            .iter_mut()
            .zip(self.relief.voids(row).unwrap_or_default())
        {
            if *kind == 0 && code >= VOID {
                *kind = NO_KIND;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shade_is_the_nearest_to_its_brightness() {
        for step in 0..400 {
            let brightness = 0.005 * step as f32;
            for (height_m, first, count) in
                [(12.5_f32, 0, LAND_SHADES), (0.0, LAND_SHADES, SEA_SHADES)]
            {
                let gap = |code: usize| (unshade(code).1 - f64::from(brightness)).abs();
                let least = (first..first + count).map(gap).fold(f64::MAX, f64::min);
                let code = usize::from(shade(height_m, brightness));
                assert!((first..first + count).contains(&code), "{brightness}");
                assert!(gap(code) < least + 1e-5, "{brightness}: {code}");
            }
        }
        assert_eq!(shade(f32::NAN, 1.0), VOID);
        assert_eq!(shade(3.0, f32::NAN), VOID);
        assert_eq!(usize::from(shade(-3.0, 1e9)), LAND_SHADES - 1);
    }
}
