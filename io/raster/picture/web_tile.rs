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

/// Brightness and heights (3 by 3) of each pixel of a square in the light of `smooth`; without brightness on the
/// sea and where the ground is not known.
fn lit_pixels<T>(
    ground: &TileGround,
    smooth: &TileGround,
    pixel: impl Fn(Option<f32>, [[f32; 3]; 3]) -> T,
) -> Vec<T> {
    let sun = Light::default().sun();
    let mut pixels = Vec::with_capacity(TILE_SIDE * TILE_SIDE);
    for row in 0..TILE_SIDE {
        let pixel_m = ground.pixel_m[row + 1];
        for column in 0..TILE_SIDE {
            let around = |ground: &TileGround| -> [[f32; 3]; 3] {
                std::array::from_fn(|down| {
                    let first = (row + down) * GROUND_SIDE + column;
                    std::array::from_fn(|right| ground.elevation_msl_m[first + right])
                })
            };
            let is_sea = around(ground).iter().flatten().all(|m| m.abs() <= SEA_M || m.is_nan());
            let heights = around(smooth);
            let lit = sun.brightness(heights, [pixel_m; 2]);
            let lit = (!is_sea && !lit.is_nan()).then_some(lit);
            pixels.push(pixel(lit, heights));
        }
    }
    pixels
}

/// Relief in grey under light from the north-west: opaque on land, transparent on the sea and where the
/// ground is not known. The light falls on `smooth`, the same square without facets between posts.
///
/// # Errors
/// When the picture cannot be encoded.
pub fn relief(ground: &TileGround, smooth: &TileGround) -> Result<Vec<u8>, PictureError> {
    let pixels = lit_pixels(ground, smooth, |lit, _| lit.map_or(0, grey_entry));
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

/// Relief as in [`relief`] with heights and contour lines in other channels: red is the brightness, green the
/// height above mean sea level as 1 + 254 sqrt(height / 6,000 m) to 2, blue the share of the pixel that contour lines
/// of the interval take, every fifth of them broader; without an interval there are none.
///
/// # Errors
/// When the picture cannot be encoded.
pub fn detailed_relief(
    ground: &TileGround,
    smooth: &TileGround,
    interval_m: Option<f32>,
) -> Result<Vec<u8>, PictureError> {
    let pixels = lit_pixels(ground, smooth, |lit, heights| match lit {
        None => [0; 3],
        Some(lit) => {
            let grey = (grey_entry(lit) - 1) * GREY_STEP;
            [
                grey,
                height_code(heights[1][1]),
                interval_m.map_or(0, |interval_m| line_code(contour_share(&heights, interval_m))),
            ]
        }
    });
    encode_png([TILE_SIDE as u32; 2], pixels.as_flattened(), |encoder| {
        encoder.set_color(png::ColorType::Rgb);
        // Known ground has a green of 1 or more.
        encoder.set_trns(vec![0; 6]);
        encoder.set_compression(png::Compression::High);
        encoder.set_filter(png::Filter::Adaptive);
    })
}

/// Step of the codes of heights: finer ones are not seen in a tint, and make larger files.
const CODE_STEP: f32 = 4.0;

/// Height at which the code of heights ends, m.
const CODED_M_MAX: f32 = 6_000.0;

fn height_code(height_m: f32) -> u8 {
    let code = 254.0 * (height_m.max(0.0) / CODED_M_MAX).sqrt();
    1 + ((code / CODE_STEP).round() * CODE_STEP).min(252.0) as u8
}

/// Step of the share of contour lines: finer ones are not seen, and make larger files.
const LINE_STEP: f32 = 16.0;

fn line_code(share: f32) -> u8 {
    ((share * 255.0 / LINE_STEP).round() * LINE_STEP).min(255.0) as u8
}

/// Breadth of contour lines, pixels; of every fifth one.
const LINE_PX: [f32; 2] = [1.1, 1.9];

/// Share of the middle pixel of 3 by 3 heights that contour lines take, [0, 1]; none at sea level.
///
/// Lines that would lie nearer than two pixels fade away.
fn contour_share(heights: &[[f32; 3]; 3], interval_m: f32) -> f32 {
    let middle = heights[1][1];
    let numbers = heights.iter().flatten().filter(|m| !m.is_nan());
    let (low, high) = numbers.fold((middle, middle), |(low, high), m| (low.min(*m), high.max(*m)));
    let number = (middle / interval_m).round();
    let level_m = number * interval_m;
    // Level ground at the height of a line has none.
    if number == 0.0 || low == high || !(low..=high).contains(&level_m) {
        return 0.0;
    }
    let or_middle = |m: f32| if m.is_nan() { middle } else { m };
    let across = (or_middle(heights[1][2]) - or_middle(heights[1][0])) / 2.0;
    let down = (or_middle(heights[2][1]) - or_middle(heights[0][1])) / 2.0;
    let slope = across.hypot(down).max((high - low) / 4.0);
    let width = LINE_PX[usize::from(number % 5.0 == 0.0)];
    let away = (middle - level_m).abs() / slope;
    let fading = (2.0 - 4.0 * slope / interval_m).clamp(0.0, 1.0);
    (0.5 + width / 2.0 - away).clamp(0.0, 1.0) * fading
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
        let land = decode::<4>(&relief(&ground, &ground).unwrap());
        assert_eq!(land[3], [0; 4]);
        let [grey, .., alpha] = land[200 * 256 + 100];
        // Rises eastwards: it faces the light and is brighter than level ground.
        let level = 255.0 * Light::default().level();
        assert!(alpha == 255 && f64::from(grey) > level, "{grey}, level {level}");
        // Level ground as bright as its light, to half a step.
        ground.elevation_msl_m.fill(100.0);
        let [grey, ..] = decode::<4>(&relief(&ground, &ground).unwrap())[200 * 256 + 100];
        let error = f64::from(grey) - level;
        assert!(error.abs() <= 0.5 * f64::from(GREY_STEP) + 0.01, "{grey}, level {level}");
        ground.elevation_msl_m.fill(0.0);
        assert!(
            decode::<4>(&relief(&ground, &ground).unwrap()).iter().all(|pixel| *pixel == [0; 4])
        );
    }

    #[test]
    fn detailed_relief_has_heights_and_contour_lines_every_interval() {
        let ground = slope();
        let pixels = decode::<4>(&detailed_relief(&ground, &ground, Some(10.0)).unwrap());
        assert_eq!(pixels[3], [0; 4]);
        let plain = decode::<4>(&relief(&ground, &ground).unwrap());
        let row = &pixels[200 * 256..201 * 256];
        for (column, [red, green, blue, alpha]) in row.iter().enumerate() {
            assert_eq!((*red, *alpha), (plain[200 * 256 + column][0], 255));
            let height_m = ground.height_m(200, column);
            let coded_m = 6_000.0 * ((f32::from(*green) - 1.0) / 254.0).powi(2);
            let step_m = 2.1 * 2.0 * (height_m * 6_000.0).sqrt() / 254.0;
            assert!((coded_m - height_m).abs() < step_m + 1.0, "{coded_m}, not {height_m}");
            // 0.5 m a pixel: a line every 20 pixels, about one pixel broad.
            let away_px = ((height_m / 10.0).round() * 10.0 - height_m).abs() / 0.5;
            assert_eq!(*blue > 128, away_px < 0.5, "{height_m} m: {blue}");
            assert!(away_px < 1.6 || *blue == 0, "{height_m} m: {blue}");
        }
        let without = decode::<4>(&detailed_relief(&ground, &ground, None).unwrap());
        assert!(without.iter().all(|[.., blue, _]| *blue == 0));
        // The line of 50 m is broader.
        let share = |height_m: f32| {
            let column = ((height_m - 1.5) * 2.0) as usize;
            u32::from(row[column - 1][2]) + u32::from(row[column][2])
        };
        assert!(share(50.0) > share(40.0), "{} {}", share(50.0), share(40.0));
    }

    #[test]
    fn level_ground_has_no_contour_line() {
        let mut ground = slope();
        ground.elevation_msl_m.fill(60.0);
        let pixels = decode::<4>(&detailed_relief(&ground, &ground, Some(10.0)).unwrap());
        assert!(pixels.iter().all(|[.., blue, alpha]| *blue == 0 && *alpha == 255));
    }
}
