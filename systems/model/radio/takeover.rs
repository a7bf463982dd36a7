//! The model of the environment and the fallback model where the one hands over to the other: near and beyond the
//! ends of its range.

use groundwave_propagation::profile::PathProfile;

use super::clutter::{ClutterPath, clutter_loss};
use super::path_loss::{Attenuation, PathBatch, PreparedModel, QUANTILES};
use super::prepare::Prepared;
use super::transmitter::{PreparedTransmitter, Receivers};
use super::warning::Warning;

impl Prepared<'_> {
    /// The model of the environment for paths of `distance_m`, beyond its longest distance for the path that
    /// [`Self::limited`] makes of them.
    ///
    /// # Errors
    /// The warning that explains why it is not valid there.
    pub(super) fn model_at(
        &self,
        distance_m: f64,
        is_fine_surface: bool,
    ) -> Result<&dyn PreparedModel, Warning> {
        let validity = &self.validity;
        validity.check(self.frequency_mhz, validity.limited_m(distance_m), is_fine_surface)?;
        self.model.as_deref().map_err(|warning| *warning)
    }

    /// The path as the model of the environment computes it.
    pub(super) fn limited<'a>(&self, profile: PathProfile<'a>) -> PathProfile<'a> {
        self.validity.limited(profile)
    }

    /// The warning for a path beyond the longest distance of the model of the environment.
    pub(super) fn far_warning(&self, distance_m: f64) -> Option<Warning> {
        let is_beyond = distance_m > *self.validity.distance_m.end();
        is_beyond.then_some(self.validity.distance_warning)
    }

    /// Share of the model of the environment over `distance_m`, [0, 1].
    pub(super) fn share(&self, distance_m: f64) -> f64 {
        self.validity.share(distance_m) * self.height_share
    }

    /// Addition to the blend of the two models, dB at each quantile, near and beyond the longest distance: from the
    /// fallback model with the clutter at the ends to the model of the environment where that has the larger loss.
    /// `own_db` and `fallback_db` are the attenuations of the two.
    pub(super) fn far_addition_db(
        &self,
        distance_m: f64,
        own_db: [f64; QUANTILES],
        fallback_db: [f64; QUANTILES],
        path: impl FnOnce() -> ClutterPath,
    ) -> [f64; QUANTILES] {
        let share = self.height_share * (1.0 - self.validity.far_share(distance_m));
        if share <= 0.0 {
            return [0.0; QUANTILES];
        }
        let path = path();
        std::array::from_fn(|quantile| {
            let clutter_db = self.fallback_clutter_db(&path, quantile == 1);
            let missing_db = own_db[quantile] - fallback_db[quantile] - clutter_db;
            if missing_db > 0.0 { share * missing_db } else { 0.0 }
        })
    }

    /// Loss of the clutter at both ends that the model of the environment has in its attenuation and the fallback
    /// model has not, dB.
    fn fallback_clutter_db(&self, path: &ClutterPath, is_median: bool) -> f64 {
        let sum_db = |shares: [f64; 2]| {
            let loss = clutter_loss(&self.clutter, self.frequency_mhz, path, is_median, shares);
            loss.ends_db[0] + loss.ends_db[1]
        };
        let beside_model = self.is_on_path.map(|is_on_path| if is_on_path { 0.0 } else { 1.0 });
        sum_db([1.0; 2]) - sum_db(beside_model)
    }

    /// Share of clutter at each end that is added to the loss over `distance_m`, [0, 1]: where the model
    /// computes clutter along the path, that of the fallback model.
    pub(super) fn end_clutter_share(&self, distance_m: f64, is_fine_surface: bool) -> [f64; 2] {
        let is_valid = self.model_at(distance_m, is_fine_surface).is_ok();
        let added = |is_on_path| {
            if is_on_path && is_valid { 1.0 - self.share(distance_m) } else { 1.0 }
        };
        self.is_on_path.map(added)
    }

    /// Attenuation by the fallback model, with that of air where [`Self::gas`] has none.
    pub(super) fn fallback(&self, profile: &PathProfile<'_>) -> Attenuation {
        let mut attenuation = self.fallback.attenuation(profile).unwrap_or_default();
        if self.is_air_in_model {
            let km = profile.distance_m() * 1e-3;
            let gases_db = [self.air.oxygen_db_km, self.air.water_vapour_db_km].map(|db| db * km);
            attenuation.gases_db = Some(gases_db);
        }
        attenuation
    }

    /// Minimum path over which the share of the model of the environment is 1, m.
    pub(super) fn takeover_m(&self) -> f64 {
        self.validity.takeover_m()
    }

    /// The model of the environment for paths of any length; `None` where it is not valid.
    pub(super) fn model(&self) -> Option<&dyn PreparedModel> {
        self.model.as_deref().ok()
    }
}

impl PreparedTransmitter<'_> {
    /// The path as the model of the environment computes it.
    pub fn limited<'a>(&self, profile: PathProfile<'a>) -> PathProfile<'a> {
        self.link.limited(profile)
    }

    /// `true` beyond the longest distance of the model of the environment.
    pub fn is_beyond(&self, distance_m: f64) -> bool {
        self.link.far_warning(distance_m).is_some()
    }

    /// Blends the attenuation of the path to the receiver in a place with that of the fallback model.
    pub fn blend(
        &self,
        place: usize,
        fallback: &Attenuation,
        receivers: &Receivers,
        is_fine_surface: bool,
        paths: &mut PathBatch,
    ) {
        let distance_m = receivers.distance_m[place];
        let added_db = self.link.far_addition_db(
            distance_m,
            paths.quantiles_db(place),
            fallback.quantiles_db(),
            || self.clutter_path(receivers, place, is_fine_surface),
        );
        paths.blend(place, self.link.share(distance_m), fallback, added_db);
    }
}
