//! Quantiles of the standard normal distribution and of Student's.

/// Coefficients of a rational approximation, constant term first.
struct Rational {
    numerator: [f64; 8],
    denominator: [f64; 8],
}

impl Rational {
    fn at(&self, x: f64) -> f64 {
        let horner = |terms: &[f64; 8]| terms.iter().rev().fold(0.0, |sum, &term| sum * x + term);
        horner(&self.numerator) / horner(&self.denominator)
    }
}

/// Wichura's PPND16 (Applied Statistics 37, 1988, algorithm AS 241), for |p - 1/2| <= 0.425.
const CENTRE: Rational = Rational {
    numerator: [
        3.387_132_872_796_366_6,
        133.141_667_891_784_38,
        1_971.590_950_306_551_4,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    denominator: [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ],
};

/// The same for the tails down to 1.4e-11, in `sqrt(-ln p) - 1.6`.
const TAIL: Rational = Rational {
    numerator: [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ],
    denominator: [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
};

/// The standard normal quantile: the x that a normal variable stays below with probability
/// `p_prob`, 1e-10 to 1 - 1e-10 (clamped). Error below 1e-15 relative.
///
/// The ITU-R's complementary inverse `Q⁻¹(p)` is its negative.
pub(crate) fn normal_quantile(p_prob: f64) -> f64 {
    let p = p_prob.clamp(1e-10, 1.0 - 1e-10);
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * CENTRE.at(0.180_625 - q * q);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    TAIL.at((-libm::log(tail)).sqrt() - 1.6).copysign(q)
}

/// Deviate of Student's distribution that is exceeded as often as `normal_deviate` of the normal one, for so many
/// degrees of freedom, 6 or more (Abramowitz and Stegun, 26.7.5).
#[must_use]
pub fn student_deviate(normal_deviate: f64, freedom: f64) -> f64 {
    let z = normal_deviate;
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    z + (z3 + z) / (4.0 * freedom)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * freedom.powi(2))
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * freedom.powi(3))
}

#[cfg(test)]
mod tests {
    use super::normal_quantile;

    /// Tabulated quantiles (NIST/SEMATECH e-Handbook §1.3.6.7.1 and any table of z).
    #[test]
    fn matches_tabulated_quantiles() {
        for (p, want) in [
            (0.5, 0.0),
            (0.75, 0.674_489_750_196_081_7),
            (0.9, 1.281_551_565_544_600_4),
            (0.95, 1.644_853_626_951_472_2),
            (0.975, 1.959_963_984_540_054),
            (0.99, 2.326_347_874_040_840_8),
            (0.001, -3.090_232_306_167_813),
            (1e-6, -4.753_424_308_822_899),
            (1e-9, -5.997_807_015_007_687),
        ] {
            assert!((normal_quantile(p) - want).abs() < 1e-12, "{p}");
        }
    }

    #[test]
    fn is_odd_about_one_half_and_ascends() {
        let mut last = f64::NEG_INFINITY;
        for step in 1..1000 {
            let p = f64::from(step) / 1000.0;
            let x = normal_quantile(p);
            assert!(x > last);
            assert!((x + normal_quantile(1.0 - p)).abs() < 1e-12);
            last = x;
        }
    }
}
