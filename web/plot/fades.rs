//! Picture of the number of faded links over time.

use groundwave_raster::scene::scale::ticks;
use groundwave_raster::scene::svg::{Anchor, Canvas, Font, Point};

use super::theme::Theme;

/// Content of the picture.
#[derive(Debug, Clone, Copy)]
pub struct FadesPicture<'a> {
    /// Start of each interval, s, and its number of faded links.
    pub counts: &'a [(f64, usize)],
    /// Length of an interval, s.
    pub interval_s: f64,
    /// Depth below the median of a faded link, dB.
    pub depth_db: f64,
}

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 210.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const PANEL: f64 = 130.0;

/// Draws the number of faded links as SVG.
#[must_use]
pub fn fades_svg(picture: &FadesPicture<'_>) -> String {
    let mut canvas = Canvas::new(
        [WIDTH, HEIGHT],
        "Faded links",
        "Links far below their median level against simulated time",
    );
    let palette = Theme::Light.palette();
    let page = format!("fill=\"{}\"", palette.page);
    canvas.rect("page", [0.0, 0.0], [WIDTH, HEIGHT], &page);
    let most = picture.counts.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1) as f64;
    let first_s = picture.counts.first().map_or(0.0, |(at_s, _)| *at_s);
    let last_s = picture.counts.last().map_or(0.0, |(at_s, _)| *at_s) + picture.interval_s;
    let x = |s: f64| LEFT + (s - first_s) / (last_s - first_s).max(1e-9) * (WIDTH - LEFT - RIGHT);
    let y = |count: f64| TOP + PANEL * (1.0 - count / most);
    let soft = Font::plain(11.0, palette.ink_soft);
    let title = format!("links more than {} dB below their median", picture.depth_db);
    let bold = Font::plain(12.0, palette.ink).bold();
    canvas.text("axis", [LEFT, TOP - 14.0], bold, &title);
    let marks = ticks(0.0, most, 4);
    for mark in &marks.values {
        let style = format!("stroke=\"{}\"", palette.grid);
        canvas.line("grid", [LEFT, y(*mark)], [WIDTH - RIGHT, y(*mark)], &style);
        let font = soft.anchored(Anchor::End);
        let text = format!("{mark:.*}", marks.decimals);
        canvas.text("tick", [LEFT - 6.0, y(*mark) + 4.0], font, &text);
    }
    let times = ticks(first_s, last_s, 8);
    for mark in &times.values {
        let text = format!("{mark:.*} s", times.decimals);
        let font = soft.anchored(Anchor::Middle);
        canvas.text("tick", [x(*mark), TOP + PANEL + 16.0], font, &text);
    }
    let steps = picture.counts.iter().flat_map(|(at_s, count)| {
        let level = y(*count as f64);
        [[x(*at_s), level], [x(at_s + picture.interval_s), level]]
    });
    let points: Vec<Point> = steps.collect();
    canvas.polyline("series", &points, "stroke=\"#d55e00\" stroke-width=\"2\"");
    canvas.finish()
}
