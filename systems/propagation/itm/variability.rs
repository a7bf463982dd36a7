//! Variability of the loss about its reference in time, over locations and between situations
//! (Algorithm section 5, function `avar`; TR 82-100 section 7).

use serde::{Deserialize, Serialize};

use super::constants::Constants;
use super::path::smooth_horizon_m;
use super::quantile::exceedance_deviate;
use super::roughness::at_distance_m;
use super::{Mdvar, Quantile, VariabilityMode, Warnings};
use crate::numeric::exp;

/// The distribution of attenuation about the reference, dB throughout but for deviates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// V_med: by how much the all-year median attenuation lies below the reference.
    pub median_db: f64,
    /// σ_S: deviation between situations.
    pub sigma_situation_db: f64,
    /// σ_L: deviation over locations.
    pub sigma_location_db: f64,
    /// σ_T-: deviation in time on the side of the weaker signal.
    pub sigma_time_minus_db: f64,
    /// σ_T+: deviation in time on the side of the stronger signal.
    pub sigma_time_plus_db: f64,
    /// σ_TD: deviation in time where ducts carry the signal, beyond `duct_deviate`.
    pub sigma_duct_db: f64,
    /// z_D: the deviate ducting begins at.
    pub duct_deviate: f64,
    /// Combination of the kinds of variability.
    pub mdvar: Mdvar,
}

impl Spread {
    /// The spread on a path of `distance_m` over terrain of irregularity `delta_h_m` and from
    /// effective heights `effective_height_m`.
    #[inline(always)]
    pub(super) fn new(
        of: &Constants,
        distance_m: f64,
        effective_height_m: [f64; 2],
        delta_h_m: f64,
    ) -> Self {
        let d_e_m = effective_distance_m(of, distance_m, effective_height_m);
        let climate = of.climate;
        let rough = of.wavenumber * at_distance_m(delta_h_m, distance_m);
        let plus_db = climate.plus.at_db(d_e_m) * of.time_gain[1];
        let situation_db = 5.0 + 3.0 * exp(-d_e_m / 100e3); // Algorithm eq. 5.10
        let location_db = 10.0 * rough / (rough + 13.0); // Algorithm eq. 5.9
        Self {
            median_db: climate.median.at_db(d_e_m),
            sigma_situation_db: if of.mdvar.without_situation { 0.0 } else { situation_db },
            sigma_location_db: if of.mdvar.without_location { 0.0 } else { location_db },
            sigma_time_minus_db: climate.minus.at_db(d_e_m) * of.time_gain[0],
            sigma_time_plus_db: plus_db,
            sigma_duct_db: climate.duct_share * plus_db,
            duct_deviate: climate.duct_deviate,
            mdvar: of.mdvar,
        }
    }

    /// Attenuation relative to free space not exceeded at `quantile`, dB, where the reference is
    /// `a_ref_db`.
    pub(super) fn attenuation_db(&self, a_ref_db: f64, quantile: Quantile) -> f64 {
        self.attenuation_at_db(a_ref_db, deviates(quantile, self.mdvar.mode), self.mdvar.mode)
    }

    /// The same by [`deviates`] of `mode`, which are the same for all paths.
    #[inline(always)]
    pub(super) fn attenuation_at_db(
        &self,
        a_ref_db: f64,
        [z_t, z_l, z_s]: [f64; 3],
        mode: VariabilityMode,
    ) -> f64 {
        let (sigma_s, sigma_l) = (self.sigma_situation_db, self.sigma_location_db);
        let sigma_t = self.sigma_time_db(z_t);
        let y_t = sigma_t * z_t;
        let y_l = sigma_l * z_l;

        // Algorithm eq. 5.11.
        let residual =
            sigma_s * sigma_s + y_t * y_t / (7.8 + z_s * z_s) + y_l * y_l / (24.0 + z_s * z_s);
        let (y_r, own) = match mode {
            VariabilityMode::SingleMessage => (0.0, sigma_t * sigma_t + sigma_l * sigma_l),
            VariabilityMode::Accidental => (y_t, sigma_l * sigma_l),
            VariabilityMode::Mobile => ((sigma_t * sigma_t + sigma_l * sigma_l).sqrt() * z_t, 0.0),
            VariabilityMode::Broadcast => (y_t + y_l, 0.0),
        };
        let y_s = (own + residual).sqrt() * z_s;

        let loss_db = a_ref_db - self.median_db - y_r - y_s;
        // Signals well above free space are rare (Algorithm eq. 52).
        let bent_db = loss_db * (29.0 - loss_db) / (29.0 - 10.0 * loss_db);
        if loss_db < 0.0 { bent_db } else { loss_db }
    }

    /// Standard deviation in time and over locations about the median, dB; that in time is the mean of
    /// its two sides.
    #[inline(always)]
    pub(super) fn sigma_db(&self) -> f64 {
        let time_db = 0.5 * (self.sigma_time_minus_db + self.sigma_time_plus_db);
        let location_db = self.sigma_location_db;
        (time_db * time_db + location_db * location_db).sqrt()
    }

    /// The doubts that `quantile` raises.
    pub(super) fn warnings(&self, quantile: Quantile) -> Warnings {
        extremes(quantile, self.mdvar.mode)
    }

    /// σ_T at the deviate `z_t`.
    #[inline(always)]
    fn sigma_time_db(&self, z_t: f64) -> f64 {
        if z_t < 0.0 {
            self.sigma_time_minus_db
        } else if z_t <= self.duct_deviate {
            self.sigma_time_plus_db
        } else {
            let step_db = (self.sigma_time_plus_db - self.sigma_duct_db) * self.duct_deviate;
            self.sigma_duct_db + step_db / z_t
        }
    }
}

/// The doubt about a quantile far out in the tail.
pub(super) fn extremes(quantile: Quantile, mode: VariabilityMode) -> Warnings {
    let mut warnings = Warnings::NONE;
    let extreme = deviates(quantile, mode).iter().any(|z| z.abs() > 3.10);
    warnings.note(extreme, Warnings::EXTREME_VARIABILITIES);
    warnings
}

/// Deviates in time, location and situation, tied together as the mode demands.
pub(super) fn deviates(quantile: Quantile, mode: VariabilityMode) -> [f64; 3] {
    let z_s = exceedance_deviate(quantile.situation_percent());
    let time = || exceedance_deviate(quantile.time_percent());
    match mode {
        VariabilityMode::SingleMessage => [z_s; 3],
        VariabilityMode::Accidental => [time(), z_s, z_s],
        VariabilityMode::Mobile => {
            let z_t = time();
            [z_t, z_t, z_s]
        }
        VariabilityMode::Broadcast => {
            let z_l = exceedance_deviate(quantile.location_percent());
            [time(), z_l, z_s]
        }
    }
}

/// The distance that decides on variability, m: 130 km is where line of sight and diffraction
/// end (Algorithm eqs 5.3 and 5.4).
#[inline(always)]
fn effective_distance_m(of: &Constants, distance_m: f64, effective_height_m: [f64; 2]) -> f64 {
    let d_ex_m = smooth_horizon_m(effective_height_m[0], 9000e3)
        + smooth_horizon_m(effective_height_m[1], 9000e3)
        + of.variability_m;
    let within_m = 130e3 * distance_m / d_ex_m;
    if distance_m < d_ex_m { within_m } else { 130e3 + distance_m - d_ex_m }
}
