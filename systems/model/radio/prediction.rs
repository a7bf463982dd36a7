//! Distribution of the path loss of links like one that was evaluated: median, spread, and the
//! probability that the link works.
//!
//! A model gives one number for a path; links alike in all that it reads differ by more than ten
//! decibels. The distribution is normal with two independent parts, between the links of a place and
//! between places, and closed form: `σ² = σ_link² + σ_place²`. Its constants (`Basis::sigmas_db`) were
//! fitted to the medians of 10,673 measured links of eleven places (0.4 to 2.1 GHz, 0.1 to 40 km, low
//! antennas among them the LoRaWAN and Sigfox surveys of Brno and the LoRa links of Lyon,
//! doi 10.18709/perscido.2025.04.ds421), each place compared with constants of the others only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calibration::Offset;
use super::deciles::DEVIATE_10_PERCENT;
use super::outcome::Verdict;
use crate::terrain::PathGround;

/// Median loss beyond free space where an antenna stands below roofs or trees that nobody described,
/// dB: five cities and a rural valley have 26 to 39.
const UNKNOWN_SURROUNDINGS_DB: f64 = 32.0;

/// From this distance on that loss is complete, m: the surveys show no trend beyond it, and ITU-R P.2108
/// section 3.2 begins there. Below it grows in proportion.
const UNKNOWN_SURROUNDINGS_M: f64 = 250.0;

/// An antenna at or above this height is taken to stand above surroundings that nobody described, m
/// above ground: a two- to three-storey roof line, as [`super::Clutter::Statistical`] has by default. From 8 m
/// down it is taken to stand wholly within them, and in part between.
pub(super) const ABOVE_SURROUNDINGS_M: f64 = 10.0;

/// Median attenuation by the model up to which a path with a clear Fresnel zone is a clear line of sight, and from which
/// on it is as uncertain as any other, dB: the model has obstacles there that terrain does not show, or ranges that no
/// measured line of sight had.
pub(super) const CLEAR_EXCESS_DB: [f64; 2] = [6.0, 12.0];

/// Deviate of the normal distribution exceeded in 5 % of cases.
const DEVIATE_5_PERCENT: f64 = 1.644_853_626_951_472_7;

/// Deviate of the normal distribution not exceeded in 99 % of cases.
const DEVIATE_99_PERCENT: f64 = 2.326_347_874_040_841;

/// Knowledge that a prediction rests on; it decides how far links like this one differ.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Both antennas stand above their surroundings, 0.6 of the first Fresnel zone is clear, and the model has at
    /// most 6 dB over free space.
    LineOfSight,
    /// Terrain is known, and surroundings stand below the antennas or are described.
    Terrain,
    /// Offsets of the calibration profile measured on links like this one.
    Calibrated,
    /// An antenna stands in a building of which no more than the kind is known.
    Indoor,
    /// An antenna stands below 10 m among surroundings that nobody described, in part from 8 m on.
    SurroundingsUnknown,
    /// Part of the path lies in voids or off every tile.
    GroundUnknown,
}

impl Basis {
    /// Standard deviations between links of a place and between places, dB.
    ///
    /// Without knowledge of surroundings or ground the 90 % interval is 30 dB either way, which models
    /// without clutter need to hold nine links of ten at places they were not fitted to.
    const fn sigmas_db(self) -> [f64; 2] {
        match self {
            Self::LineOfSight => [6.0, 6.0],
            Self::Terrain | Self::Calibrated => [11.0, 7.0],
            Self::Indoor => [11.0, 10.0],
            Self::SurroundingsUnknown | Self::GroundUnknown => [11.0, 14.5],
        }
    }

    /// The basis in a few words.
    #[must_use]
    pub const fn short(self) -> &'static str {
        match self {
            Self::LineOfSight => "clear line of sight",
            Self::Terrain => "terrain known",
            Self::Calibrated => "calibrated",
            Self::Indoor => "indoors",
            Self::SurroundingsUnknown => "surroundings unknown",
            Self::GroundUnknown => "ground unknown",
        }
    }

    /// The basis in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::LineOfSight => "clear line of sight above the surroundings",
            Self::Terrain => "terrain known, surroundings below the antennas or described",
            Self::Calibrated => "calibrated by measured links",
            Self::Indoor => "indoors: the building is known by its kind only",
            Self::SurroundingsUnknown => {
                "surroundings unknown: an antenna below 10 m, and none of known loss described around it"
            }
            Self::GroundUnknown => "ground unknown: part of the path has no terrain data",
        }
    }
}

/// Place of an antenna among its surroundings, or of that of two which is known less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exposure {
    /// It stands above them.
    Above,
    /// It stands within clutter whose loss is computed.
    Within,
}

/// Losses of the walls at the ends that are indoors.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Entry {
    /// `true` if an end is indoors.
    pub is_indoor: bool,
    /// Median of the sum, dB.
    pub median_db: f64,
    /// Standard deviation of the sum between buildings and places in them, dB.
    pub sigma_db: f64,
}

/// Inputs of the prediction of one path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence<'a> {
    pub exposure: Exposure,
    /// Share of the antenna of which less is known among unknown surroundings, [0, 1].
    pub unknown_share: f64,
    /// Walls, which are part of `model_loss_db`.
    pub entry: Entry,
    /// Knowledge of the ground along the path.
    pub ground: PathGround,
    /// `true` if 0.6 of the first Fresnel zone is clear. Asked for only where it decides.
    pub clear: bool,
    /// Class of the calibration profile that the path belongs to.
    pub calibrated: Option<&'a Offset>,
    /// `true` if an end is not like those that the profile was fitted on.
    pub is_unlike: bool,
    /// `true` if an end lies beyond the place of that profile.
    pub is_elsewhere: bool,
    /// Standard deviation of the model itself in time and over locations, dB.
    pub model_sigma_db: f64,
    /// Median attenuation of terrain and surroundings over free space by the model, dB.
    pub model_excess_db: f64,
    /// Path length, m.
    pub distance_m: f64,
    /// Free-space loss, dB.
    pub free_space_db: f64,
    /// Path loss by the model at the median of time and locations, dB.
    pub model_loss_db: f64,
    /// Part of it that no model of terrain and surroundings decides, dB: gases, rain, woodland and other losses of the
    /// environment. Read only where an antenna stands among unknown surroundings.
    pub known_db: f64,
    /// Part of it that is the loss of woodland around antennas among unknown surroundings, dB: not in `known_db`.
    pub woodland_db: f64,
}

/// A normal distribution of path loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Distribution {
    pub basis: Basis,
    /// Knowledge of the ground along the path: where it is unknown there is no verdict.
    pub ground: PathGround,
    pub median_db: f64,
    pub link_sigma_db: f64,
    pub place_sigma_db: f64,
}

impl Evidence<'_> {
    fn basis(&self) -> Basis {
        if self.ground != PathGround::Known {
            Basis::GroundUnknown
        } else if self.calibrated.is_some() {
            Basis::Calibrated
        } else if self.unknown_share > 0.0 {
            Basis::SurroundingsUnknown
        } else {
            self.basis_of_known_surroundings()
        }
    }

    /// The basis where surroundings stand below the antennas or are described.
    fn basis_of_known_surroundings(&self) -> Basis {
        match self.exposure {
            _ if self.entry.is_indoor => Basis::Indoor,
            Exposure::Above if self.clear && self.obstructed_share() <= 0.0 => Basis::LineOfSight,
            Exposure::Above | Exposure::Within => Basis::Terrain,
        }
    }

    /// Share of a path with a clear Fresnel zone that the model takes for obstructed, [0, 1]: in proportion between
    /// the bounds of [`CLEAR_EXCESS_DB`].
    fn obstructed_share(&self) -> f64 {
        let [clear_db, obstructed_db] = CLEAR_EXCESS_DB;
        ((self.model_excess_db - clear_db) / (obstructed_db - clear_db)).clamp(0.0, 1.0)
    }

    /// Standard deviations between links of a place and between places without a calibration, dB; in
    /// proportion where an antenna stands in part among unknown surroundings, or a clear path is obstructed in part.
    fn sigmas_db(&self, basis: Basis) -> [f64; 2] {
        let alone_db = |basis: Basis| {
            let [link_db, place_db] = basis.sigmas_db();
            // Where terrain is rough the model's own deviation is the larger; both are not counted. A clear
            // path does not see the terrain whose roughness it is made of.
            let model_db = if basis == Basis::LineOfSight { 0.0 } else { self.model_sigma_db };
            [link_db.max(model_db), place_db]
        };
        let mixed_db = |share: f64, of_db: [f64; 2], rest_db: [f64; 2]| {
            [0, 1].map(|part| rest_db[part] + share * (of_db[part] - rest_db[part]))
        };
        let sigmas_db = |basis: Basis| match basis {
            Basis::Terrain if self.clear && self.exposure == Exposure::Above => {
                let clear_db = alone_db(Basis::LineOfSight);
                mixed_db(self.obstructed_share(), alone_db(Basis::Terrain), clear_db)
            }
            _ => alone_db(basis),
        };
        let own_db = sigmas_db(basis);
        if basis != Basis::SurroundingsUnknown || self.unknown_share >= 1.0 {
            return own_db;
        }
        let known_db = sigmas_db(self.basis_of_known_surroundings());
        mixed_db(self.unknown_share, own_db, known_db)
    }

    /// Median loss, dB: that of the model, and not below that of unknown surroundings with the losses that are known
    /// whatever stands there. Where the ground is unknown too, the model has computed the diffraction of a level Earth,
    /// which at low antennas is 20 to 40 dB of invented loss at 10 to 40 km: the loss of unknown surroundings counts in
    /// its place.
    fn median_db(&self) -> f64 {
        if self.unknown_share <= 0.0 || self.calibrated.is_some() {
            return self.model_loss_db;
        }
        let share = self.unknown_share * (self.distance_m / UNKNOWN_SURROUNDINGS_M).min(1.0);
        // Woods are part of what nobody described: a metre of them is not all of it.
        let around_db = (UNKNOWN_SURROUNDINGS_DB * share).max(self.woodland_db);
        let unknown_db = self.free_space_db + around_db + self.entry.median_db + self.known_db;
        let known_db = self.model_loss_db.max(unknown_db);
        match self.ground.is_enough() {
            true => known_db,
            false => known_db + self.unknown_share * (unknown_db - known_db),
        }
    }

    /// The distribution of the path loss of links like this one. Where an end is not like those that the calibration
    /// profile was fitted on, its offset stays, and nothing is surer than without it.
    pub(crate) fn distribution(&self) -> Distribution {
        let measured = self.distribution_by_class();
        if !self.is_unlike || self.calibrated.is_none() {
            return measured;
        }
        let alone = Evidence { calibrated: None, ..*self }.distribution_by_class();
        if measured.sigma_db() <= alone.sigma_db() {
            return alone;
        }
        let Distribution { link_sigma_db, place_sigma_db, .. } = measured;
        Distribution { link_sigma_db, place_sigma_db, ..alone }
    }

    fn distribution_by_class(&self) -> Distribution {
        let basis = self.basis();
        let [mut link_sigma_db, mut place_sigma_db] = self.sigmas_db(basis);
        if let Some(class) = self.calibrated.filter(|_| basis == Basis::Calibrated) {
            link_sigma_db = class.spread_db.unwrap_or(basis.sigmas_db()[0]);
            let half_width_db = class.interval_db.map(|[low, high]| (high - low) / 2.0);
            // A 95 % interval is 1.96 standard deviations either way.
            let of_offset_db = half_width_db.map(|half_db| half_db.abs() / 1.96);
            let of_class_db = of_offset_db.unwrap_or(place_sigma_db);
            // The offset of another place: its error, and what places differ by.
            place_sigma_db = match self.is_elsewhere {
                true => total_sigma_db(of_class_db, basis.sigmas_db()[1]),
                false => of_class_db,
            };
        }
        // A calibration has measured surroundings and walls.
        if self.calibrated.is_none() {
            link_sigma_db = total_sigma_db(link_sigma_db, self.entry.sigma_db);
        }
        Distribution {
            basis,
            ground: self.ground,
            median_db: self.median_db(),
            link_sigma_db,
            place_sigma_db,
        }
    }
}

impl Distribution {
    /// Standard deviation of one link at a place that was not measured, dB.
    pub(crate) fn sigma_db(&self) -> f64 {
        total_sigma_db(self.link_sigma_db, self.place_sigma_db)
    }

    /// Received power exceeded in 10, 50 and 90 % of links like this one, dBm, where `loss_db` of path
    /// loss gives `rx_power_dbm`.
    pub(crate) fn quantiles_dbm(&self, loss_db: f64, rx_power_dbm: f64) -> [f64; 3] {
        let median_dbm = rx_power_dbm + loss_db - self.median_db;
        let apart_db = DEVIATE_10_PERCENT * self.sigma_db();
        [median_dbm + apart_db, median_dbm, median_dbm - apart_db]
    }

    /// Verdict where `loss_db` of path loss leaves `link_margin_db`: that of the probability that the
    /// link works, without computing it. Over unknown ground none, for which [`Verdict::NoLink`] stands.
    pub(crate) fn verdict(&self, loss_db: f64, link_margin_db: f64) -> Verdict {
        if !self.ground.is_enough() {
            return Verdict::NoLink;
        }
        let deviate = (link_margin_db + loss_db - self.median_db) / self.sigma_db();
        match deviate {
            z if z >= DEVIATE_99_PERCENT => Verdict::Excellent,
            z if z >= DEVIATE_10_PERCENT => Verdict::Good,
            z if z >= 0.0 => Verdict::Marginal,
            z if z >= -DEVIATE_10_PERCENT => Verdict::Poor,
            _ => Verdict::NoLink,
        }
    }

    /// The prediction of a link where `loss_db` of path loss gives `rx_power_dbm` and leaves
    /// `link_margin_db`; without a margin the receiver cannot decode the transmitter.
    pub(crate) fn prediction(
        &self,
        loss_db: f64,
        rx_power_dbm: f64,
        link_margin_db: Option<f64>,
    ) -> Prediction {
        let sigma_db = self.sigma_db();
        let apart_db = DEVIATE_5_PERCENT * sigma_db;
        let median_dbm = rx_power_dbm + loss_db - self.median_db;
        let spare_db = link_margin_db.map(|margin_db| margin_db + loss_db - self.median_db);
        Prediction {
            basis: self.basis,
            path_loss_db: self.median_db,
            path_loss_interval_db: [self.median_db - apart_db, self.median_db + apart_db],
            rx_power_dbm: median_dbm,
            rx_power_interval_dbm: [median_dbm - apart_db, median_dbm + apart_db],
            link_sigma_db: self.link_sigma_db,
            place_sigma_db: self.place_sigma_db,
            link_prob: spare_db.map_or(0.0, |db| normal_prob(db / sigma_db)),
        }
    }
}

/// Distribution of links like one that was evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// Knowledge that the prediction rests on.
    pub basis: Basis,
    /// Median path loss, dB: that of the model at the median of time and locations, and not below free
    /// space and 32 dB where surroundings are unknown.
    pub path_loss_db: f64,
    /// Path loss of 90 % of links like this one, dB: 5 % lie below the first, 5 % above the second.
    pub path_loss_interval_db: [f64; 2],
    /// Received power at the median path loss, dBm.
    pub rx_power_dbm: f64,
    /// Received power of 90 % of links like this one, dBm: 5 % lie below the first, 5 % above the
    /// second.
    pub rx_power_interval_dbm: [f64; 2],
    /// Standard deviation between links of a place, dB.
    pub link_sigma_db: f64,
    /// Standard deviation between places, dB: power, gains, construction, errors of maps.
    pub place_sigma_db: f64,
    /// Probability that the link margin of a link like this one is not negative, [0, 1].
    pub link_prob: f64,
}

impl Prediction {
    /// Standard deviation of one link at a place that was not measured, dB.
    #[must_use]
    pub fn sigma_db(&self) -> f64 {
        total_sigma_db(self.link_sigma_db, self.place_sigma_db)
    }

    /// Difference of received power to the median that is exceeded in 10, 50 and 90 % of links like this
    /// one, dB.
    #[must_use]
    pub fn deciles_db(&self) -> [f64; 3] {
        let apart_db = DEVIATE_10_PERCENT * self.sigma_db();
        [apart_db, 0.0, -apart_db]
    }
}

/// Standard deviation of the sum of two independent parts, dB.
fn total_sigma_db(link_sigma_db: f64, place_sigma_db: f64) -> f64 {
    (link_sigma_db * link_sigma_db + place_sigma_db * place_sigma_db).sqrt()
}

/// Probability that a standard normal variable is not above `deviate`; 0 of NaN.
pub(crate) fn normal_prob(deviate: f64) -> f64 {
    if deviate.is_nan() {
        return 0.0;
    }
    0.5 * libm::erfc(-deviate / std::f64::consts::SQRT_2)
}
