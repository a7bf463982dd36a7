//! Horizontal legend below a small picture.

use super::legend::{Legend, class_swatch, scale_strip};
use super::paper;
use super::style::{Category, Colours};
use crate::scene::svg::{Anchor, Canvas, Font};

/// Height of a horizontal legend with its distance from the picture, px.
pub(super) const KEY: u32 = 52;

/// Draws the legend from `top` down over `width` px: a scale with its unit, or swatches with
/// labels as far as they fit on two lines.
pub(super) fn draw(legend: &Legend<'_>, canvas: &mut Canvas, width: f64, top: f64) {
    match (&legend.style.colours, legend.style.listed()) {
        (&Colours::Ramp { low, high, step, .. }, _) => {
            scale(legend, canvas, width, top, [low, high], step)
        }
        (_, all) => list(canvas, width, top, &all.unwrap_or_default()),
    }
}

fn scale(
    legend: &Legend<'_>,
    canvas: &mut Canvas,
    width: f64,
    y: f64,
    [low, high]: [f64; 2],
    step: Option<f64>,
) {
    let font = Font::plain(11.0, paper::INK_SVG);
    let unit = &legend.style.unit;
    let unit_width = if unit.is_empty() { 0.0 } else { font.width(unit) + 10.0 };
    let bar = (width - unit_width).floor();
    scale_strip(canvas, legend.style, [low, high], [0.0, y], [bar, 10.0]);
    // The ends first: labels between them are left out where they would touch another.
    let mut ticks = legend.ticks([low, high], step, 4);
    ticks.rotate_right(1);
    let mut spans: Vec<[f64; 2]> = Vec::new();
    for (value, label) in ticks {
        let half = font.width(&label) / 2.0 + 3.0;
        let x = bar * (value - low) / (high - low);
        let middle = x.clamp(half - 2.0, width - half + 2.0);
        let span = [middle - half, middle + half];
        if spans.iter().any(|other| span[0] < other[1] && other[0] < span[1]) {
            continue;
        }
        spans.push(span);
        let tick = x.floor().min(bar - 1.0) + 0.5;
        let style = format!("stroke=\"{}\"", paper::SOFT_SVG);
        canvas.line("tick", [tick, y + 10.0], [tick, y + 14.0], &style);
        let font = font.anchored(Anchor::Middle);
        canvas.text("tick", [middle, y + 27.0], font, &label);
    }
    canvas.text("unit", [width - 1.0, y + 9.0], font.anchored(Anchor::End), unit);
}

fn list(canvas: &mut Canvas, width: f64, top: f64, all: &[Category]) {
    let font = Font::plain(11.0, paper::INK_SVG);
    let (mut x, mut y) = (0.0, top);
    for (index, entry) in all.iter().enumerate() {
        let label = font.fit(&entry.label, width - 40.0);
        let pitch = 22.0 + font.width(&label) + 12.0;
        let is_last_line = y > top;
        let more = if is_last_line && index + 1 < all.len() { 16.0 } else { 0.0 };
        if x > 0.0 && x + pitch - 12.0 + more > width {
            if is_last_line {
                canvas.text("label", [x, y + 11.0], font, "\u{2026}");
                return;
            }
            (x, y) = (0.0, y + 20.0);
        }
        class_swatch(canvas, [x.floor(), y], [16.0, 13.0], entry.colour);
        canvas.text("label", [x + 22.0, y + 11.0], font, &label);
        x += pitch;
    }
}
