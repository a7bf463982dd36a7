//! What the colours mean.

use super::canvas::{Canvas, Rgba};
use super::font::{Anchor, Font};
use super::ground::hatch;
use super::scale::{multiples, number, round_step};
use super::style::{Category, Colours, Style};
use super::{palette::Sequence, paper};

/// The key to a layer.
#[derive(Debug, Clone, Copy)]
pub struct Legend<'a> {
    /// The layer.
    pub style: &'a Style,
    /// Lowest and highest value shown: ends of the scale that hold more say so.
    pub range: Option<[f32; 2]>,
    /// What a cell without a value means, when there are any.
    pub no_data: Option<&'a str>,
    /// Whether ground without a known height is shown.
    pub has_voids: bool,
    /// Whether sites are marked.
    pub has_sites: bool,
}

/// Height of an upright scale (px).
const BAR: i64 = 280;

/// Width of a scale, and of the patches of categories (px).
const PATCH: i64 = 20;

/// From one line to the next (px).
const PITCH: i64 = 25;

/// Categories listed before the rest is only counted.
const LISTED_MAX: usize = 24;

impl<'a> Legend<'a> {
    /// The key to a layer of which nothing else is known.
    #[must_use]
    pub fn new(style: &'a Style) -> Self {
        Self {
            style,
            range: None,
            no_data: None,
            has_voids: false,
            has_sites: false,
        }
    }

    /// Draws it upright on paper, as high as it needs to be.
    #[must_use]
    pub fn draw(&self, width: u32) -> Canvas {
        let mut canvas = Canvas::new(width, self.height(width), paper::PAGE);
        let mut y = self.heading(&mut canvas);
        y = match &self.style.colours {
            &Colours::Ramp {
                sequence,
                low,
                high,
                step,
            } => self.upright(&mut canvas, y, sequence, [low, high], step),
            Colours::Categories(all) => list(&mut canvas, y, all),
        };
        for (label, kind) in self.notes() {
            y = note(&mut canvas, y, label, kind);
        }
        canvas
    }

    fn titles(&self, width: u32) -> Vec<String> {
        Font::plain(15.0, paper::INK)
            .bold()
            .wrap(&self.style.title, f64::from(width) - 4.0)
    }

    fn height(&self, width: u32) -> u32 {
        let head =
            self.titles(width).len() as i64 * 20 + if self.style.unit.is_empty() { 8 } else { 28 };
        let body = match &self.style.colours {
            Colours::Ramp { .. } => BAR + 24,
            Colours::Categories(all) => {
                PITCH * (all.len().min(LISTED_MAX) + usize::from(all.len() > LISTED_MAX)) as i64 + 8
            }
        };
        let notes = self.notes().len() as i64 * PITCH;
        u32::try_from(head + body + notes + 4).unwrap_or(1)
    }

    fn heading(&self, canvas: &mut Canvas) -> i64 {
        let mut y = 0;
        for line in self.titles(canvas.width()) {
            y += 20;
            let font = Font::plain(15.0, paper::INK).bold();
            font.draw(canvas, [1.0, y as f64 - 5.0], Anchor::Start, &line);
        }
        if self.style.unit.is_empty() {
            return y + 8;
        }
        let font = Font::plain(13.0, paper::SOFT);
        font.draw(
            canvas,
            [1.0, y as f64 + 13.0],
            Anchor::Start,
            &self.style.unit,
        );
        y + 28
    }

    fn upright(
        &self,
        canvas: &mut Canvas,
        top: i64,
        sequence: Sequence,
        [low, high]: [f64; 2],
        step: Option<f64>,
    ) -> i64 {
        for y in 0..BAR {
            let t = 1.0 - (y as f64 + 0.5) / BAR as f64;
            canvas.fill(
                [0, top + y],
                [PATCH, 1],
                shown(self.style, sequence, low + (high - low) * t),
            );
        }
        canvas.frame([0, top], [PATCH, BAR], paper::SOFT);
        for (value, label) in self.ticks([low, high], step, 10.0) {
            let y = top as f64 + BAR as f64 * (high - value) / (high - low);
            canvas.fill([PATCH, y.round() as i64], [5, 1], paper::SOFT);
            let font = Font::plain(13.0, paper::INK);
            font.draw(
                canvas,
                [PATCH as f64 + 10.0, y + 4.5],
                Anchor::Start,
                &label,
            );
        }
        top + BAR + 24
    }

    /// Values beside the scale with their labels; the ends say when they stand for more.
    pub(super) fn ticks(
        &self,
        [low, high]: [f64; 2],
        step: Option<f64>,
        parts: f64,
    ) -> Vec<(f64, String)> {
        // Borders of classes, as many as there is room for, or round numbers; and both ends.
        let (step, every, inner) = if let Some(step) = step {
            let every = ((high - low) / step / parts).ceil().max(1.0) * step;
            let above = multiples(0.0, high - low, every);
            (step, every, above.into_iter().map(|v| low + v).collect())
        } else {
            let round = round_step(high - low, parts);
            (round, round, multiples(low, high, round))
        };
        let apart = |v: &&f64| (**v - low).min(high - **v) > 0.55 * every;
        let mut values = vec![low];
        values.extend(inner.iter().filter(apart));
        values.push(high);
        let [least, most] = self.range.unwrap_or([f32::INFINITY, f32::NEG_INFINITY]);
        let label = |value: f64| {
            let text = number(value, step);
            if (value - low).abs() < 1e-9 && f64::from(least) < low {
                format!("\u{2264} {text}")
            } else if (value - high).abs() < 1e-9 && f64::from(most) > high {
                format!("\u{2265} {text}")
            } else {
                text
            }
        };
        values
            .into_iter()
            .map(|value| (value, label(value)))
            .collect()
    }

    fn notes(&self) -> Vec<(&str, Patch)> {
        let mut notes = Vec::new();
        notes.extend(self.no_data.map(|label| (label, Patch::NoData)));
        notes.extend(self.has_voids.then_some(("no terrain data", Patch::Void)));
        notes.extend(self.has_sites.then_some(("site", Patch::Site)));
        notes
    }
}

/// What a line below the colours explains.
#[derive(Clone, Copy)]
enum Patch {
    NoData,
    Void,
    Site,
}

/// The colour of a value of a scale, as the layer has it.
pub(super) fn shown(style: &Style, sequence: Sequence, value: f64) -> Rgba {
    style
        .colour(value as f32)
        .unwrap_or_else(|| sequence.at(0.0))
}

/// A patch of one colour as it looks on bare ground.
pub(super) fn patch(
    canvas: &mut Canvas,
    corner: [i64; 2],
    [width, height]: [i64; 2],
    colour: Rgba,
) {
    canvas.fill(corner, [width, height], paper::LAND);
    canvas.fill(corner, [width, height], colour);
    canvas.frame(corner, [width, height], paper::SOFT);
}

fn list(canvas: &mut Canvas, top: i64, all: &[Category]) -> i64 {
    let mut y = top;
    let font = Font::plain(13.0, paper::INK);
    let room = f64::from(canvas.width()) - 32.0;
    for entry in all.iter().take(LISTED_MAX) {
        patch(canvas, [0, y], [PATCH, 16], entry.colour);
        let label = font.fit(&entry.label, room);
        font.draw(canvas, [30.0, y as f64 + 12.5], Anchor::Start, &label);
        y += PITCH;
    }
    if all.len() > LISTED_MAX {
        let more = format!("and {} more", all.len() - LISTED_MAX);
        font.draw(canvas, [30.0, y as f64 + 12.5], Anchor::Start, &more);
        y += PITCH;
    }
    y + 8
}

fn note(canvas: &mut Canvas, y: i64, label: &str, kind: Patch) -> i64 {
    match kind {
        Patch::NoData => patch(canvas, [0, y], [PATCH, 16], [0; 4]),
        Patch::Void => {
            for row in y..y + 16 {
                for col in 0..PATCH {
                    canvas.set(col, row, hatch(col, row));
                }
            }
            canvas.frame([0, y], [PATCH, 16], paper::SOFT);
        }
        Patch::Site => super::marks::mark(canvas, [10.5, y as f64 + 8.5], 6.0, None),
    }
    let font = Font::plain(13.0, paper::INK);
    let label = font.fit(label, f64::from(canvas.width()) - 32.0);
    font.draw(canvas, [30.0, y as f64 + 12.5], Anchor::Start, &label);
    y + PITCH
}
