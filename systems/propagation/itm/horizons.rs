//! Radio horizons of the two terminals over a terrain profile (TN101 eq. 6.15; Algorithm
//! eqs 4.1 to 4.4 and function `hzns`).

use super::PathProfile;
use super::quick_pfl::skipped_m;
use crate::numeric::slopes::{self, Slopes, greatest, reaching};
use crate::numeric::{greater, maximum, step_by_step};

/// What a terminal sees at the edge of its view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Horizon {
    /// Elevation angle above the horizontal at the terminal, rad.
    pub angle_rad: f64,
    /// Distance, m; the length of the path when nothing obstructs the other terminal.
    pub distance_m: f64,
}

/// Horizons of transmitter and receiver, `antenna_agl_m` above their ends of the profile, over
/// an earth of effective radius `earth_radius_m`.
#[inline(always)]
pub(super) fn horizons(
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
    let tops = tops(interior);

    let tx = steepest(
        interior,
        &tops,
        Eye::new(tx_msl_m, rx_msl_m, distance_m, step_m, earth_radius_m),
        0,
    );
    let rx = steepest(
        interior,
        &tops,
        Eye::new(rx_msl_m, tx_msl_m, distance_m, step_m, earth_radius_m),
        1,
    );

    let steps = [&tx, &rx].map(|eye| eye.highest.unwrap_or(0));
    let delicate = delicate(steps, step_m, antenna_agl_m);
    let near_m = |steps| walk_m(0.0, step_m, steps, delicate[0]);
    let far_m = |steps| walk_m(distance_m, -step_m, last - steps, delicate[1]);
    [
        Horizon {
            angle_rad: tx.angle_rad,
            distance_m: tx.highest.map_or(distance_m, near_m),
        },
        Horizon {
            angle_rad: rx.angle_rad,
            distance_m: rx.highest.map_or(distance_m, far_m),
        },
    ]
}

/// Whether the last bits of the distances to horizons so many steps away matter.
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
    steps.map(|steps| span || steps.is_multiple_of(10))
}

/// Where one gets from `start_m` by `count` times `step_m`, m.
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

/// Longest profile whose angles are estimated first, points.
const LONGEST: usize = 1024;

/// Points estimated together.
const BLOCK: usize = slopes::BLOCK;

/// Most blocks.
const BLOCKS: usize = LONGEST / BLOCK;

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

/// Looks at all points between the terminals, outwards from terminal `end` (0 transmitter,
/// 1 receiver), and finds the steepest ray and the nearest point on it.
///
/// `tops` are the heights of the blocks' highest points. They bound the angles of a block, so that
/// only few are looked into. There, angles are estimated by multiplication in vectors; those within
/// rounding error of the highest are then worked out as the model says.
#[inline(always)]
fn steepest(interior: &[f64], tops: &[f64; BLOCKS], mut eye: Eye, end: usize) -> Eye {
    let count = interior.len();
    let outward = |index: usize| if end == 0 { index + 1 } else { count - index };
    if !has_blocks(count) {
        for place in 0..count {
            let index = if end == 0 { place } else { count - 1 - place };
            eye.look(outward(index), interior[index]);
        }
        return eye;
    }
    let blocks = count.div_ceil(BLOCK);
    let inverse = if end == 0 {
        &INVERSE[0][1..]
    } else {
        &INVERSE[1][LONGEST - count..]
    };
    let estimate = Estimate::new(&eye, end);
    let block_at = |block: usize| {
        let at = start(block, count);
        let (heights, inverse) = (&interior[at..], &inverse[at..]);
        let whole = |from| <[f64]>::as_chunks::<BLOCK>(from).0;
        (&whole(heights)[0], &whole(inverse)[0], outward(at), at)
    };
    let (bounds, steepest) = estimate.bounds(tops, count, end);
    let mut highest = [f64::NEG_INFINITY; BLOCKS];
    let mut top_rad = eye.angle_rad;
    // The block that may be steepest first: it rules out most others.
    for turn in 0..=blocks {
        let block = if turn == 0 { steepest } else { turn - 1 };
        let again = turn > 0 && block == steepest;
        if again || bounds[block] < near(top_rad) {
            continue;
        }
        let (heights, inverse, steps, _) = block_at(block);
        highest[block] = greatest(&estimate.line(steps), heights, inverse);
        top_rad = greater(highest[block], top_rad);
    }
    let near_rad = near(top_rad);
    for place in 0..blocks {
        let block = if end == 0 { place } else { blocks - 1 - place };
        if highest[block] < near_rad {
            continue;
        }
        let (heights, inverse, steps, at) = block_at(block);
        let mut reaching = reaching(&estimate.line(steps), heights, inverse, near_rad);
        while reaching != 0 {
            let bit = if end == 0 {
                reaching.trailing_zeros()
            } else {
                63 - reaching.leading_zeros()
            };
            reaching ^= 1 << bit;
            let index = at + bit as usize;
            eye.look(outward(index), interior[index]);
        }
    }
    eye
}

/// What estimates must reach to be among the highest, the highest being `top_rad`.
#[inline(always)]
fn near(top_rad: f64) -> f64 {
    top_rad - SLACK_RAD * (1.0 + top_rad.abs())
}

/// Whether so many points are looked at in blocks.
#[inline(always)]
fn has_blocks(count: usize) -> bool {
    (BLOCK..LONGEST).contains(&count)
}

/// The first point of a block; the last block overlaps the one before.
#[inline(always)]
fn start(block: usize, count: usize) -> usize {
    (block * BLOCK).min(count - BLOCK)
}

/// Heights of the highest points of all blocks, m.
#[inline(always)]
fn tops(interior: &[f64]) -> [f64; BLOCKS] {
    let mut tops = [f64::NEG_INFINITY; BLOCKS];
    let count = interior.len();
    if !has_blocks(count) {
        return tops;
    }
    for block in 0..count.div_ceil(BLOCK) {
        let at = start(block, count);
        let (heights, _) = interior[at..].as_chunks();
        tops[block] = maximum::<BLOCK>(&heights[0]);
    }
    tops
}

/// Estimates are this near the truth, of 1 and the angle: a thousand times their rounding error.
const SLACK_RAD: f64 = 1e-12;

/// What estimates of angles have in common.
#[derive(Clone, Copy)]
struct Estimate {
    eye_msl_m: f64,
    inverse_step_m: f64,
    bulge_per_step: f64,
    /// Steps outwards from one point to the next: 1, or -1 from the receiver.
    outwards: f64,
}

impl Estimate {
    #[inline(always)]
    fn new(eye: &Eye, end: usize) -> Self {
        Self {
            eye_msl_m: eye.eye_msl_m,
            inverse_step_m: 1.0 / eye.step_m,
            bulge_per_step: eye.step_m * eye.bulge_per_m,
            outwards: if end == 0 { 1.0 } else { -1.0 },
        }
    }

    /// Angles of points from one on that is `steps` away.
    #[inline(always)]
    fn line(&self, steps: usize) -> Slopes {
        Slopes {
            base: self.eye_msl_m,
            scale: self.inverse_step_m,
            fall: self.bulge_per_step * steps as f64,
            fall_step: self.bulge_per_step * self.outwards,
        }
    }

    /// What no estimate in a block of `count` points exceeds, rad, and the block where that is
    /// greatest; `tops` are the heights of the blocks' highest points.
    #[inline(always)]
    fn bounds(&self, tops: &[f64; BLOCKS], count: usize, end: usize) -> ([f64; BLOCKS], usize) {
        let blocks = count.div_ceil(BLOCK);
        let mut bounds = [f64::NEG_INFINITY; BLOCKS];
        let (mut steepest, mut top_rad) = (0, f64::NEG_INFINITY);
        for block in 0..blocks {
            let at = start(block, count);
            let near = if end == 0 {
                at + 1
            } else {
                count + 1 - at - BLOCK
            };
            let rise = (tops[block] - self.eye_msl_m) * self.inverse_step_m;
            // What lies below the eye looks highest far away.
            let from = if rise > 0.0 { near } else { near + BLOCK - 1 };
            bounds[block] = rise * INVERSE[0][from] - self.bulge_per_step * near as f64;
            if bounds[block] > top_rad {
                (steepest, top_rad) = (block, bounds[block]);
            }
        }
        (bounds, steepest)
    }
}
