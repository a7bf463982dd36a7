//! Many small pictures on one page.

use super::canvas::Canvas;
use super::font::{Anchor, Font};
use super::paper;

/// A contact sheet: captioned panels in rows.
#[derive(Debug, Clone)]
pub struct Sheet<'a> {
    /// Heading.
    pub title: &'a str,
    /// Line below the heading; may be empty.
    pub subtitle: &'a str,
    /// Panels in a row, at least 1.
    pub columns: u32,
    /// Caption and picture of each panel, row by row.
    pub panels: Vec<(String, Canvas)>,
}

/// Between panels and around them (px).
const GAP: u32 = 28;

/// Room for a caption (px).
const CAPTION: u32 = 28;

/// Least width (px): headings are to be read beside a single narrow panel, too.
const WIDTH_MIN: u32 = 640;

/// Room for the headings (px).
const HEAD: u32 = 92;

impl Sheet<'_> {
    /// Draws the sheet; all panels get the room of the largest.
    #[must_use]
    pub fn draw(&self) -> Canvas {
        let columns = self.columns.clamp(1, self.panels.len().max(1) as u32);
        let rows = (self.panels.len() as u32).div_ceil(columns).max(1);
        let largest = |side: fn(&Canvas) -> u32| self.panels.iter().map(|p| side(&p.1)).max();
        let cell = [
            largest(Canvas::width).unwrap_or(200),
            largest(Canvas::height).unwrap_or(0) + CAPTION,
        ];
        let width = (GAP + columns * (cell[0] + GAP)).max(WIDTH_MIN);
        let mut canvas = Canvas::new(width, HEAD + rows * (cell[1] + GAP), paper::PAGE);
        let room = f64::from(width - 2 * GAP);
        let left = f64::from(GAP);
        let title = Font::plain(25.0, paper::INK).bold();
        title.draw(
            &mut canvas,
            [left, 44.0],
            Anchor::Start,
            &title.fit(self.title, room),
        );
        let small = Font::plain(15.0, paper::SOFT);
        small.draw(
            &mut canvas,
            [left, 70.0],
            Anchor::Start,
            &small.fit(self.subtitle, room),
        );
        for (index, (caption, picture)) in self.panels.iter().enumerate() {
            let (row, col) = (index as u32 / columns, index as u32 % columns);
            let x = GAP + col * (cell[0] + GAP);
            let y = HEAD + row * (cell[1] + GAP);
            let font = Font::plain(15.0, paper::INK).bold();
            let caption = font.fit(caption, f64::from(cell[0]));
            font.draw(
                &mut canvas,
                [f64::from(x), f64::from(y) + 16.0],
                Anchor::Start,
                &caption,
            );
            canvas.paste(picture, [i64::from(x), i64::from(y + CAPTION)]);
        }
        canvas
    }
}
