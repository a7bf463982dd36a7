//! History of a mesh: reachability, links and the throughput of routes over time.

use groundwave_raster::scene::scale::ticks;
use groundwave_raster::scene::svg::{Anchor, Canvas, Font, Point};
use groundwave_simulation::history::Sample;

use super::theme::Theme;

/// Content of the picture.
#[derive(Debug, Clone, Copy)]
pub struct HistoryPicture<'a> {
    /// Recorded samples.
    pub recorded: &'a [Sample],
    /// Samples of the changed replay.
    pub changed: Option<&'a [Sample]>,
}

const WIDTH: f64 = 900.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
/// Height of a panel and its distance from the next, px.
const PANEL: f64 = 130.0;
const GAP: f64 = 50.0;
/// Most points of a series.
const POINTS_MAX: usize = 1800;

/// Axis title and value of a panel.
type Panel = (&'static str, fn(&Sample) -> f64);

const PANELS: [Panel; 3] = [
    ("reachable pairs, %", |sample| sample.reachable_share * 100.0),
    ("links up", |sample| sample.links_up as f64),
    ("carried, Mbit/s", |sample| sample.carried_bps / 1e6),
];

/// Draws the history as SVG.
#[must_use]
pub fn history_svg(picture: &HistoryPicture<'_>) -> String {
    let height = 30.0 + PANELS.len() as f64 * (PANEL + GAP);
    let mut canvas = Canvas::new(
        [WIDTH, height],
        "The mesh over time",
        "Reachable pairs, links and traffic carried against simulated time",
    );
    let palette = Theme::Light.palette();
    canvas.rect("page", [0.0, 0.0], [WIDTH, height], &fill(palette.page));
    let series = [Some(picture.recorded), picture.changed];
    let all = || series.into_iter().flatten().flatten();
    let span = [
        all().map(|sample| sample.at_s).fold(f64::INFINITY, f64::min),
        all().map(|sample| sample.at_s).fold(0.0, f64::max),
    ];
    for (place, (title, value)) in PANELS.into_iter().enumerate() {
        let top = 30.0 + place as f64 * (PANEL + GAP);
        let most = all().map(value).fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { 1.0 };
        let x =
            |s: f64| LEFT + (s - span[0]) / (span[1] - span[0]).max(1e-9) * (WIDTH - LEFT - RIGHT);
        let y = |ordinate: f64| top + PANEL * (1.0 - ordinate / most);
        let soft = Font::plain(11.0, palette.ink_soft);
        let bold = Font::plain(12.0, palette.ink).bold();
        canvas.text("axis", [LEFT, top - 8.0], bold, title);
        let marks = ticks(0.0, most, 4);
        for mark in &marks.values {
            let style = format!("stroke=\"{}\"", palette.grid);
            canvas.line("grid", [LEFT, y(*mark)], [WIDTH - RIGHT, y(*mark)], &style);
            let text = format!("{mark:.*}", marks.decimals);
            let font = soft.anchored(Anchor::End);
            canvas.text("tick", [LEFT - 6.0, y(*mark) + 4.0], font, &text);
        }
        let times = ticks(span[0], span[1], 8);
        for mark in &times.values {
            let text = format!("{mark:.*} s", times.decimals);
            let font = soft.anchored(Anchor::Middle);
            canvas.text("tick", [x(*mark), top + PANEL + 16.0], font, &text);
        }
        // The changed series first and wider, so that both show where they agree.
        for (samples, colour, width) in
            [(picture.changed, "#e69f00", 4), (Some(picture.recorded), "#0072b2", 2)]
        {
            let Some(samples) = samples else { continue };
            let points: Vec<Point> = thinned(samples)
                .flat_map(|(previous, sample)| {
                    let from = previous.map(|previous| [x(sample.at_s), y(value(previous))]);
                    from.into_iter().chain([[x(sample.at_s), y(value(sample))]])
                })
                .collect();
            let style = format!("stroke=\"{colour}\" stroke-width=\"{width}\"");
            canvas.polyline("series", &points, &style);
        }
    }
    if picture.changed.is_some() {
        let bold = |colour| Font::plain(12.0, colour).bold().anchored(Anchor::End);
        let right = WIDTH - RIGHT;
        canvas.text("legend", [right - 90.0, 22.0], bold("#0072b2"), "recorded");
        canvas.text("legend", [right, 22.0], bold("#b87900"), "changed");
    }
    canvas.finish()
}

fn fill(colour: &str) -> String {
    format!("fill=\"{colour}\"")
}

/// At most [`POINTS_MAX`] samples, each with the one before it: a value holds until the next.
fn thinned(samples: &[Sample]) -> impl Iterator<Item = (Option<&Sample>, &Sample)> {
    let every = samples.len().div_ceil(POINTS_MAX).max(1);
    let last = samples.len().saturating_sub(1);
    let mut previous: Option<&Sample> = None;
    samples
        .iter()
        .enumerate()
        .filter(move |(at, _)| at % every == 0 || *at == last)
        .map(move |(_, sample)| (previous.replace(sample), sample))
}
