//! The formulas of the model over many measured paths at once.

use super::VariabilityMode;
use super::constants::Constants;
use super::longley_rice::{Attenuation, attenuation_where};
use super::path::{Path, Sight};
use super::quick_pfl::Measured;
use super::variability::Spread;
use crate::numeric::{Kernel, vectorised};

/// Paths worked out together.
pub const BATCH: usize = 64;

/// Quantiles computed together: that of the environment, and the median of time and locations.
pub const QUANTILES: usize = 2;

/// Paths of which one decides what is worked out of all: shorter loops are not made vector code.
const LANES: usize = 16;

const _: () = assert!(BATCH.is_multiple_of(LANES), "whole vectors");

type Lane = [f64; BATCH];

/// Measured paths, each member of [`Measured`] an array.
#[derive(Debug, Clone)]
pub struct Batch {
    distance_m: Lane,
    n_s: Lane,
    earth_radius_m: Lane,
    horizon_distance_m: [Lane; 2],
    horizon_angle_rad: [Lane; 2],
    raised_m: [Lane; 2],
    range_m: Lane,
    start_m: Lane,
    end_m: Lane,
}

/// Attenuations over free space of a [`Batch`], dB.
#[derive(Debug, Clone)]
pub struct Losses {
    /// The reference, 0 or more; not finite where the formulas have no value.
    pub a_ref_db: Lane,
    /// At each quantile asked for.
    pub attenuation_db: [Lane; QUANTILES],
    /// Standard deviation in time and over locations.
    pub sigma_db: Lane,
    /// Number of the [`PropagationMode`](super::PropagationMode).
    mode: Lane,
    paths: Paths,
}

impl Default for Batch {
    fn default() -> Self {
        // An ordinary path in every place, so that unused ones take no slow way.
        Self {
            distance_m: [10e3; BATCH],
            n_s: [301.0; BATCH],
            earth_radius_m: [8.5e6; BATCH],
            horizon_distance_m: [[5e3; BATCH]; 2],
            horizon_angle_rad: [[0.0; BATCH]; 2],
            raised_m: [[0.0; BATCH]; 2],
            range_m: [50.0; BATCH],
            start_m: [50.0; BATCH],
            end_m: [9e3; BATCH],
        }
    }
}

impl Default for Losses {
    fn default() -> Self {
        Self {
            a_ref_db: [0.0; BATCH],
            attenuation_db: [[0.0; BATCH]; QUANTILES],
            sigma_db: [0.0; BATCH],
            mode: [0.0; BATCH],
            paths: Paths::default(),
        }
    }
}

impl Losses {
    /// Reference attenuation and mode in a place.
    pub(super) fn reference(&self, place: usize) -> Attenuation {
        Attenuation { a_ref_db: self.a_ref_db[place], mode: self.mode[place] }
    }
}

impl Batch {
    /// Puts a path in a place below [`BATCH`].
    #[inline]
    pub fn set(&mut self, place: usize, path: &Measured) {
        self.distance_m[place] = path.distance_m;
        self.n_s[place] = path.n_s;
        self.earth_radius_m[place] = path.earth_radius_m;
        self.range_m[place] = path.range_m;
        self.start_m[place] = path.start_m;
        self.end_m[place] = path.end_m;
        for end in 0..2 {
            self.horizon_distance_m[end][place] = path.horizon_distance_m[end];
            self.horizon_angle_rad[end][place] = path.horizon_angle_rad[end];
            self.raised_m[end][place] = path.raised_m[end];
        }
    }

    #[inline(always)]
    fn get(&self, place: usize) -> Measured {
        let pair = |of: &[Lane; 2]| [of[0][place], of[1][place]];
        Measured {
            distance_m: self.distance_m[place],
            n_s: self.n_s[place],
            earth_radius_m: self.earth_radius_m[place],
            horizon_distance_m: pair(&self.horizon_distance_m),
            horizon_angle_rad: pair(&self.horizon_angle_rad),
            raised_m: pair(&self.raised_m),
            range_m: self.range_m[place],
            start_m: self.start_m[place],
            end_m: self.end_m[place],
        }
    }

    /// Parameters of the path in a place, whose `losses` were computed.
    pub(super) fn path(&self, losses: &Losses, place: usize, antenna_agl_m: [f64; 2]) -> Path {
        losses.paths.get(place, self, antenna_agl_m)
    }

    pub(super) fn losses(
        &self,
        antenna_agl_m: [f64; 2],
        constants: &Constants,
        deviates: [[f64; 3]; QUANTILES],
        used: &[bool; BATCH],
        losses: &mut Losses,
    ) {
        vectorised(Work { batch: self, used, antenna_agl_m, constants, deviates, losses });
    }
}

struct Work<'a> {
    batch: &'a Batch,
    used: &'a [bool; BATCH],
    antenna_agl_m: [f64; 2],
    constants: &'a Constants,
    deviates: [[f64; 3]; QUANTILES],
    losses: &'a mut Losses,
}

impl Kernel for Work<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let mut paths = Paths::default();
        let (mut within, mut scatters) = ([0.0; BATCH], [0.0; BATCH]);
        for first in (0..BATCH).step_by(LANES) {
            if !self.used[first..first + LANES].contains(&true) {
                continue;
            }
            for place in first..first + LANES {
                let path = self.batch.get(place).path(self.antenna_agl_m);
                paths.set(place, &path);
                let sight = Sight::new(&path);
                within[place] = if sight.reaches(&path) { 1.0 } else { 0.0 };
                let far = sight.scatters(&path, self.constants);
                scatters[place] = if far { 1.0 } else { 0.0 };
            }
            let count = |of: &Lane| of[first..first + LANES].iter().sum::<f64>() as usize;
            // Neighbours mostly lie on one side of the horizon.
            match (count(&within), count(&scatters)) {
                (LANES, _) => self.references::<true, false, false>(&paths, first),
                (0, 0) => self.references::<false, true, false>(&paths, first),
                (0, _) => self.references::<false, true, true>(&paths, first),
                (_, 0) => self.references::<true, true, false>(&paths, first),
                _ => self.references::<true, true, true>(&paths, first),
            }
        }
        match self.constants.mdvar.mode {
            VariabilityMode::SingleMessage => self.spreads(&paths, VariabilityMode::SingleMessage),
            VariabilityMode::Accidental => self.spreads(&paths, VariabilityMode::Accidental),
            VariabilityMode::Mobile => self.spreads(&paths, VariabilityMode::Mobile),
            VariabilityMode::Broadcast => self.spreads(&paths, VariabilityMode::Broadcast),
        }
        self.losses.paths = paths;
    }
}

/// Quantities derived once from a [`Batch`]: an array for each new member of [`Path`].
#[derive(Debug, Clone)]
struct Paths {
    effective_height_m: [Lane; 2],
    horizon_distance_m: [Lane; 2],
    horizon_angle_rad: [Lane; 2],
    delta_h_m: Lane,
}

impl Default for Paths {
    fn default() -> Self {
        Self {
            effective_height_m: [[0.0; BATCH]; 2],
            horizon_distance_m: [[0.0; BATCH]; 2],
            horizon_angle_rad: [[0.0; BATCH]; 2],
            delta_h_m: [0.0; BATCH],
        }
    }
}

impl Paths {
    #[inline(always)]
    fn set(&mut self, place: usize, path: &Path) {
        for end in 0..2 {
            self.effective_height_m[end][place] = path.effective_height_m[end];
            self.horizon_distance_m[end][place] = path.horizon_distance_m[end];
            self.horizon_angle_rad[end][place] = path.horizon_angle_rad[end];
        }
        self.delta_h_m[place] = path.delta_h_m;
    }

    #[inline(always)]
    fn get(&self, place: usize, batch: &Batch, antenna_agl_m: [f64; 2]) -> Path {
        let [tx_m, rx_m] = &self.effective_height_m;
        let [near_m, far_m] = &self.horizon_distance_m;
        let [near_rad, far_rad] = &self.horizon_angle_rad;
        Path {
            distance_m: batch.distance_m[place],
            antenna_agl_m,
            effective_height_m: [tx_m[place], rx_m[place]],
            horizon_distance_m: [near_m[place], far_m[place]],
            horizon_angle_rad: [near_rad[place], far_rad[place]],
            delta_h_m: self.delta_h_m[place],
            n_s: batch.n_s[place],
            earth_radius_m: batch.earth_radius_m[place],
            point_to_point: true,
        }
    }
}

impl Work<'_> {
    #[inline(always)]
    fn references<const WITHIN: bool, const BEYOND: bool, const SCATTER: bool>(
        &mut self,
        paths: &Paths,
        first: usize,
    ) {
        let constants = *self.constants;
        for place in first..first + LANES {
            let path = paths.get(place, self.batch, self.antenna_agl_m);
            let reference = attenuation_where::<WITHIN, BEYOND, SCATTER>(&path, &constants);
            self.losses.a_ref_db[place] = reference.a_ref_db;
            self.losses.mode[place] = reference.mode;
        }
    }

    /// Attenuations at the quantiles, the references being known.
    #[inline(always)]
    fn spreads(&mut self, paths: &Paths, mode: VariabilityMode) {
        for first in (0..BATCH).step_by(LANES) {
            if self.used[first..first + LANES].contains(&true) {
                self.spread(paths, mode, first);
            }
        }
    }

    #[inline(always)]
    fn spread(&mut self, paths: &Paths, mode: VariabilityMode, first: usize) {
        let Self { batch, deviates, losses, .. } = self;
        let constants = *self.constants;
        let [tx_m, rx_m] = &paths.effective_height_m;
        for place in first..first + LANES {
            let (heights, delta_h_m) = ([tx_m[place], rx_m[place]], paths.delta_h_m[place]);
            let spread = Spread::new(&constants, batch.distance_m[place], heights, delta_h_m);
            let a_ref_db = losses.a_ref_db[place];
            losses.sigma_db[place] = spread.sigma_db();
            for quantile in 0..QUANTILES {
                losses.attenuation_db[quantile][place] =
                    spread.attenuation_at_db(a_ref_db, deviates[quantile], mode);
            }
        }
    }
}
