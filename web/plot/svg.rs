//! The little of SVG that is needed, written so that no number and no name can break it.

use std::fmt::Write;

use super::text;

/// A place on the canvas: right, then down, px.
pub(super) type Point = [f64; 2];

/// Coordinates are kept within this, px: renderers hold them as 32-bit floats.
const FARTHEST_PX: f64 = 100_000.0;

/// Keeps an aside apart; an en space, since ordinary spaces collapse.
const ASIDE_GAP: char = '\u{2002}';

/// SVG text under construction.
#[derive(Debug)]
pub(super) struct Canvas {
    out: String,
}

/// How a text is set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Font {
    /// Height of the font, px.
    pub size: f64,
    pub bold: bool,
    pub fill: &'static str,
    pub anchor: Anchor,
    /// Colour of an outline that keeps the text readable over lines.
    pub halo: Option<&'static str>,
}

/// Which part of a text lies at its point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Font {
    /// Left-aligned, regular, without halo.
    pub const fn plain(size: f64, fill: &'static str) -> Self {
        let anchor = Anchor::Start;
        Self {
            size,
            bold: false,
            fill,
            anchor,
            halo: None,
        }
    }

    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub const fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    pub const fn over(self, halo: &'static str) -> Self {
        Self {
            halo: Some(halo),
            ..self
        }
    }

    /// Width to allow for `content`, px.
    pub fn width(&self, content: &str) -> f64 {
        text::width_em(content, self.bold) * self.size
    }

    /// `content`, shortened with an ellipsis where it is wider than `room` px.
    pub fn fit(&self, content: &str, room: f64) -> String {
        text::fit(content, self.bold, room / self.size)
    }
}

impl Canvas {
    /// Begins a picture of `size` px that scales with its container. `title` and `desc` are what
    /// a screen reader says.
    pub fn new(size: Point, title: &str, desc: &str) -> Self {
        let mut canvas = Self {
            out: String::with_capacity(32 * 1024),
        };
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

    /// The finished text.
    pub fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }

    /// Two colours from top to bottom, to be used as `fill="url(#id)"`.
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

    /// Begins a window outside which nothing shows; coordinates stay those of the canvas.
    pub fn open_window(&mut self, corner: Point, size: Point) {
        let [x, y, w, h] = [num(corner[0]), num(corner[1]), num(size[0]), num(size[1])];
        self.raw(format_args!(
            "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\">\n"
        ));
    }

    /// Ends the window.
    pub fn close_window(&mut self) {
        self.out.push_str("</svg>\n");
    }

    /// A rectangle with its upper left corner at `corner`.
    pub fn rect(&mut self, class: &str, corner: Point, size: Point, style: &str) {
        let [x, y, w, h] = [num(corner[0]), num(corner[1]), num(size[0]), num(size[1])];
        self.raw(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" {style}/>\n"
        ));
    }

    pub fn circle(&mut self, class: &str, at: Point, radius: f64, style: &str) {
        let [x, y, r] = [num(at[0]), num(at[1]), num(radius)];
        self.raw(format_args!(
            "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\" {style}/>\n"
        ));
    }

    pub fn line(&mut self, class: &str, from: Point, to: Point, style: &str) {
        let [x1, y1, x2, y2] = [num(from[0]), num(from[1]), num(to[0]), num(to[1])];
        self.raw(format_args!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" {style}/>\n"
        ));
    }

    /// A line through `points`, each said once; nothing when there is none.
    pub fn polyline(&mut self, class: &str, points: &[Point], style: &str) {
        self.through("polyline", class, points, &format!("fill=\"none\" {style}"));
    }

    /// The area within `points`; nothing when there is none.
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

    /// As [`Self::text`], with a smaller `aside` after it, or before it where the text ends at its
    /// point: so the content itself stands there, whatever the font.
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
        self.raw(format_args!("{first}{ASIDE_GAP}{second}</text>\n"));
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

/// A coordinate at 0.1 px, without a needless `.0` or `-0`; 0 for what is no number.
pub(super) fn num(value: f64) -> String {
    let bounded = if value.is_finite() {
        value.clamp(-FARTHEST_PX, FARTHEST_PX)
    } else {
        0.0
    };
    let text = format!("{bounded:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// `content` as character data or attribute value. What XML 1.0 cannot carry is replaced, and line
/// breaks become spaces.
#[must_use]
pub fn escape(content: &str) -> String {
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
