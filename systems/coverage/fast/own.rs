//! Samples taken on the path of each cell itself: near the horizons of the neighbouring rays, and
//! the last steps before the cell.

use super::common::Common;
use crate::numeric::{Kernel, vectorised};
use crate::propagation::itm::{self, BATCH};

/// A number for each of the cells worked out together.
pub(super) type Lane = [f64; BATCH];

/// Horizons looked for on each path: two rays, two ends.
pub(super) const GUESSES: usize = 4;

/// Samples around each.
const AROUND: usize = 3;

/// Last samples of a path, the cell's at the end.
pub(super) const TAIL: usize = 12;

/// Samples of a path.
pub(super) const SLOTS: usize = GUESSES * AROUND + TAIL;

/// Paths to some cells. In places that are not in use, everything is as it was.
#[derive(Debug, Clone)]
pub(super) struct Own {
    pub distance_m: Lane,
    /// Steps of the path, as in the exact mode.
    pub steps: Lane,
    /// Steps to where horizons are guessed.
    pub guesses: [Lane; GUESSES],
    /// Mean height of the ground, m.
    pub mean_msl_m: Lane,
    /// Ground at the site, m.
    pub ground_msl_m: f64,
    /// Shares of the way at which samples are taken.
    pub shares: [Lane; SLOTS],
    pub height_m: [Lane; SLOTS],
    pub n_s: Lane,
    pub earth_radius_m: Lane,
    pub horizon_distance_m: [Lane; 2],
    pub horizon_angle_rad: [Lane; 2],
}

impl Default for Own {
    fn default() -> Self {
        let zero = [0.0; BATCH];
        Self {
            distance_m: [10e3; BATCH],
            steps: [100.0; BATCH],
            guesses: [[50.0; BATCH]; GUESSES],
            mean_msl_m: zero,
            ground_msl_m: 0.0,
            shares: [zero; SLOTS],
            height_m: [zero; SLOTS],
            n_s: zero,
            earth_radius_m: zero,
            horizon_distance_m: [zero; 2],
            horizon_angle_rad: [zero; 2],
        }
    }
}

impl Own {
    /// Says where to take the samples.
    pub fn place(&mut self) {
        vectorised(Place(self));
    }

    /// Finds both horizons, the samples being taken.
    pub fn look(&mut self, itm: &itm::Prepared, common: &Common) {
        vectorised(Look {
            own: self,
            itm,
            antenna_agl_m: common.antenna_agl_m,
        });
    }
}

/// The step of the path in a place that belongs to a slot.
#[inline(always)]
fn step_of(slot: usize, place: usize, steps: &Lane, guesses: &[Lane; GUESSES]) -> f64 {
    if slot < GUESSES * AROUND {
        let near = guesses[slot / AROUND][place] + (slot % AROUND) as f64 - 1.0;
        let near = if near > 1.0 { near } else { 1.0 };
        let last = steps[place] - 1.0;
        if near < last { near } else { last }
    } else {
        steps[place] - (SLOTS - 1 - slot) as f64
    }
}

struct Place<'a>(&'a mut Own);

impl Kernel for Place<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let own = self.0;
        for slot in 0..SLOTS {
            for place in 0..BATCH {
                own.shares[slot][place] =
                    step_of(slot, place, &own.steps, &own.guesses) / own.steps[place];
            }
        }
    }
}

struct Look<'a> {
    own: &'a mut Own,
    itm: &'a itm::Prepared,
    antenna_agl_m: [f64; 2],
}

impl Kernel for Look<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            own,
            itm,
            antenna_agl_m,
        } = self;
        let tx_m = own.ground_msl_m + antenna_agl_m[0];
        let mut bulge = [0.0; BATCH];
        let mut step_m = [0.0; BATCH];
        for place in 0..BATCH {
            let (n_s, earth_radius_m) = itm.air(own.mean_msl_m[place]);
            own.n_s[place] = n_s;
            own.earth_radius_m[place] = earth_radius_m;
            bulge[place] = 0.5 / earth_radius_m;
            step_m[place] = own.distance_m[place] / own.steps[place];
            let all_m = own.distance_m[place];
            let rise = own.height_m[SLOTS - 1][place] + antenna_agl_m[1] - tx_m;
            let falls = all_m * bulge[place];
            own.horizon_distance_m[0][place] = all_m;
            own.horizon_distance_m[1][place] = all_m;
            own.horizon_angle_rad[0][place] = rise / all_m - falls;
            own.horizon_angle_rad[1][place] = -rise / all_m - falls;
        }
        for slot in 0..SLOTS - 1 {
            for place in 0..BATCH {
                let step = step_of(slot, place, &own.steps, &own.guesses);
                let height_m = own.height_m[slot][place];
                let at_m = step * step_m[place];
                let angle = (height_m - tx_m) / at_m - at_m * bulge[place];
                let over = angle > own.horizon_angle_rad[0][place];
                let (angle_0, at_0) = (
                    own.horizon_angle_rad[0][place],
                    own.horizon_distance_m[0][place],
                );
                own.horizon_angle_rad[0][place] = if over { angle } else { angle_0 };
                own.horizon_distance_m[0][place] = if over { at_m } else { at_0 };

                let rx_m = own.height_m[SLOTS - 1][place] + antenna_agl_m[1];
                let back_m = (own.steps[place] - step) * step_m[place];
                let angle = (height_m - rx_m) / back_m - back_m * bulge[place];
                let (angle_1, at_1) = (
                    own.horizon_angle_rad[1][place],
                    own.horizon_distance_m[1][place],
                );
                let over = angle > angle_1;
                own.horizon_angle_rad[1][place] = if over { angle } else { angle_1 };
                own.horizon_distance_m[1][place] = if over { back_m } else { at_1 };
            }
        }
    }
}
