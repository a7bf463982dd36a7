//! Elementary functions that give the same bits alone and in a vector of eight.
//!
//! A coverage evaluates millions of paths, a link one, and both must agree. So the formulas are
//! written once, as inlined straight-line arithmetic without calls or tables: in a loop over many
//! cells the compiler turns them into vector code, elsewhere into scalar code, and since every
//! step is one correctly rounded IEEE operation (Rust never fuses nor reorders them) both give
//! the same bits, on every machine. The functions of the platform's library do neither.
//!
//! Errors stay within 3 units in the last place where not said otherwise (see the tests).

mod dispatch;
mod exp_log;
mod gather;
mod rank;
mod row;
pub(crate) mod slopes;
mod steps;
mod trig;

pub use dispatch::{Kernel, vectorised};
pub use exp_log::{cbrt, exp, ln, log10};
pub(crate) use gather::sample_evenly;
pub(crate) use rank::{Ranked, nth_from_both_ends};
pub use row::{all_within, level, maximum, moments, sum};
pub(crate) use steps::step_by_step;
pub use trig::{atan2, sin_cos};

/// Numbers computed together.
const LANES: usize = 8;

/// 1.5 * 2^52: adding it to a small number rounds that to a whole one, which then also stands in
/// the low bits.
pub const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// `c[0] + c[1] x + c[2] x² + ...`, even and odd powers apart so that neither waits for the other.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, c: [f64; N]) -> f64 {
    let square = x * x;
    let (mut even, mut odd) = (0.0, 0.0);
    let mut i = N;
    while i > 0 {
        i -= 1;
        if i.is_multiple_of(2) {
            even = even * square + c[i];
        } else {
            odd = odd * square + c[i];
        }
    }
    x * odd + even
}

/// The lesser of two numbers, `b` where either is `NaN`: half the work of [`f64::min`].
#[inline(always)]
pub fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The greater of two numbers, `b` where either is `NaN`: half the work of [`f64::max`].
#[inline(always)]
pub fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests;
