//! A layer over shaded terrain, as pixels.

use rayon::prelude::*;

use super::super::grid::Grid;
use super::paper;
use super::pixels::{Edges, Line, NO_KIND, Nearest, STRIP};
use super::relief::{CODES, Relief, VOID, shade, unshade};
use super::shade::{Redrawing, Stretched, is_coarser};
use super::style::{Classes, Colours, Style};
use crate::scene::{Bitmap, Rgba, over, shaded};

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
    let frame = relief.frame();
    let (cols, rows) = (frame.cols as usize, frame.rows as usize);
    let [left, top] = origin.map(|side| side as usize);
    let width = bitmap.width() as usize;
    let pixels = &mut bitmap.pixels_mut()[top * width..][..rows * width];
    let strips = pixels.par_chunks_mut(STRIP * width).enumerate();
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
        let hatch =
            if code > usize::from(VOID) { [150, 150, 156, 255] } else { [246, 246, 246, 255] };
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
        let (classes, frame) = (Classes::new(style), relief.frame());
        let outside = classes.count() as u16;
        let of_cells = |grid: &Grid, class: &(dyn Fn(f32) -> u16 + Sync), beyond: u16| {
            let cells =
                grid.cells.par_iter().with_min_len(1 << 12).map(|&value| class(value)).collect();
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
        Self { classes, relief, own, gaps }
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
        for (class, &code) in out.iter_mut().zip(self.relief.voids(row).unwrap_or_default()) {
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
        for (kind, &code) in kinds.iter_mut().zip(self.relief.voids(row).unwrap_or_default()) {
            if *kind == 0 && code >= VOID {
                *kind = NO_KIND;
            }
        }
    }
}
