//! Calibration: measured offsets of the model, by class of path.
//!
//! A profile corrects the model and environment that it was fitted with ([`FittedWith`]); under others results
//! have the warning [`Warning::CalibrationMismatch`](super::Warning::CalibrationMismatch).
//!
//! A profile is part of the [`Environment`](super::Environment), so it is in the log, in the view and
//! in the identity of a sweep; every result it changed has the warning
//! [`Warning::Calibrated`](super::Warning::Calibrated).

use garde::Validate;
use groundwave_values::bounds::{
    bounded, finite, finite_each, finite_if_some, finite_pair_if_some,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::path_loss::{Model, Share};
use super::station::{HEIGHT_AGL_M_MAX, Station};
use super::surroundings::Clutter;
use crate::terrain::GeoPoint;

/// Classes a profile may have.
pub const CLASSES_MAX: usize = 256;

/// Maximum length of the name of a profile, characters.
pub const NAME_CHARS_MAX: usize = 64;

/// A named profile of offsets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Name of the profile, 1 to 64 characters.
    #[garde(length(chars, min = 1, max = NAME_CHARS_MAX))]
    pub name: String,
    /// Offsets by class; the first that fits a path counts, others are as the model has them.
    #[garde(length(max = CLASSES_MAX), dive)]
    pub classes: Vec<Offset>,
    /// Model and environment whose losses the offsets correct; absent where not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub fitted: Option<FittedWith>,
    /// Area of the links that were measured: beyond it the interval is that of a place never measured; absent where
    /// not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub area: Option<Area>,
}

/// Rectangle around the ends of measured links. West of the eastern edge by longitude, or across 180 degrees with a
/// western edge east of the eastern one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// Southern edge, degrees north, [-90, 90].
    #[garde(range(min = -90.0, max = 90.0), custom(finite))]
    pub south_deg: f64,
    /// Western edge, degrees east, [-180, 180].
    #[garde(range(min = -180.0, max = 180.0), custom(finite))]
    pub west_deg: f64,
    /// Northern edge, degrees north, [-90, 90].
    #[garde(range(min = -90.0, max = 90.0), custom(finite))]
    pub north_deg: f64,
    /// Eastern edge, degrees east, [-180, 180].
    #[garde(range(min = -180.0, max = 180.0), custom(finite))]
    pub east_deg: f64,
}

/// Distance from the area within which a position belongs to the place, m: the surveyed cities are 5 to 20 km
/// across, and construction and power differ little within one.
pub const PLACE_M: f64 = 10_000.0;

impl Area {
    /// Rectangle around positions; `None` without any. Positions on both sides of 180 degrees make it cross that
    /// meridian where it is narrower so.
    #[must_use]
    pub fn around(positions: &[GeoPoint]) -> Option<Self> {
        let edges = |value: &dyn Fn(&GeoPoint) -> f64| {
            let values = positions.iter().map(value);
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], one| {
                [low.min(one), high.max(one)]
            })
        };
        positions.first()?;
        let [south_deg, north_deg] = edges(&|at| at.lat_deg());
        let [west_deg, east_deg] = edges(&|at| at.lon_deg());
        let [west_turned, east_turned] = edges(&|at| at.lon_deg().rem_euclid(360.0));
        let [west_deg, east_deg] = match east_turned - west_turned < east_deg - west_deg {
            true => {
                [west_turned, east_turned].map(|deg| if deg > 180.0 { deg - 360.0 } else { deg })
            }
            false => [west_deg, east_deg],
        };
        Some(Self { south_deg, west_deg, north_deg, east_deg })
    }

    /// `true` if a position lies in the area or within [`PLACE_M`] of it.
    #[must_use]
    pub fn holds(&self, at: GeoPoint) -> bool {
        let [up_deg, aside_deg] = at.reach_deg(PLACE_M);
        let is_in_latitude =
            (self.south_deg - up_deg..=self.north_deg + up_deg).contains(&at.lat_deg());
        let width_deg = (self.east_deg - self.west_deg).rem_euclid(360.0);
        let east_of_edge_deg = (at.lon_deg() - self.west_deg + aside_deg).rem_euclid(360.0);
        is_in_latitude && east_of_edge_deg <= width_deg + 2.0 * aside_deg
    }
}

/// Model, environment and ends of the predictions that measurements were compared with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct FittedWith {
    /// Path-loss model.
    #[garde(skip)]
    pub model: Model,
    /// Share of time of its losses, percent, [0.1, 99.9].
    #[garde(range(min = 0.1, max = 99.9), custom(finite))]
    pub time_percent: f64,
    /// Share of locations, percent, [0.1, 99.9].
    #[garde(range(min = 0.1, max = 99.9), custom(finite))]
    pub location_percent: f64,
    /// Share of situations, percent, [0.1, 99.9].
    #[garde(range(min = 0.1, max = 99.9), custom(finite))]
    pub situation_percent: f64,
    /// Clutter of the environment; absent without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub clutter: Option<Clutter>,
    /// Land cover was at hand.
    #[serde(default)]
    #[garde(skip)]
    pub land_cover: bool,
    /// Minimum and maximum height of the antennas of the measured links, m above ground, [0, 20000]; absent where not
    /// stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(inner(inner(range(min = 0.0, max = HEIGHT_AGL_M_MAX))), custom(finite_pair_if_some))]
    #[schemars(inner(range(min = 0.0, max = HEIGHT_AGL_M_MAX)))]
    pub antenna_agl_m: Option<[f64; 2]>,
    /// An end of the measured links stood indoors; absent where not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub indoor: Option<bool>,
}

/// Ratio to the measured heights within which an antenna is like those: it moves the loss of a low antenna by 2 dB
/// (20 log h).
const HEIGHT_RATIO: f64 = 1.25;

impl FittedWith {
    /// The same with the heights of measured stations, and whether some of them stood indoors.
    #[must_use]
    pub fn with_stations<'s>(self, stations: impl IntoIterator<Item = &'s Station>) -> Self {
        let mut antenna_agl_m: Option<[f64; 2]> = None;
        let mut is_indoor = false;
        for station in stations {
            let own_m = station.height_agl_m;
            let [low_m, high_m] = antenna_agl_m.unwrap_or([own_m; 2]);
            antenna_agl_m = Some([low_m.min(own_m), high_m.max(own_m)]);
            is_indoor |= !station.indoor.is_outdoors();
        }
        Self { antenna_agl_m, indoor: antenna_agl_m.map(|_| is_indoor), ..self }
    }

    /// `true` if a station is like those measured: its antenna within 1.25 times their heights, and indoors only where
    /// some of them were. What is not stated makes no difference.
    #[must_use]
    pub fn is_like(&self, station: &Station) -> bool {
        let is_within = |[low_m, high_m]: [f64; 2]| {
            (low_m / HEIGHT_RATIO..=high_m * HEIGHT_RATIO).contains(&station.height_agl_m)
        };
        let is_place = station.indoor.is_outdoors() || self.indoor.unwrap_or(true);
        is_place && self.antenna_agl_m.is_none_or(is_within)
    }

    /// Differences to the model and environment `here`, in words, one each.
    #[must_use]
    pub fn differences(&self, here: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        if self.model != here.model {
            differences.push(format!("{}, here {}", self.model, here.model));
        }
        for (percent, here_percent, share) in [
            (self.time_percent, here.time_percent, Share::Time),
            (self.location_percent, here.location_percent, Share::Location),
            (self.situation_percent, here.situation_percent, Share::Situation),
        ] {
            if percent != here_percent {
                differences.push(format!("{percent} % of {}, here {here_percent} %", share.text()));
            }
        }
        let with = |has: bool| if has { "with" } else { "without" };
        if self.clutter != here.clutter {
            let [own, here] = [self.clutter, here.clutter].map(|clutter| with(clutter.is_some()));
            let is_kind = own == here;
            differences.push(if is_kind {
                "other clutter".to_owned()
            } else {
                format!("{own} clutter, here {here}")
            });
        }
        if self.land_cover != here.land_cover {
            let [own, here] = [self.land_cover, here.land_cover].map(with);
            differences.push(format!("{own} land cover, here {here}"));
        }
        differences
    }
}

/// The offset of a class of paths.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Offset {
    /// Frequencies of the class, MHz, [0, 1e6], the first included, the second not.
    #[garde(inner(range(min = 0.0, max = 1e6)), custom(finite_each))]
    pub frequency_mhz: [f64; 2],
    /// Distances of the class, km, [0, 1e6], the first included, the second not: a class whose
    /// second is not above its first holds nothing.
    #[garde(inner(range(min = 0.0, max = 1e6)), custom(finite_each))]
    pub distance_km: [f64; 2],
    /// Loss beyond that of the model, dB, [-60, 60].
    #[garde(range(min = -60.0, max = 60.0), custom(finite))]
    pub loss_db: f64,
    /// Confidence interval of the offset at 95 % or more, dB, [-60, 60]; absent where not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(inner(inner(range(min = -60.0, max = 60.0))), custom(finite_pair_if_some))]
    #[schemars(inner(range(min = -60.0, max = 60.0)))]
    pub interval_db: Option<[f64; 2]>,
    /// Standard deviation of the measured links around the offset, dB, [0, 60]; absent where not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 0.0, max = 60.0), custom(finite_if_some))]
    pub spread_db: Option<f64>,
}

impl Offset {
    /// True if the path belongs to the class.
    #[must_use]
    pub fn holds(&self, frequency_mhz: f64, distance_m: f64) -> bool {
        let within = |[low, high]: [f64; 2], value: f64| (low..high).contains(&value);
        within(self.frequency_mhz, frequency_mhz) && within(self.distance_km, distance_m * 1e-3)
    }
}

bounded! { Calibration: "environment.calibration" }

impl Calibration {
    /// The first class that holds a path.
    #[must_use]
    pub fn class(&self, frequency_mhz: f64, distance_m: f64) -> Option<&Offset> {
        let holds = |class: &&Offset| class.holds(frequency_mhz, distance_m);
        self.classes.iter().find(holds)
    }

    /// Loss beyond that of the model on a path, dB; 0 where no class holds it.
    #[must_use]
    pub fn loss_db(&self, frequency_mhz: f64, distance_m: f64) -> f64 {
        let class = self.class(frequency_mhz, distance_m);
        class.map_or(0.0, |class| class.loss_db)
    }
}

#[cfg(test)]
mod tests {
    use super::super::environment::Environment;
    use super::super::surroundings::Indoor;
    use super::*;

    #[test]
    fn profile_under_another_model_or_environment_names_each_difference() {
        let environment = Environment::default();
        let fitted = environment.fitted_with(false);
        assert!(fitted.differences(&environment.fitted_with(false)).is_empty());
        let other = Environment {
            model: Model::P1812,
            location_percent: 90.0,
            clutter: Some(Clutter::Statistical { below_height_m: 10.0, location_percent: 50.0 }),
            ..environment
        };
        assert_eq!(
            fitted.differences(&other.fitted_with(true)),
            [
                "itm, here p1812",
                "50 % of locations, here 90 %",
                "without clutter, here with",
                "without land cover, here with"
            ]
        );
        // A share that the model does not have makes no difference.
        let diffraction = Environment { model: Model::DeltaBullington, ..Environment::default() };
        let late = Environment { time_percent: 99.0, ..diffraction.clone() };
        assert!(diffraction.fitted_with(false).differences(&late.fitted_with(false)).is_empty());
    }

    #[test]
    fn stations_of_other_heights_or_indoors_are_not_like_those_measured() {
        let at =
            |height_agl_m, indoor| Station { height_agl_m, indoor, ..crate::sample::station() };
        let outdoors = |height_agl_m| at(height_agl_m, Indoor::Outdoors);
        let unstated = Environment::default().fitted_with(false);
        let fitted = unstated.with_stations(&[outdoors(30.0), outdoors(12.0), outdoors(14.0)]);
        assert_eq!((fitted.antenna_agl_m, fitted.indoor), (Some([12.0, 30.0]), Some(false)));
        for (height_agl_m, is_like) in
            [(1.5, false), (9.5, false), (9.6, true), (20.0, true), (37.5, true), (38.0, false)]
        {
            assert_eq!(fitted.is_like(&outdoors(height_agl_m)), is_like, "{height_agl_m}");
            assert!(unstated.is_like(&at(height_agl_m, Indoor::Traditional)));
        }
        assert!(!fitted.is_like(&at(12.0, Indoor::Traditional)));
        let rooms = unstated.with_stations(&[at(12.0, Indoor::Traditional), outdoors(12.0)]);
        assert!(
            rooms.is_like(&at(12.0, Indoor::ThermallyEfficient)) && rooms.is_like(&outdoors(12.0))
        );
        assert_eq!(unstated.with_stations([]), unstated);
        let json = serde_json::to_string(&unstated).unwrap();
        assert!(!json.contains("antenna_agl_m") && !json.contains("indoor"), "{json}");
        assert_eq!(serde_json::from_str::<FittedWith>(&json).unwrap(), unstated);
        let whole = serde_json::to_string(&fitted).unwrap();
        assert_eq!(serde_json::from_str::<FittedWith>(&whole).unwrap(), fitted);
        let bent = FittedWith { antenna_agl_m: Some([-1.0, f64::NAN]), ..fitted };
        assert!(bent.validate().is_err());
    }

    #[test]
    fn area_holds_its_place_and_ten_kilometres_around() {
        let at = |lat, lon| GeoPoint::new(lat, lon).unwrap();
        let town = Area::around(&[at(57.70, 11.90), at(57.75, 12.00), at(57.72, 11.95)]).unwrap();
        let edges = [town.south_deg, town.west_deg, town.north_deg, town.east_deg];
        assert_eq!(edges, [57.70, 11.90, 57.75, 12.00]);
        assert!(town.holds(at(57.72, 11.95)) && town.holds(at(57.83, 12.15)));
        assert!(!town.holds(at(57.85, 11.95)) && !town.holds(at(57.72, 12.18)));
        let across = Area::around(&[at(-17.0, 179.9), at(-17.1, -179.8)]).unwrap();
        assert!((across.west_deg, across.east_deg) == (179.9, -179.8));
        assert!(across.holds(at(-17.0, 180.0 - 1e-9)) && across.holds(at(-17.0, -179.75)));
        assert!(!across.holds(at(-17.0, 0.0)) && !across.holds(at(-17.0, 179.7)));
        assert_eq!(Area::around(&[]), None);
    }

    #[test]
    fn profiles_without_a_model_are_read_and_written_as_before() {
        let json = r#"{"name":"survey","classes":[]}"#;
        let profile: Calibration = serde_json::from_str(json).unwrap();
        assert_eq!(profile.fitted, None);
        assert_eq!(serde_json::to_string(&profile).unwrap(), json);
    }
}
