//! Radio horizons of the two terminals over a terrain profile (TN101 eq. 6.15; Algorithm
//! eqs 4.1 to 4.4 and function `hzns`).

use super::PathProfile;

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

    // Both scans go outwards: near ground stands high, so the steepest ray is found early.
    let mut tx = Scan::new(tx_msl_m, rx_msl_m, distance_m, step_m, earth_radius_m);
    let (blocks, rest) = interior.as_chunks::<BLOCK>();
    for block in blocks {
        if tx.may_rise_above_ray(block, 1.0) {
            tx.inspect(block.iter());
        }
        tx.passed += BLOCK;
    }
    tx.inspect(rest.iter());

    let mut rx = Scan::new(rx_msl_m, tx_msl_m, distance_m, step_m, earth_radius_m);
    let (rest, blocks) = interior.as_rchunks::<BLOCK>();
    for block in blocks.iter().rev() {
        if rx.may_rise_above_ray(block, -1.0) {
            rx.inspect(block.iter().rev());
        }
        rx.passed += BLOCK;
    }
    rx.inspect(rest.iter().rev());

    let steps = [&tx, &rx].map(|scan| scan.highest.unwrap_or(0));
    let delicate = [steps[0], steps[1], steps[0] + steps[1]]
        .iter()
        .any(|steps| steps.is_multiple_of(10));
    let from_tx_m = walk_m(0.0, step_m, steps[0], delicate);
    let from_rx_m = walk_m(distance_m, -step_m, last - steps[1], delicate);
    [(tx, from_tx_m), (rx, from_rx_m)].map(|(scan, horizon_m)| Horizon {
        angle_rad: scan.angle_rad,
        distance_m: scan.highest.map_or(distance_m, |_| horizon_m),
    })
}

/// Where one gets from `start_m` by `count` times `step_m`, m.
///
/// Later, the terrain is cut into whole steps at 0.1 and 0.9 of the way to the horizons and its
/// span between them into tenths. When the numbers of steps to the horizons, or their sum, are
/// multiples of ten, these cuts fall on whole numbers and rounding error decides on which side.
/// The model as published adds up steps one at a time, so in the `delicate` cases that is done
/// here too.
fn walk_m(start_m: f64, step_m: f64, count: usize, delicate: bool) -> f64 {
    // Half the digits of a step are zero: no sum of steps is ever rounded.
    let exact = f64::from(step_m as f32) == step_m;
    if delicate && !exact {
        (0..count).fold(start_m, |at_m, _| at_m + step_m)
    } else {
        start_m + count as f64 * step_m
    }
}

/// Points looked at together.
const BLOCK: usize = 32;

/// Points compared at once.
const LANES: usize = 4;

/// Steps from the last point before a block to its middle.
const MIDDLE: f64 = 0.5 * (BLOCK + 1) as f64;

/// A block is looked at closely when it comes this near the ray, m. Far above rounding error.
const GRAZE_M: f64 = 1e-6;

/// One terminal looking along the path.
struct Scan {
    eye_msl_m: f64,
    step_m: f64,
    /// 1 / (2 a), 1/m: how the earth falls away with the square of distance.
    bulge_per_m: f64,
    /// Steps taken so far.
    passed: usize,
    /// The steepest ray so far.
    angle_rad: f64,
    /// Steps to the point it touches; `None` when that is the other terminal.
    highest: Option<usize>,
}

impl Scan {
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
            passed: 0,
            angle_rad: (other_msl_m - eye_msl_m) / distance_m - distance_m * bulge_per_m,
            highest: None,
        }
    }

    /// Whether any of the next `BLOCK` points can lie above the steepest ray. Seldom so, and
    /// found out without a division: bent over a flat earth the ray is convex, thus nowhere
    /// below its tangent in the middle of the block. `outwards` is -1 when points come with the
    /// farthest first.
    #[inline]
    fn may_rise_above_ray(&self, block: &[f64; BLOCK], outwards: f64) -> bool {
        let at_m = (self.passed as f64 + MIDDLE) * self.step_m;
        let ray_msl_m = self.eye_msl_m + at_m * (self.angle_rad + at_m * self.bulge_per_m);
        let slope = outwards * self.step_m * (self.angle_rad + 2.0 * at_m * self.bulge_per_m);

        let mut highest_m = [f64::MIN; LANES];
        for (row, points) in block.as_chunks::<LANES>().0.iter().enumerate() {
            for lane in 0..LANES {
                let offset = (row * LANES + lane + 1) as f64 - MIDDLE;
                let above_m = points[lane] - offset * slope;
                highest_m[lane] = if above_m > highest_m[lane] {
                    above_m
                } else {
                    highest_m[lane]
                };
            }
        }
        (highest_m.iter()).any(|&above_m| above_m > ray_msl_m - GRAZE_M)
    }

    /// Looks at points one by one, starting from those passed.
    fn inspect<'a>(&mut self, points: impl Iterator<Item = &'a f64>) {
        for (index, elevation_msl_m) in points.enumerate() {
            let steps = self.passed + index + 1;
            let at_m = steps as f64 * self.step_m;
            let angle_rad = (elevation_msl_m - self.eye_msl_m) / at_m - at_m * self.bulge_per_m;
            if angle_rad > self.angle_rad {
                self.angle_rad = angle_rad;
                self.highest = Some(steps);
            }
        }
    }
}
