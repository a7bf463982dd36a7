//! Against the platform's library, and one width of vectors against the other.

use super::*;

/// Numbers of every size between `low` and `high`, both positive.
fn spread(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> {
    let (from, to) = (low.ln(), high.ln());
    (0..=count).map(move |i| (from + (to - from) * f64::from(i) / f64::from(count)).exp())
}

/// Difference in units in the last place of `want`.
fn ulps(got: f64, want: f64) -> f64 {
    let unit = (want.abs().next_up() - want.abs()).max(f64::MIN_POSITIVE);
    (got - want).abs() / unit
}

#[test]
fn logarithms() {
    for x in spread(1e-300, 1e300, 60_000).chain(spread(0.5, 2.0, 60_000)) {
        assert!(ulps(ln(x), x.ln()) <= 2.0, "{x:e}: {} {}", ln(x), x.ln());
        assert!(ulps(log10(x), x.log10()) <= 3.0, "{x:e}");
    }
    assert_eq!((ln(1.0), ln(0.0), ln(f64::INFINITY)), (0.0, f64::NEG_INFINITY, f64::INFINITY));
    assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan() && ln(f64::NEG_INFINITY).is_nan());
    assert!(ulps(ln(5e-320), 5e-320_f64.ln()) <= 2.0);
}

#[test]
fn exponentials() {
    for x in spread(1e-18, 700.0, 60_000).flat_map(|x| [x, -x]) {
        assert!(ulps(exp(x), x.exp()) <= 2.0, "{x:e}: {} {}", exp(x), x.exp());
    }
    assert_eq!((exp(0.0), exp(-1e9), exp(f64::NEG_INFINITY)), (1.0, 0.0, 0.0));
    assert_eq!((exp(1e9), exp(f64::INFINITY)), (f64::INFINITY, f64::INFINITY));
    assert!(exp(f64::NAN).is_nan());
}

#[test]
fn cube_roots() {
    for x in spread(1e-290, 1e290, 60_000) {
        assert!(ulps(cbrt(x), x.cbrt()) <= 3.0, "{x:e}: {} {}", cbrt(x), x.cbrt());
    }
    assert_eq!(cbrt(0.0), 0.0);
}

#[test]
fn sines_and_cosines() {
    for x in spread(1e-9, 3_000.0, 60_000).flat_map(|x| [x, -x]) {
        let (s, c) = sin_cos(x);
        assert!((s - x.sin()).abs() < 2.5e-16 && (c - x.cos()).abs() < 2.5e-16, "{x}");
        if x.abs() < 0.7 {
            assert!(ulps(s, x.sin()) <= 2.0, "{x:e}");
        }
    }
    assert_eq!(sin_cos(0.0), (0.0, 1.0));
}

#[test]
fn directions() {
    for y in spread(1e-12, 1e12, 300).flat_map(|y| [y, -y]) {
        for x in spread(1e-12, 1e12, 300).flat_map(|x| [x, -x]) {
            let (got, want) = (atan2(y, x), y.atan2(x));
            assert!(ulps(got, want) <= 3.0 || (got - want).abs() < 1e-300, "{y:e} {x:e}");
        }
    }
    assert_eq!((atan2(0.0, 0.0), atan2(0.0, 5.0), atan2(3.0, 0.0)), (0.0, 0.0, 3f64.atan2(0.0)));
    assert_eq!(atan2(0.0, -2.0), std::f64::consts::PI);
}

/// All functions over a row of numbers.
struct All<'a>(&'a [f64], &'a mut [[f64; 7]]);

impl Kernel for All<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (&x, out) in self.0.iter().zip(self.1) {
            let (sine, cosine) = sin_cos(x);
            *out = [ln(x), log10(x), exp(x), cbrt(x), sine, cosine, atan2(x, 1.0 - x)];
        }
    }
}

#[test]
fn every_width_gives_the_same_bits() {
    let numbers: Vec<f64> = spread(1e-200, 1e3, 4_000).collect();
    let mut wide = vec![[0.0; 7]; numbers.len()];
    vectorised(All(&numbers, &mut wide));
    let mut narrow = wide.clone();
    for (x, out) in numbers.iter().zip(&mut narrow) {
        All(&[*x], std::slice::from_mut(out)).run();
    }
    let bits = |all: &[[f64; 7]]| all.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&wide), bits(&narrow));
}
