//! Text as strokes, so that it is as sharp in a thumbnail as on a poster.

use super::canvas::{Canvas, Rgba};
use super::glyphs;

/// Height of capitals in the grid of the glyphs.
const CAPITAL: f64 = 14.0;

/// Room between the strokes of two glyphs, in the same grid.
const GAP: f64 = 2.0;

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Font {
    /// Size (px); capitals are 0.7 of it high.
    pub size_px: f64,
    /// Thickness of strokes in the grid of the glyphs: 1.7 is plain, 2.7 bold.
    pub weight: f64,
    /// Colour of the strokes.
    pub colour: Rgba,
    /// Colour around the strokes, for text on a busy ground.
    pub halo: Option<Rgba>,
}

/// Which point of a line of text is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The left end.
    Start,
    /// The middle.
    Middle,
    /// The right end.
    End,
}

impl Font {
    /// Plain text.
    #[must_use]
    pub const fn plain(size_px: f64, colour: Rgba) -> Self {
        Self {
            size_px,
            weight: 1.7,
            colour,
            halo: None,
        }
    }

    /// The same with thicker strokes.
    #[must_use]
    pub const fn bold(self) -> Self {
        Self {
            weight: 2.7,
            ..self
        }
    }

    /// The same with a rim.
    #[must_use]
    pub const fn with_halo(self, colour: Rgba) -> Self {
        Self {
            halo: Some(colour),
            ..self
        }
    }

    /// Room between two glyphs in the grid: between their strokes, which have a thickness.
    fn gap(self) -> f64 {
        GAP + 0.8 * self.weight
    }

    /// Pixels to a unit of the grid.
    fn unit(self) -> f64 {
        self.size_px * 0.7 / CAPITAL
    }

    /// Width of a line of text (px).
    #[must_use]
    pub fn width(self, text: &str) -> f64 {
        let gaps = text.chars().count().saturating_sub(1) as f64 * self.gap();
        (text.chars().map(|c| outline(c).width).sum::<f64>() + gaps) * self.unit()
    }

    /// The text, cut with an ellipsis where it would be wider than `room_px`.
    #[must_use]
    pub fn fit(self, text: &str, room_px: f64) -> String {
        if self.width(text) <= room_px {
            return text.to_owned();
        }
        let mut cut = String::new();
        for c in text.chars() {
            if self.width(&format!("{cut}{c}\u{2026}")) > room_px {
                break;
            }
            cut.push(c);
        }
        cut.trim_end().to_owned() + "\u{2026}"
    }

    /// The text in lines of at most `room_px`, broken at spaces.
    #[must_use]
    pub fn wrap(self, text: &str, room_px: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            match lines.last_mut() {
                Some(line) if self.width(&format!("{line} {word}")) <= room_px => {
                    *line += " ";
                    *line += word;
                }
                _ => lines.push(self.fit(word, room_px)),
            }
        }
        lines
    }

    /// Draws a line of text; `at` is a point on its baseline.
    pub fn draw(self, canvas: &mut Canvas, at: [f64; 2], anchor: Anchor, text: &str) {
        let unit = self.unit();
        let width = self.width(text);
        let mut x = at[0]
            - match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => width / 2.0,
                Anchor::End => width,
            };
        let mut placed = Vec::new();
        for c in text.chars() {
            let outline = outline(c);
            let place = |[gx, gy]: [f64; 2]| [x + gx * unit, at[1] - gy * unit];
            let pieces: Vec<_> = outline
                .pieces
                .iter()
                .map(|piece| piece.map(place))
                .collect();
            x += (outline.width + self.gap()) * unit;
            placed.push(pieces);
        }
        let pen = (self.weight * unit).max(0.9);
        if let Some(halo) = self.halo {
            let rim = (0.16 * self.size_px).max(1.6);
            placed
                .iter()
                .for_each(|pieces| canvas.stroke(pieces, pen + 2.0 * rim, halo));
        }
        placed
            .iter()
            .for_each(|pieces| canvas.stroke(pieces, pen, self.colour));
    }
}

/// Straight pieces of a character, y upwards.
struct Outline {
    width: f64,
    pieces: Vec<[[f64; 2]; 2]>,
}

fn outline(character: char) -> Outline {
    let Some((base, mark)) = glyphs::accented(character) else {
        let (width, strokes) = glyphs::glyph(character);
        return Outline {
            width,
            pieces: pieces(strokes, [0.0, 0.0]),
        };
    };
    let (width, strokes) = glyphs::glyph(base);
    let top = if base.is_uppercase() { 16.4 } else { 12.6 };
    let mut all = pieces(strokes, [0.0, 0.0]);
    all.extend(pieces(mark, [width / 2.0, top]));
    Outline { width, pieces: all }
}

/// Reads the notation of [`glyphs`], moved by `origin`.
fn pieces(strokes: &str, [ox, oy]: [f64; 2]) -> Vec<[[f64; 2]; 2]> {
    let mut pieces = Vec::new();
    for stroke in strokes.split(';').filter(|stroke| !stroke.is_empty()) {
        let (is_arc, body) = stroke
            .strip_prefix('@')
            .map_or((false, stroke), |body| (true, body));
        // The table is ours and tested: what does not read as a number cannot be in it.
        let n: Vec<f64> = body.split(' ').map(|v| v.parse().unwrap_or(0.0)).collect();
        let points = match n[..] {
            [cx, cy, rx, ry, from, to] if is_arc => arc([cx, cy], [rx, ry], [from, to]),
            _ => n.as_chunks::<2>().0.to_vec(),
        };
        let moved: Vec<_> = points.iter().map(|[x, y]| [ox + x, oy + y]).collect();
        pieces.extend(moved.windows(2).map(|pair| [pair[0], pair[1]]));
    }
    pieces
}

fn arc([cx, cy]: [f64; 2], [rx, ry]: [f64; 2], [from, to]: [f64; 2]) -> Vec<[f64; 2]> {
    let steps = ((to - from) / 15.0).ceil().max(1.0);
    (0..=steps as u32)
        .map(|step| {
            let angle = (from + (to - from) * f64::from(step) / steps).to_radians();
            [cx + rx * angle.cos(), cy + ry * angle.sin()]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_glyph_stays_within_its_box() {
        let ascii = ' '..='~';
        for c in ascii.chain("åäöÅÄÖéÉèñçøØæÆßüÜšŁł°·×−–≤≥µ²…→".chars())
        {
            let outline = outline(c);
            assert!(
                (0.3..=16.0).contains(&outline.width),
                "{c} is {} wide",
                outline.width
            );
            assert_eq!(outline.pieces.is_empty(), c == ' ', "{c}");
            for [x, y] in outline.pieces.iter().flatten() {
                let fits = (-1.0..=outline.width + 1.0).contains(x) && (-4.5..=20.0).contains(y);
                assert!(fits, "{c} reaches ({x}, {y}) of {}", outline.width);
            }
        }
    }

    #[test]
    fn no_two_ascii_glyphs_look_the_same() {
        let mut seen = std::collections::BTreeMap::new();
        for c in '!'..='~' {
            let strokes = glyphs::glyph(c).1;
            assert_eq!(seen.insert(strokes, c), None, "{c} looks like another");
        }
        assert_ne!(outline('ö').pieces.len(), outline('o').pieces.len());
        assert_eq!(
            outline('\u{416}').pieces.len(),
            4,
            "what is not drawn is a box"
        );
    }

    #[test]
    fn text_is_cut_and_broken_to_its_room() {
        let font = Font::plain(14.0, [0, 0, 0, 255]);
        let room = font.width("Ramberget…");
        let cut = font.fit("Ramberget, Hisingen", room);
        assert!(cut.ends_with('…') && font.width(&cut) <= room, "{cut}");
        let lines = font.wrap("one two three four", font.width("three fo"));
        assert_eq!(lines, ["one two", "three", "four"]);
    }

    #[test]
    fn ink_lies_where_the_anchor_says() {
        let columns = |anchor| {
            let mut canvas = Canvas::new(200, 30, [255; 4]);
            Font::plain(16.0, [0, 0, 0, 255]).draw(&mut canvas, [100.0, 20.0], anchor, "Wave");
            let dark = |x: &i64| (0..30).any(|y| canvas.get(*x, y)[0] < 128);
            let dark: Vec<i64> = (0..200).filter(dark).collect();
            [dark[0], dark[dark.len() - 1]]
        };
        assert!(columns(Anchor::Start)[0] >= 98 && columns(Anchor::End)[1] <= 101);
        let [left, right] = columns(Anchor::Middle);
        assert!((left + right - 200).abs() <= 4);
    }
}
