//! Paths of many receivers of one transmitter, evaluated together.

use std::any::Any;
use std::fmt;

use groundwave_propagation::itm;
use groundwave_propagation::profile::PathProfile;

use super::Attenuation;

/// Paths evaluated together.
pub const BATCH: usize = itm::BATCH;

/// Quantiles at which a batch is computed: that of the environment, and the median of time and
/// locations.
pub const QUANTILES: usize = itm::QUANTILES;

/// One number for each path of a batch.
pub(crate) type Lane = [f64; BATCH];

/// Profiles measured side by side.
#[derive(Debug, Clone, Copy)]
pub struct ProfileRows<'a> {
    /// Lane of the first profile.
    pub(crate) first: usize,
    /// Profiles of consecutive lanes; `None` for lanes that are not wanted.
    pub(crate) profiles: [Option<PathProfile<'a>>; itm::SIDE_BY_SIDE],
    /// True for profiles whose heights are known to be within the range of ITM.
    pub(crate) credible: [bool; itm::SIDE_BY_SIDE],
}

impl<'a> ProfileRows<'a> {
    /// Lanes and profiles.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &PathProfile<'a>)> {
        let lanes = (self.first..).zip(&self.profiles);
        lanes.filter_map(|(lane, profile)| Some((lane, profile.as_ref()?)))
    }
}

/// Attenuation over free space along up to [`BATCH`] paths.
#[derive(Default)]
pub struct PathBatch {
    /// True for lanes that the model has measured.
    pub(crate) measured: Flags,
    /// True for measured lanes whose ray is known to clear the terrain.
    pub(crate) clear: Flags,
    /// Attenuation at each quantile, dB.
    pub(crate) attenuation_db: Attenuations,
    /// Standard deviation of the model in time and over locations, dB.
    pub(crate) sigma_db: Sigmas,
    /// Working memory of the model.
    workspace: Option<Box<dyn Any + Send>>,
}

/// One truth value for each path of a batch.
#[derive(Clone)]
pub(crate) struct Flags(pub [bool; BATCH]);

impl Default for Flags {
    fn default() -> Self {
        Self([false; BATCH])
    }
}

/// Standard deviation of each path, dB.
#[derive(Clone)]
pub(crate) struct Sigmas(pub Lane);

impl Default for Sigmas {
    fn default() -> Self {
        Self([0.0; BATCH])
    }
}

/// Attenuation of each path at each quantile, dB.
#[derive(Clone)]
pub(crate) struct Attenuations(pub [Lane; QUANTILES]);

impl Default for Attenuations {
    fn default() -> Self {
        Self([[0.0; BATCH]; QUANTILES])
    }
}

impl PathBatch {
    /// Forgets all measured lanes.
    pub(crate) fn clear(&mut self) {
        self.measured.0.fill(false);
        self.clear.0.fill(false);
    }

    /// Sets the attenuation of a lane at the quantile of the environment and at the median, and marks it
    /// measured.
    pub fn set(&mut self, lane: usize, attenuation: &Attenuation) {
        self.measured.0[lane] = true;
        for (lanes, attenuation_db) in
            self.attenuation_db.0.iter_mut().zip(attenuation.quantiles_db())
        {
            lanes[lane] = attenuation_db;
        }
        self.sigma_db.0[lane] = attenuation.sigma_db;
    }

    /// Sets the attenuation of a lane by the fallback model: the lane is not measured.
    pub(crate) fn set_fallback(&mut self, lane: usize, attenuation: &Attenuation) {
        self.set(lane, attenuation);
        self.measured.0[lane] = false;
    }

    /// Attenuation of a lane at each quantile, dB.
    pub(crate) fn quantiles_db(&self, lane: usize) -> [f64; QUANTILES] {
        self.attenuation_db.0.each_ref().map(|lanes| lanes[lane])
    }

    /// Leaves a share of the attenuation of a lane and adds the rest of another, as
    /// [`Attenuation::blended`] does, and `added_db` at each quantile.
    pub(crate) fn blend(
        &mut self,
        lane: usize,
        share: f64,
        other: &Attenuation,
        added_db: [f64; QUANTILES],
    ) {
        let others_db = other.quantiles_db().into_iter().zip(added_db);
        for (lanes, (other_db, added_db)) in self.attenuation_db.0.iter_mut().zip(others_db) {
            lanes[lane] = share * lanes[lane] + (1.0 - share) * other_db + added_db;
        }
        let sigma_db = &mut self.sigma_db.0[lane];
        *sigma_db = share * *sigma_db + (1.0 - share) * other.sigma_db;
    }

    /// Working memory of the model, kept from batch to batch: a new one where another model used
    /// the batch before.
    pub fn workspace<T: Any + Send + Default>(&mut self) -> &mut T {
        workspace(&mut self.workspace)
    }

    /// All parts at once: measured lanes, clear lanes, attenuations, standard deviations and working
    /// memory.
    pub(crate) fn parts<T: Any + Send + Default>(
        &mut self,
    ) -> (&mut [bool; BATCH], &mut [bool; BATCH], &mut [Lane; QUANTILES], &mut Lane, &mut T) {
        let workspace = workspace(&mut self.workspace);
        let (measured, clear) = (&mut self.measured.0, &mut self.clear.0);
        let (attenuation_db, sigma_db) = (&mut self.attenuation_db.0, &mut self.sigma_db.0);
        (measured, clear, attenuation_db, sigma_db, workspace)
    }
}

fn workspace<T: Any + Send + Default>(memory: &mut Option<Box<dyn Any + Send>>) -> &mut T {
    if !memory.as_ref().is_some_and(|memory| memory.is::<T>()) {
        *memory = Some(Box::new(T::default()));
    }
    let memory = memory.as_mut().and_then(|memory| memory.downcast_mut());
    memory.expect("of this type since the line above")
}

impl fmt::Debug for PathBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathBatch").finish_non_exhaustive()
    }
}
