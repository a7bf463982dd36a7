//! Sine, cosine and the angle of a direction.

use std::f64::consts::{FRAC_1_PI, FRAC_PI_2, FRAC_PI_4, PI};

use super::{ROUNDER, greater, lesser, polynomial};

/// π/2 in three parts, of which the first two have so few digits that their products with small
/// whole numbers are exact.
const HALF_TURN: [f64; 3] =
    [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_7e-21];

/// Sine and cosine of an angle within some thousand turns, rad.
#[inline(always)]
pub fn sin_cos(angle_rad: f64) -> (f64, f64) {
    let shifted = angle_rad * (2.0 * FRAC_1_PI) + ROUNDER;
    let quadrant = shifted - ROUNDER;
    let x =
        ((angle_rad - quadrant * HALF_TURN[0]) - quadrant * HALF_TURN[1]) - quadrant * HALF_TURN[2];
    let z = x * x;
    // Taylor series on [-π/4, π/4], to x^17 and x^16.
    let sine = polynomial(
        z,
        [
            -1.0 / 6.0,
            1.0 / 120.0,
            -1.0 / 5_040.0,
            1.0 / 362_880.0,
            -1.0 / 39_916_800.0,
            1.0 / 6_227_020_800.0,
            -1.0 / 1_307_674_368_000.0,
            1.0 / 355_687_428_096_000.0,
        ],
    );
    let sine = x + x * z * sine;
    let cosine = polynomial(
        z,
        [
            1.0 / 24.0,
            -1.0 / 720.0,
            1.0 / 40_320.0,
            -1.0 / 3_628_800.0,
            1.0 / 479_001_600.0,
            -1.0 / 87_178_291_200.0,
            1.0 / 20_922_789_888_000.0,
        ],
    );
    let cosine = 1.0 - (0.5 * z - z * z * cosine);
    let turns = shifted.to_bits();
    let (s, c) = if turns & 1 == 0 { (sine, cosine) } else { (cosine, sine) };
    let s = if turns & 2 == 0 { s } else { -s };
    let c = if turns.wrapping_add(1) & 2 == 0 { c } else { -c };
    (s, c)
}

/// The angle of the direction (`x`, `y`) from the first axis, rad, [-π, π]; 0 without a direction.
#[inline(always)]
pub fn atan2(y: f64, x: f64) -> f64 {
    let (up, along) = (y.abs(), x.abs());
    let steep = up > along;
    let ratio = lesser(up, along) / greater(along, up);
    let ratio = if up == along { 1.0 } else { ratio };
    let ratio = if up + along == 0.0 { 0.0 } else { ratio };
    // Beyond tan π/8 by the angle to 45°, then by half the angle: |t| < 0.2.
    let far = ratio > 0.414_213_562_373_095;
    let near = if far { (ratio - 1.0) / (ratio + 1.0) } else { ratio };
    let t = near / (1.0 + (1.0 + near * near).sqrt());
    let z = t * t;
    let series = polynomial(
        z,
        [
            -1.0 / 3.0,
            1.0 / 5.0,
            -1.0 / 7.0,
            1.0 / 9.0,
            -1.0 / 11.0,
            1.0 / 13.0,
            -1.0 / 15.0,
            1.0 / 17.0,
            -1.0 / 19.0,
            1.0 / 21.0,
        ],
    );
    let half = t + t * z * series;
    let angle = 2.0 * half + if far { FRAC_PI_4 } else { 0.0 };
    let angle = if steep { FRAC_PI_2 - angle } else { angle };
    let angle = if x < 0.0 { PI - angle } else { angle };
    if y < 0.0 { -angle } else { angle }
}
