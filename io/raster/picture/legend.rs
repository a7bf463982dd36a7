//! Vertical legend of a layer.

use super::style::{Category, Colours, Style};
use super::{marks, paper};
use crate::Sector;
use crate::scene::scale::{number, ticks};
use crate::scene::svg::{Canvas, Font, Point};
use crate::scene::{Bitmap, PictureError, Rgba};

/// The legend of a layer.
#[derive(Debug, Clone, Copy)]
pub struct Legend<'a> {
    /// Style of the layer.
    pub style: &'a Style,
    /// Lowest and highest value shown; ends of the scale with values beyond them are marked.
    pub range: Option<[f32; 2]>,
    /// Label of cells without a colour, when there are any.
    pub no_data: Option<&'a str>,
    /// Label of cells that were not computed, when there are any.
    pub outside: Option<&'a str>,
    /// Terrain without known heights is shown.
    pub has_voids: bool,
    /// Label of the line along which the layer passes its threshold, when it is drawn.
    pub threshold: Option<&'a str>,
    /// Sites are marked.
    pub has_sites: bool,
    /// Directive antennas are marked.
    pub has_sectors: bool,
    /// Height within which categories are listed, px; the rest is counted.
    pub height_max: f64,
}

/// Height of a vertical scale, px.
const BAR: f64 = 280.0;

/// Width of a scale and of swatches, px.
const SWATCH: f64 = 20.0;

/// Height of a line, px.
const PITCH: f64 = 25.0;

/// Height of a line of the title, px.
const TITLE_PITCH: f64 = 20.0;

/// Height of a line where there are many, px.
const DENSE_PITCH: f64 = 17.0;

/// Categories that are listed in any height.
const LISTED_MIN: usize = 4;

/// Height of a legend of its own, px.
const HEIGHT_MAX: f64 = 720.0;

/// Labels of a vertical scale, at most.
const TICKS_MAX: u32 = 10;

const TITLE: Font = Font::plain(14.0, paper::INK_SVG).bold();
const LABEL: Font = Font::plain(12.0, paper::INK_SVG);
const SOFT: Font = Font::plain(12.0, paper::SOFT_SVG);

impl<'a> Legend<'a> {
    /// The legend of a layer with this style.
    #[must_use]
    pub fn new(style: &'a Style) -> Self {
        Self {
            style,
            range: None,
            no_data: None,
            outside: None,
            has_voids: false,
            threshold: None,
            has_sites: false,
            has_sectors: false,
            height_max: HEIGHT_MAX,
        }
    }

    /// The legend as a picture of this width, as high as its content.
    ///
    /// # Errors
    /// When the picture cannot be rendered.
    pub fn picture(&self, width: u32) -> Result<Bitmap, PictureError> {
        let size = [f64::from(width), self.height(f64::from(width))];
        let mut bitmap = Bitmap::new(width, size[1] as u32, paper::PAGE);
        let mut canvas = Canvas::new(size, &self.style.title, &self.style.unit);
        self.draw(&mut canvas, [0.0, 0.0], size[0]);
        bitmap.draw(&canvas.finish())?;
        Ok(bitmap)
    }

    /// Height at this width, px, a whole number.
    pub(super) fn height(&self, width: f64) -> f64 {
        let body = match self.style.listed() {
            None => BAR + 24.0,
            Some(all) => {
                let Rows { pitch, count } = self.rows(all.len(), width);
                pitch * (count + usize::from(count < all.len())) as f64 + 8.0
            }
        };
        self.height_without_body(width) + body
    }

    /// Height of all but the scale or the list, px.
    fn height_without_body(&self, width: f64) -> f64 {
        let unit = if self.style.unit.is_empty() { 8.0 } else { 28.0 };
        let notes = self.notes().into_iter();
        let notes: f64 = notes.map(|(label, _)| note_height(label, width)).sum();
        self.title_lines(width).len() as f64 * TITLE_PITCH + unit + notes + 4.0
    }

    /// Lines of a list of so many categories: all of them where they fit, if need be closer together.
    fn rows(&self, all: usize, width: f64) -> Rows {
        let free = self.height_max - self.height_without_body(width) - 8.0;
        if let Some(pitch) =
            [PITCH, DENSE_PITCH].into_iter().find(|pitch| pitch * all as f64 <= free)
        {
            return Rows { pitch, count: all };
        }
        // A line for the number of the others.
        let lines = (free / DENSE_PITCH).max(0.0) as usize;
        Rows { pitch: DENSE_PITCH, count: lines.saturating_sub(1).clamp(LISTED_MIN.min(all), all) }
    }

    /// Draws the legend from its upper left corner.
    pub(super) fn draw(&self, canvas: &mut Canvas, [left, top]: Point, width: f64) {
        let mut y = top;
        for line in self.title_lines(width) {
            y += TITLE_PITCH;
            canvas.text("legend-title", [left + 1.0, y - 5.0], TITLE, &line);
        }
        if self.style.unit.is_empty() {
            y += 8.0;
        } else {
            canvas.text("legend-unit", [left + 1.0, y + 13.0], SOFT, &self.style.unit);
            y += 28.0;
        }
        y = match (&self.style.colours, self.style.listed()) {
            (&Colours::Ramp { low, high, step, .. }, _) => {
                self.scale(canvas, [left, y], [low, high], step)
            }
            (_, all) => {
                let all = all.unwrap_or_default();
                list(canvas, [left, y], width, &all, self.rows(all.len(), width))
            }
        };
        for (label, note) in self.notes() {
            note.draw(canvas, [left, y]);
            for (line, text) in note_lines(label, width).iter().enumerate() {
                let down = 12.5 + NOTE_PITCH * line as f64;
                canvas.text("label", [left + 30.0, y + down], LABEL, text);
            }
            y += note_height(label, width);
        }
    }

    fn title_lines(&self, width: f64) -> Vec<String> {
        let words: Vec<String> = self.style.title.split(' ').map(str::to_owned).collect();
        TITLE.wrap(&words, " ", width - 4.0)
    }

    fn scale(
        &self,
        canvas: &mut Canvas,
        [left, top]: Point,
        [low, high]: [f64; 2],
        step: Option<f64>,
    ) -> f64 {
        scale_strip(canvas, self.style, [low, high], [left, top], [SWATCH, BAR]);
        let style = format!("stroke=\"{}\"", paper::SOFT_SVG);
        let x = left + SWATCH;
        for (value, label) in self.ticks([low, high], step, TICKS_MAX) {
            let y = top + BAR * (high - value) / (high - low);
            let row = y.round() + 0.5;
            canvas.line("tick", [x, row], [x + 5.0, row], &style);
            canvas.text("tick", [x + 10.0, y + 4.5], LABEL, &label);
        }
        top + BAR + 24.0
    }

    /// Labelled values: both ends, which are marked where values lie beyond them, and class borders
    /// or round numbers between them.
    pub(super) fn ticks(
        &self,
        [low, high]: [f64; 2],
        step: Option<f64>,
        count_max: u32,
    ) -> Vec<(f64, String)> {
        let size = self.style.unit_size;
        let [low, high] = [low / size, high / size];
        let step = step.map(|step| step / size);
        let (every, decimals, inner) = match step {
            Some(step) => {
                let classes = ((high - low) / step / f64::from(count_max)).ceil().max(1.0);
                let every = classes * step;
                let count = ((high - low) / every).floor() as u32;
                let borders = (1..=count).map(|i| low + f64::from(i) * every).collect();
                (every, ticks(0.0, step, 1).decimals, borders)
            }
            None => {
                let round = ticks(low, high, count_max);
                (round.step, round.decimals, round.values)
            }
        };
        let is_apart = |v: &f64| (*v - low).min(high - *v) > 0.55 * every;
        let mut values = vec![low];
        values.extend(inner.into_iter().filter(is_apart));
        values.push(high);
        let range = self.range.unwrap_or([f32::INFINITY, f32::NEG_INFINITY]);
        let [least, most] = range.map(|value| f64::from(value) / size);
        let label = |value: f64| {
            let text = number(value, decimals);
            if value <= low && least < low {
                format!("\u{2264} {text}")
            } else if value >= high && most > high {
                format!("\u{2265} {text}")
            } else {
                text
            }
        };
        values.into_iter().map(|value| (value * size, label(value))).collect()
    }

    fn notes(&self) -> Vec<(&str, Note)> {
        let mut notes = Vec::new();
        notes.extend(self.threshold.map(|label| (label, Note::Threshold)));
        notes.extend(self.no_data.map(|label| (label, Note::NoData)));
        notes.extend(self.outside.map(|label| (label, Note::Outside)));
        notes.extend(self.has_voids.then_some(("no terrain data", Note::Void)));
        notes.extend(self.has_sites.then_some(("site", Note::Site)));
        notes.extend(self.has_sectors.then_some(("sector antenna, azimuth", Note::Sector)));
        notes
    }
}

/// Distance of lines within a note, px.
const NOTE_PITCH: f64 = 15.0;

/// The label of a note at this width of the legend, in lines.
fn note_lines(label: &str, width: f64) -> Vec<String> {
    let words: Vec<String> = label.split(' ').map(str::to_owned).collect();
    LABEL.wrap(&words, " ", width - 32.0)
}

/// Height of a note at this width of the legend, px.
fn note_height(label: &str, width: f64) -> f64 {
    PITCH + NOTE_PITCH * (note_lines(label, width).len().max(1) - 1) as f64
}

/// A line below the colours.
#[derive(Clone, Copy)]
enum Note {
    NoData,
    Outside,
    Void,
    Threshold,
    Site,
    Sector,
}

impl Note {
    fn draw(self, canvas: &mut Canvas, [x, y]: Point) {
        match self {
            Self::NoData => swatch(canvas, [x, y], [SWATCH, 16.0], [0; 4]),
            Self::Outside => {
                swatch(canvas, [x, y], [SWATCH, 16.0], paper::OUTSIDE);
                let rim = [x + SWATCH - 3.5, x + SWATCH - 3.5];
                let style = format!("stroke=\"{}\" stroke-width=\"1.4\"", paper::INK_SVG);
                canvas.line("rim", [rim[0], y + 1.0], [rim[1], y + 15.0], &style);
            }
            Self::Void => {
                swatch(canvas, [x, y], [SWATCH, 16.0], [246, 246, 246, 255]);
                for at in [x + 1.0, x + 5.0] {
                    let style = "stroke=\"#96969c\" stroke-width=\"1.4\"";
                    canvas.line("hatch", [at, y + 15.0], [at + 14.0, y + 1.0], style);
                }
            }
            Self::Threshold => {
                swatch(canvas, [x, y], [SWATCH, 16.0], [0; 4]);
                marks::threshold(canvas, &[[x + 1.0, y + 8.0], [x + SWATCH - 1.0, y + 8.0]], 1.0);
            }
            Self::Sector => {
                let sector = Sector { azimuth_deg: 90.0, beamwidth_deg: 60.0 };
                marks::wedge(canvas, [x, y + 8.0], SWATCH, sector, None);
            }
            Self::Site => marks::mark(canvas, [x + SWATCH / 2.0, y + 8.0], 6.0, None),
        }
    }
}

/// Draws the colours of a ramp from `low` to `high`, upwards or to the right, with a frame.
pub(super) fn scale_strip(
    canvas: &mut Canvas,
    style: &Style,
    [low, high]: [f64; 2],
    [left, top]: Point,
    [width, height]: Point,
) {
    let is_vertical = height > width;
    let length = width.max(height);
    let colour = |i: u32| {
        let share = (f64::from(i) + 0.5) / length;
        let share = if is_vertical { 1.0 - share } else { share };
        style.colour((low + (high - low) * share) as f32)
    };
    let mut first = 0;
    let last = length as u32;
    for i in 1..=last {
        if i < last && colour(i) == colour(first) {
            continue;
        }
        let (from, size) = (f64::from(first), f64::from(i - first));
        let (corner, size) = match is_vertical {
            true => ([left, top + from], [width, size]),
            false => ([left + from, top], [size, height]),
        };
        canvas.rect(
            "scale",
            corner,
            size,
            &paper::fill(colour(first).map_or(paper::LAND, paper::on_land)),
        );
        first = i;
    }
    frame(canvas, [left, top], [width, height]);
}

/// Draws the swatch of a class, as it looks on level land.
pub(super) fn class_swatch(canvas: &mut Canvas, corner: Point, size: Point, colour: Rgba) {
    swatch(canvas, corner, size, paper::on_land(colour));
}

/// Draws a swatch of a colour over bare ground.
fn swatch(canvas: &mut Canvas, corner: Point, size: Point, colour: Rgba) {
    canvas.rect("swatch", corner, size, &paper::fill(paper::LAND));
    canvas.rect("swatch", corner, size, &paper::fill(colour));
    frame(canvas, corner, size);
}

/// Draws a frame of 1 px just within a rectangle.
fn frame(canvas: &mut Canvas, [x, y]: Point, [width, height]: Point) {
    let (corner, size) = ([x + 0.5, y + 0.5], [width - 1.0, height - 1.0]);
    canvas.rect("frame", corner, size, &paper::frame(paper::SOFT_SVG));
}

/// Lines of a list.
struct Rows {
    /// Height of a line, px.
    pitch: f64,
    /// Categories that have a line.
    count: usize,
}

fn list(
    canvas: &mut Canvas,
    [left, top]: Point,
    width: f64,
    all: &[Category],
    Rows { pitch, count }: Rows,
) -> f64 {
    let mut y = top;
    let size = [SWATCH, (pitch - 4.0).min(16.0)];
    for entry in all.iter().take(count) {
        class_swatch(canvas, [left, y], size, entry.colour);
        let label = LABEL.fit(&entry.label, width - 32.0);
        canvas.text("label", [left + 30.0, y + size[1] / 2.0 + 4.5], LABEL, &label);
        y += pitch;
    }
    if all.len() > count {
        let more = format!("and {} more", all.len() - count);
        canvas.text("label", [left + 30.0, y + size[1] / 2.0 + 4.5], SOFT, &more);
        y += pitch;
    }
    y + 8.0
}
