//! Ground as PNG squares of a web map: heights in colours, and relief.

use groundwave_model::terrain::{GROUND_SIDE, TILE_SIDE, TileGround};

use super::shade::Light;
use crate::scene::{PictureError, encode_png};

/// Ground as low and level as this is sea, m.
const SEA_M: f32 = 0.5;

/// Offset of heights in the colours, m.
const OFFSET_M: f32 = 32_768.0;

/// Step of the grey of relief: finer ones are not seen under a map, and are half of the file.
const GREY_STEP: u8 = 4;

/// Entries of the palette of relief: the first one is transparent.
const PALETTE_SIZE: u8 = 255 / GREY_STEP + 2;

/// Heights in the encoding "Terrarium" (Tilezen joerd, `docs/formats.md`): the height above mean sea level,
/// m, plus 32768 is red x 256 + green + blue / 256; here in whole metres. Unknown ground is transparent
/// black; with `opaque` it goes on at the nearest known height of its row, else of the row before.
///
/// # Errors
/// When the picture cannot be encoded.
pub fn terrarium(ground: &TileGround, opaque: bool) -> Result<Vec<u8>, PictureError> {
    let mut pixels = Vec::with_capacity(4 * TILE_SIDE * TILE_SIDE);
    let mut before = [0.0; TILE_SIDE];
    for row in 0..TILE_SIDE {
        let mut heights: [f32; TILE_SIDE] =
            std::array::from_fn(|column| ground.height_m(row, column));
        if opaque {
            extend(&mut heights, &before);
            before = heights;
        }
        for height_m in heights {
            if height_m.is_nan() {
                pixels.extend([0; 4]);
                continue;
            }
            // Within 16 bits, so that nothing is cut off.
            let code = (height_m.round() + OFFSET_M).clamp(0.0, 65_535.0) as u16;
            let [red, green] = code.to_be_bytes();
            pixels.extend([red, green, 0, 255]);
        }
    }
    encode_png([TILE_SIDE as u32; 2], &pixels, |encoder| encoder.set_color(png::ColorType::Rgba))
}

/// Gives unknown heights the nearest known one of the row, or those of the row before without any.
fn extend(heights: &mut [f32; TILE_SIDE], before: &[f32; TILE_SIDE]) {
    let columns: Vec<_> = (0..TILE_SIDE).filter(|&column| !heights[column].is_nan()).collect();
    if columns.is_empty() {
        *heights = *before;
        return;
    }
    for column in 0..TILE_SIDE {
        let next = columns.partition_point(|&at| at < column);
        let [left, right] =
            [next.checked_sub(1), Some(next)].map(|at| at.and_then(|at| columns.get(at)));
        let nearest = match (left, right) {
            (Some(left), Some(right)) if column - left <= right.abs_diff(column) => left,
            (_, Some(right)) => right,
            (Some(left), None) => left,
            (None, None) => continue,
        };
        heights[column] = heights[*nearest];
    }
}

/// Relief in grey under light from the north-west: opaque on land, transparent on the sea and where the
/// ground is not known.
///
/// # Errors
/// When the picture cannot be encoded.
pub fn relief(ground: &TileGround) -> Result<Vec<u8>, PictureError> {
    let sun = Light::default().sun();
    let mut pixels = Vec::with_capacity(TILE_SIDE * TILE_SIDE);
    for row in 0..TILE_SIDE {
        let cell_m = [ground.pixel_m[row + 1]; 2];
        for column in 0..TILE_SIDE {
            let heights: [[f32; 3]; 3] = std::array::from_fn(|down| {
                let first = (row + down) * GROUND_SIDE + column;
                std::array::from_fn(|right| ground.elevation_msl_m[first + right])
            });
            let is_sea = heights.iter().flatten().all(|m| m.abs() <= SEA_M || m.is_nan());
            let lit = sun.brightness(heights, cell_m);
            pixels.push(if is_sea || lit.is_nan() { 0 } else { grey_entry(lit) });
        }
    }
    let greys = (1..PALETTE_SIZE).map(|entry| (entry - 1) * GREY_STEP);
    let palette = std::iter::once(0).chain(greys).flat_map(|grey| [grey; 3]);
    encode_png([TILE_SIDE as u32; 2], &pixels, |encoder| {
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(palette.collect::<Vec<_>>());
        encoder.set_trns(vec![0]);
        encoder.set_compression(png::Compression::High);
        encoder.set_filter(png::Filter::Adaptive);
    })
}

/// Entry of the palette of a brightness from 0 to 1.
fn grey_entry(lit: f32) -> u8 {
    let steps = (lit.clamp(0.0, 1.0) * 255.0 / f32::from(GREY_STEP)).round();
    1 + (steps as u8).min(PALETTE_SIZE - 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pixels of a picture, `N` octets each.
    fn decode<const N: usize>(bytes: &[u8]) -> Vec<[u8; N]> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (256, 256));
        pixels.as_chunks::<N>().0.to_vec()
    }

    /// Ground that rises by 0.5 m a pixel eastwards from 1 m, unknown in its northern half; pixels of
    /// 10 m.
    fn slope() -> TileGround {
        let height = |index: usize| match index / GROUND_SIDE < GROUND_SIDE / 2 {
            true => f32::NAN,
            false => 1.0 + (index % GROUND_SIDE) as f32 / 2.0,
        };
        TileGround {
            elevation_msl_m: (0..GROUND_SIDE * GROUND_SIDE).map(height).collect(),
            pixel_m: vec![10.0; GROUND_SIDE],
        }
    }

    fn height_m([red, green, blue, _]: [u8; 4]) -> f64 {
        f64::from(red) * 256.0 + f64::from(green) + f64::from(blue) / 256.0 - 32_768.0
    }

    #[test]
    fn heights_come_back_and_unknown_ground_is_transparent() {
        let ground = slope();
        let pixels = decode::<4>(&terrarium(&ground, false).unwrap());
        assert_eq!(pixels[5], [0; 4]);
        for column in [0, 100, 255] {
            let pixel = pixels[200 * 256 + column];
            assert_eq!(pixel[3], 255);
            let error_m = height_m(pixel) - f64::from(ground.height_m(200, column));
            assert!(error_m.abs() <= 0.5, "{error_m}");
        }
    }

    #[test]
    fn an_opaque_picture_goes_on_at_known_heights() {
        let mut ground = slope();
        for column in 0..100 {
            ground.elevation_msl_m[201 * GROUND_SIDE + 1 + column] = f32::NAN;
        }
        let pixels = decode::<4>(&terrarium(&ground, true).unwrap());
        assert!(pixels.iter().all(|pixel| pixel[3] == 255));
        assert_eq!(pixels[200 * 256], pixels[200 * 256 + 100]);
    }

    #[test]
    fn relief_shows_land_and_neither_sea_nor_unknown_ground() {
        let mut ground = slope();
        let land = decode::<4>(&relief(&ground).unwrap());
        assert_eq!(land[3], [0; 4]);
        let [grey, .., alpha] = land[200 * 256 + 100];
        // Rises eastwards: it faces the light and is brighter than level ground.
        let level = 255.0 * Light::default().level();
        assert!(alpha == 255 && f64::from(grey) > level, "{grey}, level {level}");
        // Level ground as bright as its light, to half a step.
        ground.elevation_msl_m.fill(100.0);
        let [grey, ..] = decode::<4>(&relief(&ground).unwrap())[200 * 256 + 100];
        let error = f64::from(grey) - level;
        assert!(error.abs() <= 0.5 * f64::from(GREY_STEP) + 0.01, "{grey}, level {level}");
        ground.elevation_msl_m.fill(0.0);
        assert!(decode::<4>(&relief(&ground).unwrap()).iter().all(|pixel| *pixel == [0; 4]));
    }
}
