//! Contact sheets: captioned panels in rows.

use super::paper;
use crate::scene::svg::{Canvas, Font};
use crate::scene::{Bitmap, PictureError};

/// A contact sheet.
#[derive(Debug, Clone)]
pub struct Sheet<'a> {
    /// Heading.
    pub title: &'a str,
    /// Line below the heading; may be empty.
    pub subtitle: &'a str,
    /// Panels in a row, at least 1.
    pub columns: u32,
    /// Caption and picture of each panel, row by row.
    pub panels: Vec<(String, Bitmap)>,
    /// Source of the data, and what was assumed; may be empty.
    pub credit: &'a str,
}

/// Gap between panels and around them, px.
const GAP: u32 = 28;

/// Height of a caption, px.
const CAPTION: u32 = 28;

/// Least width, px: that of headings over a single narrow panel.
const WIDTH_MIN: u32 = 640;

/// Height of a line of the credit, px.
const CREDIT_PITCH: u32 = 14;

/// Height of the headings, px.
const HEAD: u32 = 92;

impl Sheet<'_> {
    /// Draws the sheet; each panel has the space of the largest.
    ///
    /// # Errors
    /// When the picture cannot be rendered.
    pub fn draw(&self) -> Result<Bitmap, PictureError> {
        let columns = self.columns.clamp(1, self.panels.len().max(1) as u32);
        let rows = (self.panels.len() as u32).div_ceil(columns).max(1);
        let largest = |side: fn(&Bitmap) -> u32| self.panels.iter().map(|p| side(&p.1)).max();
        let cell =
            [largest(Bitmap::width).unwrap_or(200), largest(Bitmap::height).unwrap_or(0) + CAPTION];
        let width = (GAP + columns * (cell[0] + GAP)).max(WIDTH_MIN);
        let credit = Font::plain(11.0, paper::SOFT_SVG);
        let words: Vec<String> = self.credit.split_whitespace().map(str::to_owned).collect();
        let credit_lines = credit.wrap(&words, " ", f64::from(width - 2 * GAP));
        let body = HEAD + rows * (cell[1] + GAP);
        let height = body + credit_lines.len() as u32 * CREDIT_PITCH;
        let mut bitmap = Bitmap::new(width, height, paper::PAGE);
        let mut canvas = Canvas::new([width, height].map(f64::from), self.title, self.subtitle);
        let width_max = f64::from(width - 2 * GAP);
        let left = f64::from(GAP);
        let title = Font::plain(23.0, paper::INK_SVG).bold();
        let text = title.fit(self.title, width_max);
        canvas.text("title", [left, 44.0], title, &text);
        let small = Font::plain(14.0, paper::SOFT_SVG);
        let text = small.fit(self.subtitle, width_max);
        canvas.text("subtitle", [left, 70.0], small, &text);
        for (index, line) in (0_u32..).zip(&credit_lines) {
            // In the gap below the panels.
            let y = f64::from(body + index * CREDIT_PITCH);
            canvas.text("credit", [left, y], credit, line);
        }
        let font = Font::plain(14.0, paper::INK_SVG).bold();
        for (index, (caption, picture)) in self.panels.iter().enumerate() {
            let (row, col) = (index as u32 / columns, index as u32 % columns);
            let [x, y] = [GAP + col * (cell[0] + GAP), HEAD + row * (cell[1] + GAP)];
            let caption = font.fit(caption, f64::from(cell[0]));
            canvas.text("caption", [f64::from(x), f64::from(y) + 16.0], font, &caption);
            bitmap.paste(picture, [x, y + CAPTION]);
        }
        bitmap.draw(&canvas.finish())?;
        Ok(bitmap)
    }
}
