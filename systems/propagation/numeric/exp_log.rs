//! Exponential, logarithm and cube root.

use super::{ROUNDER, polynomial};

/// ln 2 in two parts; the first has so few digits that its product with an exponent is exact.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];

/// Natural logarithm; minus infinity at 0, `NaN` below.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    /// Bits of about √(1/2), so that the mantissa comes out between it and its double.
    const ROOT_HALF: i64 = 0x3FE6_A09E_0000_0000;
    const TWO_54: f64 = 18_014_398_509_481_984.0;
    let tiny = x < f64::MIN_POSITIVE;
    let scaled = if tiny { x * TWO_54 } else { x };
    let bits = scaled.to_bits() as i64;
    let above = bits.wrapping_sub(ROOT_HALF);
    // The exponent by its bits in a float: conversions of 64-bit integers are no vector code.
    let biased = f64::from_bits(((above >> 52) + 0x4338_0000_0000_0000) as u64);
    let exponent = biased - ROUNDER - if tiny { 54.0 } else { 0.0 };
    let mantissa = f64::from_bits(bits.wrapping_sub(above & !0x000F_FFFF_FFFF_FFFF) as u64);

    // ln m = 2 artanh s = 2 (s + s³/3 + s⁵/5 + ...), s = (m - 1) / (m + 1), |s| < 0.172.
    let f = mantissa - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let tail = polynomial(
        z,
        [
            2.0 / 3.0,
            2.0 / 5.0,
            2.0 / 7.0,
            2.0 / 9.0,
            2.0 / 11.0,
            2.0 / 13.0,
            2.0 / 15.0,
            2.0 / 17.0,
            2.0 / 19.0,
            2.0 / 21.0,
        ],
    );
    // 2 s = f - s f, of which f is exact.
    let small = (s * (z * tail - f) + exponent * LN_2[1]) + f;
    let log = exponent * LN_2[0] + small;
    let log = if x > 0.0 { log } else { f64::NAN };
    let log = if x == 0.0 { f64::NEG_INFINITY } else { log };
    if x == f64::INFINITY { x } else { log }
}

/// Decimal logarithm, with the exceptions of [`ln`].
#[inline(always)]
pub fn log10(x: f64) -> f64 {
    ln(x) * std::f64::consts::LOG10_E
}

/// Exponential; 0 where the result would be subnormal.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let shifted = x * std::f64::consts::LOG2_E + ROUNDER;
    let power = shifted - ROUNDER;
    let r = (x - power * LN_2[0]) - power * LN_2[1];
    // The Taylor series, to r^13.
    let series = polynomial(
        r,
        [
            1.0 / 2.0,
            1.0 / 6.0,
            1.0 / 24.0,
            1.0 / 120.0,
            1.0 / 720.0,
            1.0 / 5_040.0,
            1.0 / 40_320.0,
            1.0 / 362_880.0,
            1.0 / 3_628_800.0,
            1.0 / 39_916_800.0,
            1.0 / 479_001_600.0,
            1.0 / 6_227_020_800.0,
        ],
    );
    let mantissa = 1.0 + (r + r * r * series);
    let result = f64::from_bits(mantissa.to_bits().wrapping_add(shifted.to_bits() << 52));
    let result = if x < -708.0 { 0.0 } else { result };
    let result = if x > 709.0 { f64::INFINITY } else { result };
    if x.is_nan() { x } else { result }
}

/// Cube root of a positive normal number. Of 0 it is 0, of anything else it has no meaning.
#[inline(always)]
pub fn cbrt(x: f64) -> f64 {
    // A third of the exponent, by the upper half of the bits; 3 % off.
    let upper = f64::from((x.to_bits() >> 32) as i32);
    let third = (upper * (1.0 / 3.0) + (715_094_163.0 + ROUNDER)).to_bits();
    let root = f64::from_bits(third << 32);
    // Halley's iteration: each time three times as many digits.
    let root = halley(halley(halley(root, x), x), x);
    if x == 0.0 { 0.0 } else { root }
}

#[inline(always)]
fn halley(root: f64, x: f64) -> f64 {
    let cube = root * root * root;
    root * ((cube + (x + x)) / ((cube + cube) + x))
}
