//! Bitmaps: pixels, SVG rendered over them, PNG.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{PixmapMut, Transform};
use resvg::usvg::{self, Options, Tree};
use thiserror::Error;

use super::font;
use super::palette::indexed;

/// Red, green, blue, opacity; not premultiplied.
pub type Rgba = [u8; 4];

/// A picture in memory, top row first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bitmap {
    width: u32,
    height: u32,
    pixels: Vec<Rgba>,
}

/// A picture that cannot be rendered or encoded.
#[derive(Debug, Error)]
pub enum PictureError {
    /// Invalid or too large SVG.
    #[error("render SVG")]
    Render(#[from] usvg::Error),
    /// Size that PNG does not allow.
    #[error("invalid picture size: found {width} by {height} px, allowed 1 to 2147483647")]
    Size {
        /// Width, px.
        width: u32,
        /// Height, px.
        height: u32,
    },
}

static OPTIONS: LazyLock<Options<'static>> = LazyLock::new(|| Options {
    font_family: font::FAMILY.to_owned(),
    fontdb: Arc::new(font::database()),
    ..Options::default()
});

impl Bitmap {
    /// A picture of one colour.
    #[must_use]
    pub fn new(width: u32, height: u32, fill: Rgba) -> Self {
        let pixels = vec![fill; width as usize * height as usize];
        Self { width, height, pixels }
    }

    /// `svg` rendered at its size on white.
    ///
    /// # Errors
    /// When the SVG is invalid or too large.
    pub fn from_svg(svg: &str) -> Result<Self, PictureError> {
        let tree = Tree::from_str(svg, &OPTIONS)?;
        let size = tree.size().to_int_size();
        let mut bitmap = Self::new(size.width(), size.height(), [255; 4]);
        bitmap.render(&tree)?;
        Ok(bitmap)
    }

    /// Width, px.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height, px.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The pixels.
    #[must_use]
    pub fn pixels(&self) -> &[Rgba] {
        &self.pixels
    }

    /// The pixels, row by row from the top, to be drawn on.
    pub fn pixels_mut(&mut self) -> &mut [Rgba] {
        &mut self.pixels
    }

    fn index(&self, x: i64, y: i64) -> Option<usize> {
        let inside =
            (0..i64::from(self.width)).contains(&x) && (0..i64::from(self.height)).contains(&y);
        inside.then(|| (y * i64::from(self.width) + x) as usize)
    }

    /// Colour of a pixel; transparent outside the picture.
    #[must_use]
    pub fn get(&self, x: i64, y: i64) -> Rgba {
        self.index(x, y).map_or([0; 4], |at| self.pixels[at])
    }

    /// Replaces a pixel; ignored outside the picture.
    pub fn set(&mut self, x: i64, y: i64, colour: Rgba) {
        if let Some(at) = self.index(x, y) {
            self.pixels[at] = colour;
        }
    }

    /// Replaces the pixels from `[x, y]` on by those of another picture; what lies outside is ignored.
    pub fn paste(&mut self, picture: &Self, [x, y]: [u32; 2]) {
        let wide = picture.width.min(self.width.saturating_sub(x)) as usize;
        if wide == 0 {
            return;
        }
        let rows = self.pixels.chunks_exact_mut(self.width as usize);
        let from = picture.pixels.chunks_exact(picture.width as usize);
        for (row, from) in rows.skip(y as usize).zip(from) {
            row[x as usize..][..wide].copy_from_slice(&from[..wide]);
        }
    }

    /// Renders `svg` over an opaque picture, from its upper left corner.
    ///
    /// # Errors
    /// When the SVG is invalid or too large.
    pub fn draw(&mut self, svg: &str) -> Result<(), PictureError> {
        self.render(&Tree::from_str(svg, &OPTIONS)?)
    }

    fn render(&mut self, tree: &Tree) -> Result<(), PictureError> {
        let (width, height) = (self.width, self.height);
        // Opaque pixels are the same premultiplied and not.
        let mut pixmap = PixmapMut::from_bytes(self.pixels.as_flattened_mut(), width, height)
            .ok_or(PictureError::Size { width, height })?;
        resvg::render(tree, Transform::identity(), &mut pixmap);
        Ok(())
    }

    /// The picture as PNG, packed fast. An opaque one gets a palette of at most 256 colours: those
    /// beyond take the nearest. Both programs and people see the same in maps, of which shades and
    /// text take some hundred colours.
    ///
    /// # Errors
    /// As [`Bitmap::to_png`].
    pub fn to_fast_png(&self) -> Result<Vec<u8>, PictureError> {
        let size = [self.width, self.height];
        let fast = png::Compression::Fast;
        match indexed(&self.pixels) {
            Some((palette, bytes)) => encode_png(size, &bytes, |encoder| {
                encoder.set_compression(fast);
                encoder.set_color(png::ColorType::Indexed);
                encoder.set_palette(palette.as_flattened().to_vec());
            }),
            None => encode_png(size, self.pixels.as_flattened(), |encoder| {
                encoder.set_compression(fast);
                encoder.set_color(png::ColorType::Rgba);
            }),
        }
    }

    /// The picture as PNG (ISO/IEC 15948): RGB if it is opaque, else RGBA.
    ///
    /// # Errors
    /// When a side is 0 or larger than PNG allows.
    pub fn to_png(&self) -> Result<Vec<u8>, PictureError> {
        self.to_png_about("")
    }

    /// As [`Bitmap::to_png`], with a text under the keyword `Description` unless it is empty.
    ///
    /// # Errors
    /// As [`Bitmap::to_png`].
    pub fn to_png_about(&self, description: &str) -> Result<Vec<u8>, PictureError> {
        let size = [self.width, self.height];
        let set = |colour| {
            move |encoder: &mut png::Encoder<'_, &mut Vec<u8>>| {
                encoder.set_color(colour);
                if !description.is_empty() {
                    let (keyword, text) = ("Description".to_owned(), description.to_owned());
                    let added = encoder.add_itxt_chunk(keyword, text);
                    added.expect("nothing of the image is written yet");
                }
            }
        };
        if self.pixels.iter().any(|pixel| pixel[3] != 255) {
            let rgba = self.pixels.as_flattened();
            return encode_png(size, rgba, set(png::ColorType::Rgba));
        }
        let pixels = self.pixels.iter();
        let rgb: Vec<u8> = pixels.flat_map(|&[r, g, b, _]| [r, g, b]).collect();
        encode_png(size, &rgb, set(png::ColorType::Rgb))
    }
}

/// Octets of a picture as PNG, eight bits a channel; `set` writes their layout into the header.
///
/// # Errors
/// When a side is 0 or larger than PNG allows.
pub(crate) fn encode_png(
    [width, height]: [u32; 2],
    pixels: &[u8],
    set: impl FnOnce(&mut png::Encoder<'_, &mut Vec<u8>>),
) -> Result<Vec<u8>, PictureError> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_depth(png::BitDepth::Eight);
    set(&mut encoder);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(pixels));
    match written {
        Ok(()) => Ok(out),
        Err(_) => Err(PictureError::Size { width, height }),
    }
}

/// `colour` laid over `under` (Porter and Duff, "Compositing digital images", 1984: over), `cover`
/// in [0, 1] of it.
#[must_use]
pub fn over(under: Rgba, colour: Rgba, cover: f64) -> Rgba {
    let alpha = f64::from(colour[3]) / 255.0 * cover.clamp(0.0, 1.0);
    let below = f64::from(under[3]) / 255.0 * (1.0 - alpha);
    let sum = alpha + below;
    if sum <= 0.0 {
        return [0; 4];
    }
    let mix = |i: usize| {
        ((f64::from(colour[i]) * alpha + f64::from(under[i]) * below) / sum).round() as u8
    };
    [mix(0), mix(1), mix(2), (sum * 255.0).round() as u8]
}

/// Linear mix of two colours, `t` in [0, 1].
#[must_use]
pub fn mix(from: Rgba, to: Rgba, t: f64) -> Rgba {
    let t = t.clamp(0.0, 1.0);
    std::array::from_fn(|i| {
        (f64::from(from[i]) + (f64::from(to[i]) - f64::from(from[i])) * t).round() as u8
    })
}

/// `colour` scaled in brightness; its opacity stays.
#[must_use]
pub fn shaded([r, g, b, a]: Rgba, factor: f64) -> Rgba {
    let scale = |v: u8| (f64::from(v) * factor).round().clamp(0.0, 255.0) as u8;
    [scale(r), scale(g), scale(b), a]
}

#[cfg(test)]
mod tests {
    use super::super::svg::{Anchor, Canvas, Font};
    use super::*;

    #[test]
    fn colours_lie_over_each_other() {
        let (red, white) = ([255, 0, 0, 255], [255, 255, 255, 255]);
        assert_eq!(over(white, red, 1.0), red);
        assert_eq!(over(white, red, 0.0), white);
        assert_eq!(over(white, [255, 0, 0, 51], 1.0), [255, 204, 204, 255]);
        assert_eq!(over([0; 4], [9, 8, 7, 100], 1.0), [9, 8, 7, 100]);
        assert_eq!(over([0; 4], [9, 8, 7, 0], 1.0), [0; 4]);
    }

    #[test]
    fn a_disc_covers_its_area_and_stays_on_the_picture() {
        let mut canvas = Canvas::new([40.0, 40.0], "", "");
        canvas.circle("disc", [20.0, 20.0], 10.0, "fill=\"#000000\"");
        canvas.circle("far", [-1e9, 1e12], 10.0, "fill=\"#000000\"");
        let bitmap = Bitmap::from_svg(&canvas.finish()).unwrap();
        let dark = |p: &Rgba| 1.0 - f64::from(p[0]) / 255.0;
        let area: f64 = bitmap.pixels().iter().map(dark).sum();
        let circle = std::f64::consts::PI * 100.0;
        assert!((area / circle - 1.0).abs() < 0.01, "{area}");
    }

    #[test]
    fn text_lies_at_its_anchor_in_its_measured_width() {
        let font = Font::plain(16.0, "#000000");
        let columns = |anchor, text: &str| {
            let mut canvas = Canvas::new([200.0, 30.0], "", "");
            canvas.text("text", [100.0, 20.0], font.anchored(anchor), text);
            let bitmap = Bitmap::from_svg(&canvas.finish()).unwrap();
            let dark = |x: &i64| (0..30).any(|y| bitmap.get(*x, y)[0] < 128);
            let dark: Vec<i64> = (0..200).filter(dark).collect();
            [dark[0], dark[dark.len() - 1]]
        };
        let [left, right] = columns(Anchor::Start, "HIHIHI");
        assert!(left >= 99, "{left}");
        let measured = font.width("HIHIHI");
        assert!(((right - 100) as f64 - measured).abs() < 4.0, "{right} for {measured}");
        assert!(columns(Anchor::End, "Wave")[1] <= 101);
        let [left, right] = columns(Anchor::Middle, "Wave");
        assert!((left + right - 200).abs() <= 4);
    }

    #[test]
    fn letters_of_many_languages_are_drawn_and_differ() {
        let drawn = |text: &str| {
            let mut canvas = Canvas::new([60.0, 40.0], "", "");
            canvas.text("text", [10.0, 28.0], Font::plain(24.0, "#000000"), text);
            Bitmap::from_svg(&canvas.finish()).unwrap()
        };
        let mut glyphs: Vec<(char, Bitmap)> = Vec::new();
        for c in ('!'..='~').chain("åäöÅÄÖéèñçøØæßüšŁł°·×−–≤≥µ²…→ЖЯΩ".chars())
        {
            let bitmap = drawn(&c.to_string());
            assert!(bitmap.pixels().iter().any(|p| p[0] < 128), "{c} is blank");
            let same = glyphs.iter().find(|(_, other)| *other == bitmap);
            assert!(same.is_none(), "{c} looks like {:?}", same.map(|s| s.0));
            glyphs.push((c, bitmap));
        }
    }
}
