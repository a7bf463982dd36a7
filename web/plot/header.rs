//! Title, verdict and key values.

use groundwave_model::radio::{Expectation, LinkResult};
use groundwave_raster::scene::svg::{Anchor, Canvas, Font};

use super::figures::{Figure, conditions, sight, verdict, verdict_colour};
use super::scene::RIGHT;
use super::theme::Palette;

/// Left edge of the header, px; its right edge is that of the drawing.
pub(super) const EDGE: f64 = 36.0;

/// The row of figures, px.
const ROW_TOP: f64 = 66.0;
const ROW_HEIGHT: f64 = 58.0;

/// Draws title, conditions, verdict and figures.
pub(super) fn draw(
    canvas: &mut Canvas,
    title: &str,
    result: &LinkResult,
    figures: &[Figure],
    palette: &Palette,
) {
    let badge = badge(canvas, result, palette);
    let room = badge - EDGE - 24.0;
    let large = Font::plain(21.0, palette.ink).bold();
    canvas.text("title", [EDGE, 32.0], large, &large.fit(title, room));
    let small = Font::plain(13.0, palette.ink_soft);
    canvas.text("conditions", [EDGE, 53.0], small, &small.fit(&conditions(result), room));
    row(canvas, figures, palette);
}

/// The verdict with the probability behind it, at the right; returns its left edge.
fn badge(canvas: &mut Canvas, result: &LinkResult, palette: &Palette) -> f64 {
    let expectation = Expectation::of(result);
    // Over unknown ground margin and sight are those of another path.
    let words = match expectation.verdict(result.verdict) {
        Some(_) => {
            let chance = format!("{} {}", Expectation::CHANCE, expectation.chance());
            format!("{} · {chance} · {}", verdict(result), sight(result))
        }
        None => format!("{} · {}", verdict(result), expectation.basis.short()),
    };
    let font = Font::plain(15.0, palette.on_verdict).bold().anchored(Anchor::Middle);
    let width = font.width(&words) + 28.0;
    let left = RIGHT - width;
    let fill = format!("rx=\"17\" fill=\"{}\"", verdict_colour(result, palette));
    canvas.rect("badge", [left, 18.0], [width, 34.0], &fill);
    canvas.text("verdict", [left + width / 2.0, 40.0], font, &words);
    left
}

/// The figures side by side.
fn row(canvas: &mut Canvas, figures: &[Figure], palette: &Palette) {
    let size = [RIGHT - EDGE, ROW_HEIGHT];
    let fill = format!("rx=\"8\" fill=\"{}\"", palette.panel);
    canvas.rect("panel", [EDGE, ROW_TOP], size, &fill);
    let pitch = size[0] / figures.len().max(1) as f64;
    let room = pitch - 18.0;
    let small = Font::plain(11.0, palette.ink_soft);
    let large = Font::plain(16.0, palette.ink).bold();
    let mut x = EDGE + 12.0;
    for figure in figures {
        canvas.text("label", [x, ROW_TOP + 16.0], small, &small.fit(figure.label, room));
        canvas.text("value", [x, ROW_TOP + 35.0], large, &large.fit(&figure.value, room));
        if !figure.note.is_empty() {
            canvas.text("note", [x, ROW_TOP + 50.0], small, &small.fit(&figure.note, room));
        }
        x += pitch;
    }
}
