//! Picture of the measures of a study: a panel for each, its mean and interval for each combination of values.

use groundwave_raster::scene::scale::{ticks, trimmed};
use groundwave_raster::scene::svg::{Anchor, Canvas, Font};

use super::theme::Theme;

/// Mean of a measure, with half the width of its interval where it has one.
pub type Interval = (f64, Option<f64>);

/// A measure.
#[derive(Debug, Clone)]
pub struct MeasurePanel {
    /// Name with its unit.
    pub title: String,
    /// Mean and interval of each combination; `None` where no run has a value.
    pub means: Vec<Option<Interval>>,
}

/// Content of the picture.
#[derive(Debug, Clone, Copy)]
pub struct StudyPicture<'a> {
    /// Title.
    pub title: &'a str,
    /// Values of each combination.
    pub labels: &'a [String],
    /// The measures.
    pub panels: &'a [MeasurePanel],
}

const WIDTH: f64 = 1_100.0;
const LEFT: f64 = 70.0;
const GAP: f64 = 90.0;
const PANEL_WIDTH: f64 = (WIDTH - LEFT - GAP - 20.0) / 2.0;
const PANEL_HEIGHT: f64 = 130.0;
const PITCH: f64 = PANEL_HEIGHT + 70.0;
const TOP: f64 = 70.0;

/// Draws the means of a study as SVG.
#[must_use]
pub fn study_svg(picture: &StudyPicture<'_>) -> String {
    let rows = picture.panels.len().div_ceil(2);
    let height = TOP + rows as f64 * PITCH;
    let palette = Theme::Light.palette();
    let description = "Means of the measures of a study, with their 95 % intervals";
    let mut canvas = Canvas::new([WIDTH, height], picture.title, description);
    canvas.rect("page", [0.0; 2], [WIDTH, height], &format!("fill=\"{}\"", palette.page));
    let head = Font::plain(16.0, palette.ink).bold();
    canvas.text("title", [LEFT, 30.0], head, &head.fit(picture.title, WIDTH - 2.0 * LEFT));
    for (number, panel) in picture.panels.iter().enumerate() {
        let corner =
            [LEFT + (number % 2) as f64 * (PANEL_WIDTH + GAP), TOP + (number / 2) as f64 * PITCH];
        draw(&mut canvas, picture.labels, panel, corner);
    }
    canvas.finish()
}

fn draw(canvas: &mut Canvas, labels: &[String], panel: &MeasurePanel, [left, top]: [f64; 2]) {
    let palette = Theme::Light.palette();
    let bottom = top + PANEL_HEIGHT;
    let ends = panel.means.iter().flatten().flat_map(|(mean, half)| {
        let half = half.unwrap_or(0.0);
        [mean - half, mean + half]
    });
    let (mut low, mut high) = ends
        .filter(|end| end.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end), high.max(end)));
    if low > high {
        (low, high) = (0.0, 1.0);
    }
    let room = ((high - low) * 0.08).max(high.abs() * 1e-3).max(1e-6);
    (low, high) = (low - room, high + room);
    let y = |value: f64| bottom - (value - low) / (high - low) * PANEL_HEIGHT;
    let x = |place: usize| left + (place as f64 + 0.5) / labels.len().max(1) as f64 * PANEL_WIDTH;
    let bold = Font::plain(12.0, palette.ink).bold();
    canvas.text("axis", [left, top - 10.0], bold, &bold.fit(&panel.title, PANEL_WIDTH));
    let soft = Font::plain(11.0, palette.ink_soft);
    let marks = ticks(low, high, 4);
    for mark in marks.values.iter().filter(|mark| (low..=high).contains(*mark)) {
        let style = format!("stroke=\"{}\"", palette.grid);
        canvas.line("grid", [left, y(*mark)], [left + PANEL_WIDTH, y(*mark)], &style);
        let at = [left - 6.0, y(*mark) + 4.0];
        canvas.text("tick", at, soft.anchored(Anchor::End), &trimmed(*mark, marks.decimals));
    }
    let stroke = format!("stroke=\"{}\" stroke-width=\"1.6\"", palette.zone);
    for (place, mean) in panel.means.iter().enumerate() {
        let Some((mean, half)) = mean else { continue };
        if let Some(half) = half {
            let [above, below] = [y(mean + half), y(mean - half)];
            canvas.line("interval", [x(place), above], [x(place), below], &stroke);
            for end in [above, below] {
                canvas.line("cap", [x(place) - 4.0, end], [x(place) + 4.0, end], &stroke);
            }
        }
        canvas.circle("mean", [x(place), y(*mean)], 3.5, &format!("fill=\"{}\"", palette.ink));
    }
    let width = PANEL_WIDTH / labels.len().max(1) as f64;
    // Of many combinations only some labels have room.
    let every = (60.0 / width).ceil().max(1.0) as usize;
    for (place, label) in labels.iter().enumerate().step_by(every) {
        let font = soft.anchored(Anchor::Middle);
        let text = font.fit(label, width * every as f64 - 8.0);
        canvas.text("tick", [x(place), bottom + 16.0], font, &text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mean_has_a_point_and_each_interval_a_line() {
        let panel = |means: &[Option<Interval>]| MeasurePanel {
            title: "hops".to_owned(),
            means: means.to_vec(),
        };
        let panels = [
            panel(&[Some((1.0, Some(0.5))), None, Some((3.0, None))]),
            panel(&[None, None, Some((f64::NAN, None))]),
        ];
        let labels = ["rate=1", "rate=2", "rate=<3>"].map(str::to_owned);
        let svg = study_svg(&StudyPicture { title: "a & b", labels: &labels, panels: &panels });
        assert_eq!(svg.matches("class=\"interval\"").count(), 1);
        assert_eq!(svg.matches("class=\"mean\"").count(), 3);
        assert!(svg.contains("a &amp; b") && svg.contains("rate=&lt;3&gt;"));
        assert!(!svg.contains("NaN"), "{svg}");
    }
}
