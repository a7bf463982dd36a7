//! Legend, notes on the terrain, and warnings.

use groundwave_model::radio::LinkResult;
use groundwave_raster::scene::svg::{Canvas, Font, Point};

use super::figures::{sight, verdict};
use super::header::EDGE;
use super::layers::{clutter_fill, ray_stroke, sea_in_view};
use super::scene::{RIGHT, Scene};
use super::text;
use super::theme::Palette;

/// Font size and line height, px.
const SIZE: f64 = 12.0;
const LINE_HEIGHT: f64 = 18.0;

/// Baseline of the first line, px.
const FIRST_Y: f64 = 584.0;

/// Length of a line sample, and the gaps after it and after its label, px.
const SAMPLE: f64 = 26.0;
const GAP: f64 = 7.0;
const GAP_AFTER: f64 = 20.0;

/// Sample of a legend entry.
enum Sample {
    /// A line of this style.
    Line(String),
    /// An area of this style.
    Area(String),
    /// A mark of this colour.
    Diamond(&'static str),
}

/// The legend, laid out.
pub(super) struct Legend {
    entries: Vec<(Point, Sample, String)>,
    notes: Vec<(Point, bool, String)>,
    /// Bottom edge, px.
    pub bottom: f64,
}

impl Legend {
    /// Lays out the legend, then `notes`, then `warnings`, in as many lines as they take.
    pub fn new(
        scene: &Scene,
        result: &LinkResult,
        notes: &[String],
        warnings: &[String],
        palette: &Palette,
    ) -> Self {
        let font = Font::plain(SIZE, palette.ink_soft);
        let mut at = [EDGE, FIRST_Y];
        let mut entries = Vec::new();
        for (sample, words) in samples(scene, result, palette) {
            let width = SAMPLE + GAP + font.width(&words);
            if at[0] > EDGE && at[0] + width > RIGHT {
                at = [EDGE, at[1] + LINE_HEIGHT];
            }
            entries.push((at, sample, words));
            at[0] += width + GAP_AFTER;
        }
        let width = RIGHT - EDGE;
        let mut lines = Vec::new();
        let mut y = at[1] + 6.0;
        let mut say = |words: &[String], between, alert| {
            for line in font.wrap(words, between, width) {
                y += LINE_HEIGHT;
                lines.push(([EDGE, y], alert, line));
            }
        };
        say(notes, " · ", false);
        if !warnings.is_empty() {
            let mut words = warnings.to_vec();
            words[0] = format!("Warnings: {}", words[0]);
            say(&words, ", ", true);
        }
        Self { entries, notes: lines, bottom: y + 12.0 }
    }

    pub fn draw(&self, canvas: &mut Canvas, palette: &Palette) {
        let font = Font::plain(SIZE, palette.ink_soft);
        for (at, sample, words) in &self.entries {
            let (x, y) = (at[0], at[1] - 4.0);
            match sample {
                Sample::Line(style) => canvas.line("key", [x, y], [x + SAMPLE, y], style),
                Sample::Area(style) => {
                    canvas.rect("key", [x, y - 6.0], [SAMPLE, 12.0], style);
                }
                Sample::Diamond(colour) => {
                    let x = x + SAMPLE / 2.0;
                    let points = [[x, y - 6.0], [x + 6.0, y], [x, y + 6.0], [x - 6.0, y]];
                    canvas.polygon("key", &points, &format!("fill=\"{colour}\""));
                }
            }
            canvas.text("legend", [x + SAMPLE + GAP, at[1]], font, words);
        }
        for (at, alert, line) in &self.notes {
            let colour = if *alert { palette.ink } else { palette.ink_soft };
            let class = if *alert { "warnings" } else { "notes" };
            canvas.text(class, *at, Font::plain(SIZE, colour), line);
        }
    }
}

/// Samples and labels of the drawn elements.
fn samples(scene: &Scene, result: &LinkResult, palette: &Palette) -> Vec<(Sample, String)> {
    let mut samples = Vec::new();
    let mut add = |sample, words: &str| samples.push((sample, words.to_owned()));
    if scene.distance_m > 0.0 {
        let words = format!("ray: {}, {}", verdict(result).to_lowercase(), sight(result));
        add(Sample::Line(ray_stroke(result, palette)), &words);
        let zone = palette.zone;
        let band = format!(
            "fill=\"{zone}\" fill-opacity=\"0.16\" stroke=\"{zone}\" stroke-opacity=\"0.45\""
        );
        add(Sample::Area(band), "first Fresnel zone (F1)");
        add(Sample::Line(format!("stroke=\"{zone}\" stroke-width=\"1.3\"")), "0.6 F1");
    }
    if !scene.intrusions().is_empty() {
        let fill = format!("fill=\"{}\" fill-opacity=\"0.55\"", palette.intrusion);
        add(Sample::Area(fill), "ground within 0.6 F1");
    }
    match scene.tightest {
        Some(place) if place.obstructs => {
            add(Sample::Diamond(palette.intrusion), "worst obstruction");
        }
        Some(_) => add(Sample::Diamond(palette.ink_soft), "tightest point"),
        None => {}
    }
    if scene.horizons.is_some() {
        let style =
            format!("stroke=\"{}\" stroke-width=\"1.2\" stroke-dasharray=\"2 4\"", palette.ink);
        add(Sample::Line(style), "over the radio horizons (ITM)");
    }
    if !scene.clutter.is_empty() {
        add(Sample::Area(clutter_fill(palette)), "buildings and trees");
    }
    if scene.missing.contains(&true) {
        let style = format!("stroke=\"{}\" stroke-width=\"1.6\"", palette.intrusion);
        add(Sample::Line(style), "hatched: no terrain data, sea level assumed");
    }
    if sea_in_view(scene) {
        let style = format!("stroke=\"{}\" stroke-width=\"1.2\"", palette.sea);
        add(Sample::Line(style), "sea level");
    }
    let earth = format!("fill=\"{}\"", palette.earth);
    let words = format!("effective Earth, k = {}", text::number(scene.k_factor, 2));
    add(Sample::Area(earth), &words);
    samples
}
