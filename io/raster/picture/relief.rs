//! Shaded terrain, as a code for each pixel.

use rayon::prelude::*;

use super::super::geometry::GridGeometry;
use super::super::grid::Grid;
use super::paper;
use super::pixels::{NO_KIND, borders};
use super::shade::{Light, Redrawing, Stretched, hillshade};
use crate::scene::Rgba;

/// Shades of land and of sea, which is level but for its shores.
const LAND_SHADES: usize = 16;
const SEA_SHADES: usize = 4;

/// Codes of a pixel: shades of land, then of sea, then the two tones of ground of unknown height.
pub(super) const VOID: u8 = (LAND_SHADES + SEA_SHADES) as u8;
pub(super) const CODES: usize = LAND_SHADES + SEA_SHADES + 2;

/// Shade of level ground, and brightness from one shade to the next: of land and of sea.
const LEVEL: [f32; 2] = [11.0, 2.0];
const STEP: [f32; 2] = [0.075, 0.3];

/// Terrain with its brightness, worked out once for pictures of several sizes.
#[derive(Debug, Clone)]
pub struct LitTerrain {
    heights: Grid,
    brightness: Grid,
}

impl LitTerrain {
    /// Terrain of these heights, m, under the usual light.
    #[must_use]
    pub fn new(heights: Grid) -> Self {
        let brightness = hillshade(&heights, Light::default());
        Self { heights, brightness }
    }
}

/// Shaded terrain in the frame of a picture: the same for all maps of an area.
#[derive(Debug, Clone)]
pub struct Relief {
    frame: GridGeometry,
    /// A code for each pixel; empty without heights.
    codes: Vec<u8>,
    /// Pixels at a coast, row by row.
    coast: Vec<u32>,
    has_voids: bool,
}

impl Relief {
    /// The terrain in `frame`; level land without heights.
    pub(super) fn new(terrain: Option<&LitTerrain>, frame: GridGeometry) -> Self {
        let Some(terrain) = terrain else {
            return Self { frame, codes: Vec::new(), coast: Vec::new(), has_voids: false };
        };
        let heights = Redrawing::new(&terrain.heights, frame);
        let brightness = Redrawing::new(&terrain.brightness, frame);
        let relative = (1.0 / Light::default().level()) as f32;
        let cols = frame.cols as usize;
        let mut codes = vec![0; cols * frame.rows as usize];
        let rows = codes.par_chunks_mut(cols).zip(0..frame.rows);
        let room = || [(); 2].map(|()| (Stretched::default(), vec![f32::NAN; cols]));
        rows.for_each_init(room, |[(ground, height), (light, lit)], (codes, row)| {
            heights.row(row, ground, height);
            brightness.row(row, light, lit);
            for ((code, height_m), lit) in codes.iter_mut().zip(height).zip(lit) {
                *code = shade(*height_m, *lit * relative);
            }
            // Rare, and therefore apart: hatching.
            if codes.contains(&VOID) {
                for (col, code) in codes.iter_mut().enumerate() {
                    let is_dark = (row as usize + col) % 8 < 2;
                    *code += u8::from(*code == VOID && is_dark);
                }
            }
        });
        let coast = borders(frame, |row, kinds| {
            for (kind, code) in kinds.iter_mut().zip(&codes[row * cols..]) {
                *kind = match code {
                    &(VOID..) => NO_KIND,
                    code => u16::from(usize::from(*code) < LAND_SHADES),
                };
            }
        });
        Self {
            coast,
            frame,
            codes,
            has_voids: terrain.heights.cells.iter().any(|height_m| height_m.is_nan()),
        }
    }

    /// Area and pixels of the picture that it fits.
    pub(super) fn frame(&self) -> GridGeometry {
        self.frame
    }

    /// The codes of a row of pixels; `None` without heights.
    pub(super) fn codes(&self, row: usize) -> Option<&[u8]> {
        let cols = self.frame.cols as usize;
        self.codes.get(row * cols..)?.get(..cols)
    }

    /// The codes of a row of pixels, if the height of some ground in it is not known.
    pub(super) fn voids(&self, row: usize) -> Option<&[u8]> {
        let codes = self.codes(row)?;
        let has_voids = codes.iter().fold(false, |any, &code| any | (code >= VOID));
        has_voids.then_some(codes)
    }

    /// Columns of a row's pixels at a coast.
    pub(super) fn coast(&self, row: usize) -> impl Iterator<Item = usize> {
        let cols = self.frame.cols as usize;
        let before = |end: usize| self.coast.partition_point(|&at| (at as usize) < end);
        let pixels = &self.coast[before(row * cols)..before((row + 1) * cols)];
        pixels.iter().map(move |&at| at as usize - row * cols)
    }

    /// True if the height of some ground is not known.
    pub(super) fn has_voids(&self) -> bool {
        self.has_voids
    }
}

/// Code of ground of this height, m, and brightness, relative to level ground; [`VOID`] where one of
/// them is NaN.
#[inline]
pub(super) fn shade(height_m: f32, brightness: f32) -> u8 {
    // Factors instead of quotients, and selected without a branch: this is done for every pixel, in vector
    // code.
    const PER_UNIT: [f32; 2] = [1.0 / STEP[0], 1.0 / STEP[1]];
    /// The last bits of a float of this size count ones.
    const ONES: f32 = 8_388_608.0;
    let kind = |land: f32, sea: f32| if height_m == 0.0 { sea } else { land };
    let last = kind((LAND_SHADES - 1) as f32, (SEA_SHADES - 1) as f32);
    let index = kind(LEVEL[0], LEVEL[1]) + (brightness - 1.0) * kind(PER_UNIT[0], PER_UNIT[1]);
    let index = if index > 0.0 { index } else { 0.0 };
    let index = if index < last { index } else { last };
    let code = (index + kind(0.0, LAND_SHADES as f32) + ONES).to_bits() as u8;
    if height_m.is_nan() | brightness.is_nan() { VOID } else { code }
}

/// Base colour and brightness of a code below [`VOID`].
pub(super) fn unshade(code: usize) -> (Rgba, f64) {
    let (base, index, kind) = if code < LAND_SHADES {
        (paper::LAND, code, 0)
    } else {
        (paper::SEA, code - LAND_SHADES, 1)
    };
    let steps = index as f64 - f64::from(LEVEL[kind]);
    (base, 1.0 + steps * f64::from(STEP[kind]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shade_is_the_nearest_to_its_brightness() {
        for step in 0..400 {
            let brightness = 0.005 * step as f32;
            for (height_m, first, count) in
                [(12.5_f32, 0, LAND_SHADES), (0.0, LAND_SHADES, SEA_SHADES)]
            {
                let gap = |code: usize| (unshade(code).1 - f64::from(brightness)).abs();
                let least = (first..first + count).map(gap).fold(f64::MAX, f64::min);
                let code = usize::from(shade(height_m, brightness));
                assert!((first..first + count).contains(&code), "{brightness}");
                assert!(gap(code) < least + 1e-5, "{brightness}: {code}");
            }
        }
        assert_eq!(shade(f32::NAN, 1.0), VOID);
        assert_eq!(shade(3.0, f32::NAN), VOID);
        assert_eq!(usize::from(shade(-3.0, 1e9)), LAND_SHADES - 1);
    }
}
