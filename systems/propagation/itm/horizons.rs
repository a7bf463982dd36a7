//! Radio horizons of the two terminals over a terrain profile (TN101 eq. 6.15; Algorithm
//! eqs 4.1 to 4.4 and function `hzns`).

use super::path::skipped_m;
use crate::numeric::slopes::{BLOCK, BLOCKS, Slopes, blocks_reaching, greatest, reaching, start};
use crate::numeric::{greater, maximum, step_by_step};
use crate::profile::PathProfile;

/// Radio horizon of a terminal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Horizon {
    /// Elevation angle above the horizontal at the terminal, rad.
    pub angle_rad: f64,
    /// Distance, m; the length of the path when nothing obstructs the other terminal.
    pub distance_m: f64,
}

/// Horizons of transmitter and receiver, `antenna_agl_m` above their ends of the profile, over
/// an earth of effective radius `earth_radius_m`.
#[inline(always)]
pub(crate) fn horizons(
    profile: &PathProfile,
    earth_radius_m: f64,
    antenna_agl_m: [f64; 2],
) -> [Horizon; 2] {
    let elevation = profile.elevation_msl_m;
    let last = profile.intervals();
    let interior = &elevation[1..last];
    let tx_msl_m = elevation[0] + antenna_agl_m[0];
    let rx_msl_m = elevation[last] + antenna_agl_m[1];
    let distance_m = profile.distance_m();
    let step_m = profile.step_m;
    let eyes = [
        Eye::new(tx_msl_m, rx_msl_m, distance_m, step_m, earth_radius_m),
        Eye::new(rx_msl_m, tx_msl_m, distance_m, step_m, earth_radius_m),
    ];
    let [tx, rx] = steepest(interior, eyes);

    // No closures for `map` here and below: they might be left out of line.
    let steps = [tx.highest.unwrap_or(0), rx.highest.unwrap_or(0)];
    let delicate = delicate(steps, step_m, antenna_agl_m);
    [
        Horizon {
            angle_rad: tx.angle_rad,
            distance_m: match tx.highest {
                Some(steps) => walk_m(0.0, step_m, steps, delicate[0]),
                None => distance_m,
            },
        },
        Horizon {
            angle_rad: rx.angle_rad,
            distance_m: match rx.highest {
                Some(steps) => walk_m(distance_m, -step_m, last - steps, delicate[1]),
                None => distance_m,
            },
        },
    ]
}

/// True if the last bits of the distances to horizons so many steps away matter.
///
/// Later, the terrain is cut into whole steps at 0.1 and 0.9 of the way to a horizon: when the
/// number of steps to it is a multiple of ten, these cuts fall on whole numbers and rounding error
/// decides on which side. Between cuts at 0.1, where both lie so near, the span is cut into tenths:
/// there the sum of both numbers does the same.
#[inline(always)]
fn delicate(steps: [usize; 2], step_m: f64, antenna_agl_m: [f64; 2]) -> [bool; 2] {
    let near = |end: usize| {
        let horizon_m = steps[end] as f64 * step_m;
        skipped_m(horizon_m, antenna_agl_m[end]) > 0.099 * horizon_m
    };
    let span = (steps[0] + steps[1]).is_multiple_of(10) && near(0) && near(1);
    [span || steps[0].is_multiple_of(10), span || steps[1].is_multiple_of(10)]
}

/// Distance from the transmitter after `count` steps of `step_m` from `start_m`, m.
///
/// The model as published adds up steps one at a time, so where the last bits matter that is done
/// here too.
#[inline(always)]
fn walk_m(start_m: f64, step_m: f64, count: usize, delicate: bool) -> f64 {
    // Half the digits of a step are zero: no sum of steps is ever rounded.
    let exact = f64::from(step_m as f32) == step_m;
    if delicate && !exact {
        step_by_step(start_m, step_m, count)
    } else {
        start_m + count as f64 * step_m
    }
}

/// Maximum number of points of a profile whose angles are estimated first.
const LONGEST: usize = 1024;

const _: () = assert!(LONGEST == BLOCK * BLOCKS, "there are blocks for it");

/// 1/n at place n, and the same from the far end: estimating an angle takes no division.
static INVERSE: [[f64; LONGEST + 1]; 2] = inverses();

const fn inverses() -> [[f64; LONGEST + 1]; 2] {
    let mut table = [[0.0; LONGEST + 1]; 2];
    let mut n = 1;
    while n <= LONGEST {
        table[0][n] = 1.0 / n as f64;
        table[1][LONGEST - n] = 1.0 / n as f64;
        n += 1;
    }
    table
}

/// One terminal looking along the path.
#[derive(Clone, Copy)]
struct Eye {
    eye_msl_m: f64,
    step_m: f64,
    /// 1 / (2 a), 1/m: how the earth falls away with the square of distance.
    bulge_per_m: f64,
    /// The steepest ray so far.
    angle_rad: f64,
    /// Steps to the point it touches; `None` when that is the other terminal.
    highest: Option<usize>,
}

impl Eye {
    #[inline(always)]
    fn new(
        eye_msl_m: f64,
        other_msl_m: f64,
        distance_m: f64,
        step_m: f64,
        earth_radius_m: f64,
    ) -> Self {
        let bulge_per_m = 0.5 / earth_radius_m;
        Self {
            eye_msl_m,
            step_m,
            bulge_per_m,
            angle_rad: (other_msl_m - eye_msl_m) / distance_m - distance_m * bulge_per_m,
            highest: None,
        }
    }

    /// Estimates of the angles of points, in metres a step: the first is `steps` away and each next
    /// one `outwards` more; `inverse` are the reciprocals of their numbers of steps.
    #[inline(always)]
    fn estimates<'a>(&self, steps: usize, outwards: f64, inverse: &'a [f64]) -> Slopes<'a> {
        let bulge_m = self.step_m * self.step_m * self.bulge_per_m;
        Slopes {
            base: self.eye_msl_m,
            fall: bulge_m * steps as f64,
            fall_step: bulge_m * outwards,
            inverse,
        }
    }

    /// Threshold for estimates to be among the highest, `top` being the highest, metres a step.
    #[inline(always)]
    fn near(&self, top: f64) -> f64 {
        let top = greater(top, self.angle_rad * self.step_m);
        top - SLACK_RAD * (self.step_m + top.abs())
    }

    /// Looks at a point so many steps away.
    #[inline(always)]
    fn look(&mut self, steps: usize, elevation_msl_m: f64) {
        let at_m = steps as f64 * self.step_m;
        let angle_rad = (elevation_msl_m - self.eye_msl_m) / at_m - at_m * self.bulge_per_m;
        if angle_rad > self.angle_rad {
            self.angle_rad = angle_rad;
            self.highest = Some(steps);
        }
    }
}

/// Looks at all points between the terminals, outwards from each (transmitter, receiver), and finds
/// the steepest rays and the nearest point on each.
///
/// Angles are estimated by multiplication in vectors; those within rounding error of the highest
/// are then computed as the model defines.
#[inline(always)]
fn steepest(interior: &[f64], mut eyes: [Eye; 2]) -> [Eye; 2] {
    let count = interior.len();
    if !has_blocks(count) {
        for (index, height_m) in interior.iter().enumerate() {
            eyes[0].look(index + 1, *height_m);
        }
        for (index, height_m) in interior.iter().enumerate().rev() {
            eyes[1].look(count - index, *height_m);
        }
        return eyes;
    }
    let estimates = [
        eyes[0].estimates(1, 1.0, &INVERSE[0][1..]),
        eyes[1].estimates(count, -1.0, &INVERSE[1][LONGEST - count..]),
    ];
    let highest = greatest(&estimates, interior);
    for end in 0..2 {
        let eye = &mut eyes[end];
        let near = eye.near(maximum(&highest[end]));
        let mut blocks = blocks_reaching(&highest[end], near);
        while blocks != 0 {
            let block = next(&mut blocks, end);
            let at = start(block as usize, count);
            let mask = reaching(&estimates[end], interior, at, near);
            let mut halves = [mask as u32, (mask >> 32) as u32];
            for half in [end, 1 - end] {
                while halves[half] != 0 {
                    let index = at + 32 * half + next(&mut halves[half], end) as usize;
                    let steps = if end == 0 { index + 1 } else { count - index };
                    eye.look(steps, interior[index]);
                }
            }
        }
    }
    eyes
}

/// Takes the lowest bit that is set, or from the receiver's `end` the highest, and returns its place.
#[inline(always)]
fn next(bits: &mut u32, end: usize) -> u32 {
    let place = if end == 0 { bits.trailing_zeros() } else { 31 - bits.leading_zeros() };
    *bits ^= 1 << place;
    place
}

/// True if so many points are examined in blocks.
#[inline(always)]
fn has_blocks(count: usize) -> bool {
    (BLOCK..LONGEST).contains(&count)
}

/// Estimates are this near the truth, of 1 and the angle: a thousand times their rounding error.
const SLACK_RAD: f64 = 1e-12;
