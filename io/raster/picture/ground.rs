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
                edges.for_each(|col| darken(col, style.boundary));
            }
            relief.coast(row).for_each(|col| darken(col, coast));
            if has_south && has_rim {
                let edges = rim.next(|kinds| values.unknown(&south, row + 1, kinds));
                edges.for_each(|col| darken(col, 0.75));
            }
        }
    });
}

/// Tones of ground of unknown height: bare, and under a layer, whose tone the hatching must not shift far.
const HATCH: [Rgba; 2] = [[246, 246, 246, 255], [150, 150, 156, 255]];
const LAYER_HATCH: [Rgba; 2] = [[246, 246, 246, 255], [186, 186, 190, 255]];

/// Colour of a class on ground of this code. A layer lies over the ground with one opacity, so that relief
/// shifts all classes alike and none takes the tone of another in the legend.
fn colour(colour: Option<Rgba>, code: usize) -> Rgba {
    let layer = |ground: Rgba, colour| over(ground, colour, paper::LAYER_OPACITY);
    if code >= usize::from(VOID) {
        let tone = code - usize::from(VOID);
        return colour.map_or(HATCH[tone], |colour| layer(LAYER_HATCH[tone], colour));
    }
    let (base, brightness) = unshade(code);
    let lit = |darkest: f64| shaded(base, (0.35 + 0.65 * brightness).clamp(darkest, 1.08));
    match colour {
        // Darker ground would shift the tone by more than half the distance of two classes; the sea is
        // darker than land as it is.
        Some(colour) => layer(lit(if base == paper::SEA { 0.92 } else { 0.78 }), colour),
        None => lit(0.45),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: Rgba, b: Rgba) -> f64 {
        (0..3).map(|i| (f64::from(a[i]) - f64::from(b[i])).powi(2)).sum()
    }

    #[test]
    fn no_relief_makes_a_class_look_like_another_of_the_legend() {
        let names: Vec<String> = (0..15).map(|site| format!("site {site}")).collect();
        let styles = [
            Style::ramp("margin", "dB", [-10.0, 40.0], Some(5.0)),
            Style::ramp("power", "dBm", [-140.0, -40.0], Some(10.0)),
            Style::ramp("path loss", "dB", [70.0, 190.0], Some(10.0)),
            Style::sites("Best server", names.iter().map(String::as_str), &[]),
            Style::verdicts(),
        ];
        for style in styles {
            let classes = Classes::new(&style);
            let colours: Vec<Rgba> =
                (1..classes.count()).filter_map(|class| classes.colour(class)).collect();
            let swatches: Vec<Rgba> = colours.iter().map(|&own| paper::on_land(own)).collect();
            for (class, &own) in colours.iter().enumerate() {
                for code in 0..CODES {
                    let pixel = colour(Some(own), code);
                    let nearest = (0..swatches.len())
                        .min_by(|&a, &b| {
                            let gap = |class: usize| distance(pixel, swatches[class]);
                            gap(a).total_cmp(&gap(b))
                        })
                        .unwrap();
                    assert_eq!(nearest, class, "{} {class} on {code}: {pixel:?}", style.title);
                }
            }
        }
    }
}
