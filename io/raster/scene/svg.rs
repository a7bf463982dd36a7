//! SVG writer: shapes and text of a scene.
//!
//! Coordinates are bounded and at 0.1 px, and characters that XML cannot carry are replaced, which
//! the `svg` crate and HTML templates leave to the caller; with these rules around them they would
//! not be shorter.

use std::fmt::Write;

use super::font;

/// A position on the canvas: right, down, px.
pub type Point = [f64; 2];

/// Bound of coordinates, px: renderers hold them as 32-bit floats.
const FARTHEST_PX: f64 = 100_000.0;

/// Gap between two texts on a line; an en space, since ordinary spaces collapse.
const TEXT_GAP: char = '\u{2002}';

/// An SVG document under construction.
#[derive(Debug)]
pub struct Canvas {
    out: String,
}

/// Style of a text.
#[derive(Debug, Clone, Copy)]
pub struct Font {
    /// Font size, px.
    pub size: f64,
    /// Bold weight.
    pub bold: bool,
    /// Colour, `#rrggbb`.
    pub fill: &'static str,
    /// Point of the text at its position.
    pub anchor: Anchor,
    /// Colour of an outline for text over lines.
    pub halo: Option<&'static str>,
}

/// Horizontal alignment of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Anchor {
    /// Left end at the position.
    Start,
    /// Middle at the position.
    Middle,
    /// Right end at the position.
    End,
}

impl Font {
    /// Regular weight, left-aligned, without outline.
    #[must_use]
    pub const fn plain(size: f64, fill: &'static str) -> Self {
        let anchor = Anchor::Start;
        Self { size, bold: false, fill, anchor, halo: None }
    }

    /// The same in bold.
    #[must_use]
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// The same with another alignment.
    #[must_use]
    pub const fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    /// The same with an outline.
    #[must_use]
    pub const fn over(self, halo: &'static str) -> Self {
        Self { halo: Some(halo), ..self }
    }

    /// Width of `content`, px.
    #[must_use]
    pub fn width(&self, content: &str) -> f64 {
        font::width_em(content, self.bold) * self.size
    }

    /// `content`, cut with an ellipsis where it is wider than `width_max_px`.
    #[must_use]
    pub fn fit(&self, content: &str, width_max_px: f64) -> String {
        font::fit(content, self.bold, width_max_px / self.size)
    }

    /// `words` joined by `separator` in lines of at most `width_max_px`.
    #[must_use]
    pub fn wrap(&self, words: &[String], separator: &str, width_max_px: f64) -> Vec<String> {
        font::wrap(words, separator, self.bold, width_max_px / self.size)
    }
}

impl Canvas {
    /// An empty picture of `size` px that scales with its container; `title` and `desc` are for
    /// screen readers.
    #[must_use]
    pub fn new(size: Point, title: &str, desc: &str) -> Self {
        let mut canvas = Self { out: String::with_capacity(32 * 1024) };
        let [width, height] = [num(size[0]), num(size[1])];
        canvas.raw(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" style=\"max-width:100%;height:auto\" role=\"img\" \
             font-family=\"system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,\
             sans-serif\">\n<title>{}</title>\n<desc>{}</desc>\n",
            escape(title),
            escape(desc)
        ));
        canvas
    }

    /// The document.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }

    /// A vertical gradient of two colours, used as `fill="url(#id)"`.
    pub fn gradient(&mut self, id: &str, colours: [&str; 2], rows: [f64; 2]) {
        self.raw(format_args!(
            "<linearGradient id=\"{id}\" gradientUnits=\"userSpaceOnUse\" x1=\"0\" y1=\"{}\" \
             x2=\"0\" y2=\"{}\"><stop offset=\"0\" stop-color=\"{}\"/><stop offset=\"1\" \
             stop-color=\"{}\"/></linearGradient>\n",
            num(rows[0]),
            num(rows[1]),
            colours[0],
            colours[1]
        ));
    }

    /// Starts a clipping rectangle; coordinates stay those of the canvas.
    pub fn open_clip(&mut self, corner: Point, size: Point) {
        let [x, y, w, h] = [num(corner[0]), num(corner[1]), num(size[0]), num(size[1])];
        self.raw(format_args!(
            "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\">\n"
        ));
    }

    /// Ends the clipping rectangle.
    pub fn close_clip(&mut self) {
        self.out.push_str("</svg>\n");
    }

    /// A rectangle with its upper left corner at `corner`.
    pub fn rect(&mut self, class: &str, corner: Point, size: Point, style: &str) {
        let [x, y, w, h] = [num(corner[0]), num(corner[1]), num(size[0]), num(size[1])];
        self.raw(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" {style}/>\n"
        ));
    }

    /// A circle around `at`.
    pub fn circle(&mut self, class: &str, at: Point, radius: f64, style: &str) {
        let [x, y, r] = [num(at[0]), num(at[1]), num(radius)];
        self.raw(format_args!(
            "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\" {style}/>\n"
        ));
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: Point, to: Point, style: &str) {
        let [x1, y1, x2, y2] = [num(from[0]), num(from[1]), num(to[0]), num(to[1])];
        self.raw(format_args!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" {style}/>\n"
        ));
    }

    /// A line through `points`, without successive duplicates; nothing without points.
    pub fn polyline(&mut self, class: &str, points: &[Point], style: &str) {
        self.through("polyline", class, points, &format!("fill=\"none\" {style}"));
    }

    /// The area within `points`; nothing without points.
    pub fn polygon(&mut self, class: &str, points: &[Point], style: &str) {
        self.through("polygon", class, points, style);
    }

    /// A line of text with its baseline at `at`.
    pub fn text(&mut self, class: &str, at: Point, font: Font, content: &str) {
        self.open_text(class, at, 0, font);
        self.raw(format_args!("{}</text>\n", escape(content)));
    }

    /// As [`Self::text`], turned by `turn_deg` clockwise about `at`.
    pub fn turned_text(
        &mut self,
        class: &str,
        at: Point,
        turn_deg: i32,
        font: Font,
        content: &str,
    ) {
        self.open_text(class, at, turn_deg, font);
        self.raw(format_args!("{}</text>\n", escape(content)));
    }

    /// As [`Self::text`], with a smaller `aside` on its far side: after it, or before right-aligned
    /// text, so that the position of the content does not depend on the width of the aside.
    pub fn text_with_aside(
        &mut self,
        class: &str,
        at: Point,
        (font, content): (Font, &str),
        (small, aside): (Font, &str),
    ) {
        self.open_text(class, at, 0, font);
        let [content, aside] = [escape(content), escape(aside)];
        let (size, fill) = (num(small.size), small.fill);
        let aside = format!(
            "<tspan font-size=\"{size}\" font-weight=\"400\" fill=\"{fill}\">{aside}</tspan>"
        );
        let (first, second) = match font.anchor {
            Anchor::End => (&aside, &content),
            Anchor::Start | Anchor::Middle => (&content, &aside),
        };
        self.raw(format_args!("{first}{TEXT_GAP}{second}</text>\n"));
    }

    fn open_text(&mut self, class: &str, at: Point, turn_deg: i32, font: Font) {
        let [x, y] = [num(at[0]), num(at[1])];
        self.raw(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\"",
            num(font.size),
            font.fill
        ));
        match font.anchor {
            Anchor::Start => {}
            Anchor::Middle => self.out.push_str(" text-anchor=\"middle\""),
            Anchor::End => self.out.push_str(" text-anchor=\"end\""),
        }
        if font.bold {
            self.out.push_str(" font-weight=\"600\"");
        }
        if let Some(halo) = font.halo {
            self.raw(format_args!(
                " stroke=\"{halo}\" stroke-width=\"3\" stroke-linejoin=\"round\" \
                 paint-order=\"stroke\""
            ));
        }
        if turn_deg != 0 {
            self.raw(format_args!(" transform=\"rotate({turn_deg} {x} {y})\""));
        }
        self.out.push('>');
    }

    fn through(&mut self, element: &str, class: &str, points: &[Point], style: &str) {
        if points.is_empty() {
            return;
        }
        self.raw(format_args!("<{element} class=\"{class}\" points=\""));
        let mut last = String::new();
        for point in points {
            let pair = format!("{},{}", num(point[0]), num(point[1]));
            if pair == last {
                continue;
            }
            if !last.is_empty() {
                self.out.push(' ');
            }
            self.out.push_str(&pair);
            last = pair;
        }
        self.raw(format_args!("\" {style}/>\n"));
    }

    fn raw(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(arguments);
    }
}

/// A coordinate at 0.1 px, without `.0` or `-0`; 0 for NaN and infinity.
fn num(value: f64) -> String {
    let bounded = if value.is_finite() { value.clamp(-FARTHEST_PX, FARTHEST_PX) } else { 0.0 };
    let text = format!("{bounded:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// `content` as XML character data or attribute value. Characters that XML 1.0 lacks are replaced;
/// line breaks become spaces.
fn escape(content: &str) -> String {
    let mut safe = String::with_capacity(content.len());
    for c in content.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                safe.push(char::REPLACEMENT_CHARACTER);
            }
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_always_numbers() {
        for (value, expect) in [
            (1.25, "1.2"),
            (-0.04, "0"),
            (3.0, "3"),
            (-12.96, "-13"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
            (1e30, "100000"),
            (-1e30, "-100000"),
        ] {
            assert_eq!(num(value), expect);
        }
    }

    #[test]
    fn markup_in_text_is_escaped() {
        assert_eq!(escape("<a b='c'>&\"\u{0}\n"), "&lt;a b=&#39;c&#39;&gt;&amp;&quot;\u{fffd} ");
    }
}
