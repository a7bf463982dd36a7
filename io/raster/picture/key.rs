//! The short key below a small picture.

use super::canvas::Canvas;
use super::font::{Anchor, Font};
use super::legend::{Legend, patch, shown};
use super::palette::Sequence;
use super::paper;
use super::style::{Category, Colours};

/// Height of a lying key with its distance from what it explains (px).
pub(super) const KEY: u32 = 52;

/// Draws a key in a few lines from `y` down: a lying scale with its unit, or patches with their
/// names as far as there is room.
pub(super) fn lying(legend: &Legend<'_>, canvas: &mut Canvas, y: i64) {
    match &legend.style.colours {
        &Colours::Ramp {
            sequence,
            low,
            high,
            step,
        } => {
            lying_scale(legend, canvas, y, sequence, [low, high], step);
        }
        Colours::Categories(all) => lying_list(canvas, y, all),
    }
}

fn lying_scale(
    legend: &Legend<'_>,
    canvas: &mut Canvas,
    y: i64,
    sequence: Sequence,
    [low, high]: [f64; 2],
    step: Option<f64>,
) {
    let font = Font::plain(12.0, paper::INK);
    let width = f64::from(canvas.width());
    let unit = &legend.style.unit;
    let bar = width
        - if unit.is_empty() {
            0.0
        } else {
            font.width(unit) + 10.0
        };
    for x in 0..bar as i64 {
        let value = low + (high - low) * (x as f64 + 0.5) / bar;
        canvas.fill([x, y], [1, 10], shown(legend.style, sequence, value));
    }
    canvas.frame([0, y], [bar as i64, 10], paper::SOFT);
    // The ends first: what lies between is left out where it would touch another.
    let mut ticks = legend.ticks([low, high], step, 4.0);
    ticks.rotate_right(1);
    let mut taken: Vec<[f64; 2]> = Vec::new();
    for (value, label) in ticks {
        let half = font.width(&label) / 2.0 + 3.0;
        let x = bar * (value - low) / (high - low);
        let middle = x.clamp(half - 2.0, width - half + 2.0);
        let room = [middle - half, middle + half];
        if taken
            .iter()
            .any(|other| room[0] < other[1] && other[0] < room[1])
        {
            continue;
        }
        taken.push(room);
        canvas.fill(
            [(x as i64).min(bar as i64 - 1), y + 10],
            [1, 4],
            paper::SOFT,
        );
        font.draw(canvas, [middle, y as f64 + 27.0], Anchor::Middle, &label);
    }
    font.draw(canvas, [width - 1.0, y as f64 + 9.0], Anchor::End, unit);
}

fn lying_list(canvas: &mut Canvas, top: i64, all: &[Category]) {
    let font = Font::plain(12.0, paper::INK);
    let width = f64::from(canvas.width());
    let (mut x, mut y) = (0.0, top);
    for (index, entry) in all.iter().enumerate() {
        let label = font.fit(&entry.label, width - 40.0);
        let step = 22.0 + font.width(&label) + 12.0;
        let is_last_line = y > top;
        let more = if is_last_line && index + 1 < all.len() {
            16.0
        } else {
            0.0
        };
        if x > 0.0 && x + step - 12.0 + more > width {
            if is_last_line {
                return font.draw(canvas, [x, y as f64 + 11.0], Anchor::Start, "\u{2026}");
            }
            (x, y) = (0.0, y + 20);
        }
        patch(canvas, [x as i64, y], [16, 13], entry.colour);
        font.draw(canvas, [x + 22.0, y as f64 + 11.0], Anchor::Start, &label);
        x += step;
    }
}
