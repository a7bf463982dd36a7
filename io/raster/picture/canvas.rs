//! Pixels and the few shapes that pictures are made of.

/// Red, green, blue, opacity; not premultiplied.
pub type Rgba = [u8; 4];

/// A picture in memory, top row first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<Rgba>,
}

impl Canvas {
    /// A picture of one colour.
    #[must_use]
    pub fn new(width: u32, height: u32, fill: Rgba) -> Self {
        let pixels = vec![fill; width as usize * height as usize];
        Self {
            width,
            height,
            pixels,
        }
    }

    /// Width (px).
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height (px).
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// All pixels as bytes, as PNG wants them.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.pixels.as_flattened()
    }

    fn index(&self, x: i64, y: i64) -> Option<usize> {
        let inside =
            (0..i64::from(self.width)).contains(&x) && (0..i64::from(self.height)).contains(&y);
        inside.then(|| (y * i64::from(self.width) + x) as usize)
    }

    /// The colour of a pixel; fully transparent off the picture.
    #[must_use]
    pub fn get(&self, x: i64, y: i64) -> Rgba {
        self.index(x, y).map_or([0; 4], |at| self.pixels[at])
    }

    /// Replaces a pixel.
    pub fn set(&mut self, x: i64, y: i64, colour: Rgba) {
        if let Some(at) = self.index(x, y) {
            self.pixels[at] = colour;
        }
    }

    /// Lays a colour over a pixel, `cover` in [0, 1] of it.
    pub fn blend(&mut self, x: i64, y: i64, colour: Rgba, cover: f64) {
        if let Some(at) = self.index(x, y) {
            self.pixels[at] = over(self.pixels[at], colour, cover);
        }
    }

    /// Fills a rectangle given by its corner and size.
    pub fn fill(&mut self, [x, y]: [i64; 2], [width, height]: [i64; 2], colour: Rgba) {
        for row in y..y + height {
            for col in x..x + width {
                self.blend(col, row, colour, 1.0);
            }
        }
    }

    /// A frame one pixel wide just within a rectangle.
    pub fn frame(&mut self, [x, y]: [i64; 2], [width, height]: [i64; 2], colour: Rgba) {
        self.fill([x, y], [width, 1], colour);
        self.fill([x, y + height - 1], [width, 1], colour);
        self.fill([x, y + 1], [1, height - 2], colour);
        self.fill([x + width - 1, y + 1], [1, height - 2], colour);
    }

    /// A disc around a point.
    pub fn disc(&mut self, centre: [f64; 2], radius: f64, colour: Rgba) {
        self.stroke(&[[centre, centre]], 2.0 * radius, colour);
    }

    /// Straight pieces with round ends, as one shape: where they overlap they do not darken.
    pub fn stroke(&mut self, pieces: &[[[f64; 2]; 2]], width: f64, colour: Rgba) {
        let reach = width / 2.0 + 1.0;
        let points = || pieces.iter().flatten();
        let low = |axis: usize| points().map(|p| p[axis]).fold(f64::INFINITY, f64::min) - reach;
        let high =
            |axis: usize| points().map(|p| p[axis]).fold(f64::NEG_INFINITY, f64::max) + reach;
        if pieces.is_empty() {
            return;
        }
        // Clamped to the picture: a far point costs nothing.
        let span = |axis: usize, size: u32| {
            let size = f64::from(size);
            low(axis).clamp(0.0, size) as i64..high(axis).ceil().clamp(0.0, size) as i64
        };
        for y in span(1, self.height) {
            for x in span(0, self.width) {
                let at = [x as f64 + 0.5, y as f64 + 0.5];
                let distances = pieces.iter().map(|&piece| distance_squared(at, piece));
                let distance = distances.fold(f64::INFINITY, f64::min).sqrt();
                let cover = (width / 2.0 + 0.5 - distance).clamp(0.0, 1.0);
                if cover > 0.0 {
                    self.blend(x, y, colour, cover * width.min(1.0));
                }
            }
        }
    }

    /// Lays another picture over this one.
    pub fn paste(&mut self, picture: &Self, [x, y]: [i64; 2]) {
        for row in 0..i64::from(picture.height) {
            for col in 0..i64::from(picture.width) {
                self.blend(x + col, y + row, picture.get(col, row), 1.0);
            }
        }
    }
}

/// `colour` laid over `under` (Porter and Duff, "Compositing digital images", 1984: over).
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

/// From one colour to another, `t` in [0, 1].
#[must_use]
pub fn mix(from: Rgba, to: Rgba, t: f64) -> Rgba {
    let t = t.clamp(0.0, 1.0);
    std::array::from_fn(|i| {
        (f64::from(from[i]) + (f64::from(to[i]) - f64::from(from[i])) * t).round() as u8
    })
}

/// `colour` made darker or lighter; its opacity stays.
#[must_use]
pub fn shaded([r, g, b, a]: Rgba, factor: f64) -> Rgba {
    let scale = |v: u8| (f64::from(v) * factor).round().clamp(0.0, 255.0) as u8;
    [scale(r), scale(g), scale(b), a]
}

fn distance_squared([x, y]: [f64; 2], [[ax, ay], [bx, by]]: [[f64; 2]; 2]) -> f64 {
    let (dx, dy) = (bx - ax, by - ay);
    let length_squared = dx * dx + dy * dy;
    let t = if length_squared > 0.0 {
        (((x - ax) * dx + (y - ay) * dy) / length_squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let (ex, ey) = (ax + t * dx - x, ay + t * dy - y);
    ex * ex + ey * ey
}

#[cfg(test)]
mod tests {
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
        let mut canvas = Canvas::new(40, 40, [255, 255, 255, 255]);
        canvas.disc([20.0, 20.0], 10.0, [0, 0, 0, 255]);
        let ink: f64 = canvas
            .bytes()
            .chunks(4)
            .map(|p| 1.0 - f64::from(p[0]) / 255.0)
            .sum();
        assert!(
            (ink / (std::f64::consts::PI * 100.0) - 1.0).abs() < 0.01,
            "{ink}"
        );
        canvas.disc([-1e9, 1e12], 10.0, [0, 0, 0, 255]);
        canvas.fill([-5, 38], [100, 100], [1, 2, 3, 255]);
        assert_eq!(canvas.get(39, 39), [1, 2, 3, 255]);
    }
}
