//! Radio horizons of the two terminals over a terrain profile (TN101 eq. 6.15; Algorithm
//! eqs 4.1 to 4.4 and function `hzns`).

use super::PathProfile;
use crate::numeric::greater;

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

    let tx = steepest(
        interior,
        Eye::new(tx_msl_m, rx_msl_m, distance_m, step_m, earth_radius_m),
        0,
    );
    let rx = steepest(
        interior,
        Eye::new(rx_msl_m, tx_msl_m, distance_m, step_m, earth_radius_m),
        1,
    );

    let steps = [&tx, &rx].map(|eye| eye.highest.unwrap_or(0));
    let delicate = [steps[0], steps[1], steps[0] + steps[1]]
        .iter()
        .any(|steps| steps.is_multiple_of(10));
    let ways = [
        (0.0, step_m, steps[0]),
        (distance_m, -step_m, last - steps[1]),
    ];
    [(tx, ways[0]), (rx, ways[1])].map(|(eye, (start_m, step_m, count))| Horizon {
        angle_rad: eye.angle_rad,
        distance_m: eye
            .highest
            .map_or(distance_m, |_| walk_m(start_m, step_m, count, delicate)),
    })
}

/// Where one gets from `start_m` by `count` times `step_m`, m.
///
/// Later, the terrain is cut into whole steps at 0.1 and 0.9 of the way to the horizons and its
/// span between them into tenths. When the numbers of steps to the horizons, or their sum, are
/// multiples of ten, these cuts fall on whole numbers and rounding error decides on which side.
/// The model as published adds up steps one at a time, so in the `delicate` cases that is done
/// here too.
#[inline(always)]
fn walk_m(start_m: f64, step_m: f64, count: usize, delicate: bool) -> f64 {
    // Half the digits of a step are zero: no sum of steps is ever rounded.
    let exact = f64::from(step_m as f32) == step_m;
    if delicate && !exact {
        (0..count).fold(start_m, |at_m, _| at_m + step_m)
    } else {
        start_m + count as f64 * step_m
    }
}

/// Longest profile whose angles are estimated first, points.
const LONGEST: usize = 1024;

/// Points estimated together.
const BLOCK: usize = 64;

/// Points looked at one by one where the estimate of one is among the highest.
const PART: usize = 8;

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
/// Angles are estimated by multiplication in a vectorised pass; those within rounding error of the
/// highest are then worked out as the model says.
#[inline(always)]
fn steepest(interior: &[f64], mut eye: Eye, end: usize) -> Eye {
    let count = interior.len();
    let outward = |index: usize| if end == 0 { index + 1 } else { count - index };
    if !(BLOCK..LONGEST).contains(&count) {
        for place in 0..count {
            let index = if end == 0 { place } else { count - 1 - place };
            eye.look(outward(index), interior[index]);
        }
        return eye;
    }
    // The last block overlaps the one before.
    let blocks = count.div_ceil(BLOCK);
    let start = |block: usize| (block * BLOCK).min(count - BLOCK);
    let inverse = if end == 0 {
        &INVERSE[0][1..]
    } else {
        &INVERSE[1][LONGEST - count..]
    };
    let estimate = Estimate::new(&eye);
    let mut highest = [f64::NEG_INFINITY; LONGEST / BLOCK];
    let mut top_rad = eye.angle_rad;
    for block in 0..blocks {
        let at = start(block);
        let mut angles = [0.0; BLOCK];
        estimate.angles(
            &interior[at..at + BLOCK],
            &inverse[at..at + BLOCK],
            outward(at),
            end,
            &mut angles,
        );
        highest[block] = maximum(angles);
        top_rad = greater(highest[block], top_rad);
    }
    let near_rad = top_rad - SLACK_RAD * (1.0 + top_rad.abs());
    for place in 0..blocks {
        let block = if end == 0 { place } else { blocks - 1 - place };
        if highest[block] < near_rad {
            continue;
        }
        let at = start(block);
        for place in 0..BLOCK / PART {
            let part = at
                + PART
                    * if end == 0 {
                        place
                    } else {
                        BLOCK / PART - 1 - place
                    };
            let mut angles = [0.0; PART];
            estimate.angles(
                &interior[part..part + PART],
                &inverse[part..part + PART],
                outward(part),
                end,
                &mut angles,
            );
            let mut near = 0_u64;
            for angle_rad in angles {
                near |= u64::from(angle_rad >= near_rad);
            }
            if near == 0 {
                continue;
            }
            for place in 0..PART {
                let index = part + if end == 0 { place } else { PART - 1 - place };
                eye.look(outward(index), interior[index]);
            }
        }
    }
    eye
}

/// Estimates are this near the truth, of 1 and the angle: a thousand times their rounding error.
const SLACK_RAD: f64 = 1e-12;

/// What estimates of angles have in common.
#[derive(Clone, Copy)]
struct Estimate {
    eye_msl_m: f64,
    inverse_step_m: f64,
    bulge_per_step: f64,
}

impl Estimate {
    #[inline(always)]
    fn new(eye: &Eye) -> Self {
        Self {
            eye_msl_m: eye.eye_msl_m,
            inverse_step_m: 1.0 / eye.step_m,
            bulge_per_step: eye.step_m * eye.bulge_per_m,
        }
    }

    /// Angles of points from `steps` steps away on, one step farther each, or nearer from the
    /// receiver's `end`.
    #[inline(always)]
    fn angles<const N: usize>(
        &self,
        elevation_msl_m: &[f64],
        inverse: &[f64],
        steps: usize,
        end: usize,
        angles: &mut [f64; N],
    ) {
        let (elevation_msl_m, inverse) = (&elevation_msl_m[..N], &inverse[..N]);
        let bulge = self.bulge_per_step * if end == 0 { 1.0 } else { -1.0 };
        let first = self.bulge_per_step * steps as f64;
        for index in 0..N {
            let rise = (elevation_msl_m[index] - self.eye_msl_m) * self.inverse_step_m;
            angles[index] = rise * inverse[index] - (first + bulge * f64::from(index as i32));
        }
    }
}

/// The greatest of some numbers: halves are folded onto each other, which is vector code.
#[inline(always)]
fn maximum(mut values: [f64; BLOCK]) -> f64 {
    let mut half = BLOCK / 2;
    while half > 0 {
        for index in 0..half {
            values[index] = greater(values[index + half], values[index]);
        }
        half /= 2;
    }
    values[0]
}
