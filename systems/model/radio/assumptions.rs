//! Assumptions of a prediction: the shares of time, locations and situations it holds for, and the
//! effects that it leaves out.

use std::fmt::{self, Display};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calibration::Offset;
use super::environment::Environment;
use super::path_loss::NotModelled;
use super::station::Station;
use crate::terrain::{CoverKind, Profile};

/// An effect that a prediction may leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Buildings and trees around the terminals (ITU-R P.2108).
    Clutter,
    /// Woodland along the path (ITU-R P.833).
    Vegetation,
    /// Rain along the path (ITU-R P.838).
    Rain,
    /// Man-made noise at the receiver (ITU-R P.372).
    ManMadeNoise,
}

impl Effect {
    /// The effect in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Clutter => "clutter",
            Self::Vegetation => "woodland",
            Self::Rain => "rain",
            Self::ManMadeNoise => "man-made noise",
        }
    }
}

/// The calibration profile of a prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CalibratedBy {
    /// Name of the profile.
    pub name: String,
    /// Class of the profile that holds the path; absent where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Offset>,
    /// Differences between the model and environment that the profile was fitted with and those here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
}

impl CalibratedBy {
    /// Name in quotes, with the differences.
    #[must_use]
    pub fn title(&self) -> String {
        let Self { name, differences, .. } = self;
        match differences.is_empty() {
            true => format!("{name:?}"),
            false => format!("{name:?} (fitted with {})", differences.join("; with ")),
        }
    }
}

/// Assumptions of a prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assumptions {
    /// Share of time the loss is not exceeded, percent.
    pub time_percent: f64,
    /// Share of locations the loss is not exceeded, percent.
    pub location_percent: f64,
    /// Share of situations the loss is not exceeded, percent.
    pub situation_percent: f64,
    /// Requested shares that the model does not have, or not so far; the shares above are those of the loss.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_modelled: Vec<NotModelled>,
    /// Effects taken as absent: the prediction is optimistic where they are there.
    pub left_out: Vec<Effect>,
    /// The calibration profile; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<CalibratedBy>,
}

impl Assumptions {
    /// The assumptions of predictions between these stations: clutter is not left out where all state their
    /// surroundings, woodland where one stands in it.
    #[must_use]
    pub fn between<'s>(mut self, stations: impl IntoIterator<Item = &'s Station>) -> Self {
        let mut is_stated = true;
        for station in stations {
            is_stated &= !station.surroundings.is_unknown();
            self = self.with_woodland(station.is_in_woodland());
        }
        self.with_clutter(is_stated)
    }

    /// The assumptions of predictions between stations over a path with land cover at its ends: clutter is not
    /// left out where each end states its surroundings or has land cover.
    #[must_use]
    pub fn over(self, stations: [&Station; 2], profile: &Profile) -> Self {
        let mut ends = stations.into_iter().zip(profile.cover);
        let is_known = |(station, cover): (&Station, CoverKind)| {
            !station.surroundings.is_unknown() || cover != CoverKind::Unknown
        };
        let in_woodland = stations.iter().any(|station| station.is_in_woodland());
        self.with_clutter(ends.all(is_known)).with_woodland(in_woodland)
    }

    /// The same; woodland is not left out if an end stands in it.
    fn with_woodland(mut self, in_woodland: bool) -> Self {
        self.left_out.retain(|effect| !in_woodland || *effect != Effect::Vegetation);
        self
    }

    /// The same; clutter is not left out if `is_known`.
    #[must_use]
    pub fn with_clutter(mut self, is_known: bool) -> Self {
        if is_known {
            self.left_out.retain(|effect| *effect != Effect::Clutter);
        }
        self
    }
}

impl Environment {
    /// True if no man-made noise counts at one of `frequencies_mhz`: none is set, or its curve has no values
    /// there ([`Warning::NoiseExtrapolated`](super::Warning::NoiseExtrapolated)).
    fn lacks_noise(&self, frequencies_mhz: &[f64]) -> bool {
        let Some(place) = self.man_made_noise else {
            return true;
        };
        let mut noises = frequencies_mhz.iter().map(|mhz| place.curve().man_made_noise(*mhz));
        noises.any(|noise| noise.is_ok_and(|noise| noise.extrapolated))
    }

    /// Assumptions of predictions in this environment; with `path`, a frequency in MHz and a distance
    /// in m, the class of the calibration that holds it is named.
    #[must_use]
    pub fn assumptions(&self, path: Option<(f64, f64)>) -> Assumptions {
        let frequency_mhz = path.map(|(mhz, _)| mhz);
        let mut assumptions = self.assumptions_at(frequency_mhz.as_slice());
        if let (Some(by), Some(profile)) = (&mut assumptions.calibration, &self.calibration) {
            by.class = path.and_then(|(mhz, distance_m)| profile.class(mhz, distance_m).copied());
        }
        assumptions
    }

    /// Assumptions of predictions at these frequencies, MHz, over paths of any length: of a coverage. An
    /// effect that is absent at one of them is left out.
    #[must_use]
    pub fn assumptions_at(&self, frequencies_mhz: &[f64]) -> Assumptions {
        let effects = [
            (Effect::Clutter, self.clutter.is_none()),
            (Effect::Vegetation, self.vegetation.is_none()),
            (Effect::Rain, self.rain_rate_mm_h == 0.0),
            (Effect::ManMadeNoise, self.lacks_noise(frequencies_mhz)),
        ];
        let left_out = effects.iter().filter(|(_, is_absent)| *is_absent);
        let calibration = self.calibration.as_ref().map(|profile| CalibratedBy {
            name: profile.name.clone(),
            class: None,
            differences: self.calibration_differences(None),
        });
        let (shares, not_modelled) = self.modelled_values();
        Assumptions {
            time_percent: shares.time_percent,
            location_percent: shares.location_percent,
            situation_percent: shares.situation_percent,
            not_modelled,
            left_out: left_out.map(|(effect, _)| *effect).collect(),
            calibration,
        }
    }
}

/// `50 % of time, locations and situations; 99 % of time not modelled; no clutter, no rain`.
impl Display for Assumptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [time, location, situation] =
            [self.time_percent, self.location_percent, self.situation_percent];
        if time == location && location == situation {
            write!(out, "{time} % of time, locations and situations")?;
        } else {
            write!(
                out,
                "{time} % of time, {location} % of locations, {situation} % of situations"
            )?;
        }
        for (at, NotModelled { share, requested_percent }) in self.not_modelled.iter().enumerate() {
            let before = if at == 0 { ';' } else { ',' };
            write!(out, "{before} {requested_percent} % of {} not modelled", share.text())?;
        }
        for (at, effect) in self.left_out.iter().enumerate() {
            let before = if at == 0 { ';' } else { ',' };
            write!(out, "{before} no {}", effect.text())?;
        }
        Ok(())
    }
}

impl Display for CalibratedBy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.title())?;
        let Some(class) = &self.class else {
            return write!(out, ", no class for this path");
        };
        write!(out, ", {:+.1} dB of loss", class.loss_db)?;
        if let Some([low_db, high_db]) = class.interval_db {
            write!(out, " (95 % interval {low_db:+.1} to {high_db:+.1} dB)")?;
        }
        if let Some(spread_db) = class.spread_db {
            write!(out, ", links spread by {spread_db:.1} dB around it")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::calibration::Calibration;
    use super::super::path_loss::Model;
    use super::super::surroundings::{Clutter, Surroundings};
    use super::*;

    #[test]
    fn absent_settings_give_assumptions() {
        let mut environment = Environment::default();
        let all = environment.assumptions(None);
        assert_eq!(
            all.to_string(),
            "50 % of time, locations and situations; no clutter, no woodland, no rain, no man-made noise"
        );
        let mut station = super::super::super::sample::station();
        station.woodland_depth_m = 30.0;
        let left_out = environment.assumptions(None).between([&station]).left_out;
        assert_eq!(left_out, [Effect::Clutter, Effect::Rain, Effect::ManMadeNoise]);
        environment.rain_rate_mm_h = 12.0;
        environment.time_percent = 99.0;
        environment.clutter =
            Some(Clutter::Statistical { below_height_m: 10.0, location_percent: 50.0 });
        let some = environment.assumptions(None);
        assert_eq!(some.left_out, [Effect::Vegetation, Effect::ManMadeNoise]);
        assert!(
            some.to_string()
                .starts_with("99 % of time, 50 % of locations, 50 % of situations; no woodland,")
        );
    }

    #[test]
    fn shares_that_the_model_does_not_have_are_no_assumptions() {
        let text = |model, percent: [f64; 3]| {
            let environment = Environment {
                model,
                time_percent: percent[0],
                location_percent: percent[1],
                situation_percent: percent[2],
                ..Environment::default()
            };
            let text = environment.assumptions(None).to_string();
            text.split("; no ").next().unwrap().to_owned()
        };
        let median = "50 % of time, locations and situations";
        for model in [Model::DeltaBullington, Model::FreeSpace] {
            assert_eq!(text(model, [50.0; 3]), median);
            assert_eq!(
                text(model, [99.0, 90.0, 50.0]),
                format!("{median}; 99 % of time not modelled, 90 % of locations not modelled")
            );
        }
        assert_eq!(
            text(Model::P1812, [99.0, 99.5, 50.0]),
            "50 % of time, 99 % of locations, 50 % of situations; 99 % of time not modelled, \
             99.5 % of locations not modelled"
        );
        assert_eq!(text(Model::Itm, [99.0; 3]), "99 % of time, locations and situations");
    }

    #[test]
    fn clutter_is_not_left_out_between_stations_that_state_their_surroundings() {
        let unknown = crate::sample::station();
        let open = Station { surroundings: Surroundings::Open, ..unknown.clone() };
        let lacks_clutter = |stations: [&Station; 2]| {
            let assumptions = Environment::default().assumptions(None).between(stations);
            assumptions.left_out.contains(&Effect::Clutter)
        };
        assert!(lacks_clutter([&unknown, &open]) && !lacks_clutter([&open, &open]));
    }

    #[test]
    fn noise_beyond_its_curve_at_one_frequency_of_a_coverage_is_left_out() {
        let environment = Environment {
            man_made_noise: Some(crate::radio::NoiseCategory::Residential),
            ..Environment::default()
        };
        let is_left_out = |frequencies_mhz: &[f64]| {
            let assumptions = environment.assumptions_at(frequencies_mhz);
            assumptions.left_out.contains(&Effect::ManMadeNoise)
        };
        assert!(!is_left_out(&[150.0, 160.0]));
        assert!(is_left_out(&[868.0]) && is_left_out(&[150.0, 868.0]));
    }

    #[test]
    fn the_class_of_a_calibration_is_that_of_the_path() {
        let class = Offset {
            frequency_mhz: [800.0, 900.0],
            distance_km: [1.0, 3.0],
            loss_db: 4.2,
            interval_db: Some([3.1, 5.0]),
            spread_db: Some(3.3),
        };
        let environment = Environment {
            calibration: Some(Calibration {
                name: "harbour".to_owned(),
                classes: vec![class],
                fitted: None,
                area: None,
            }),
            ..Environment::default()
        };
        let text = |path| environment.assumptions(path).calibration.unwrap().to_string();
        assert_eq!(
            text(Some((868.0, 2_000.0))),
            "\"harbour\", +4.2 dB of loss (95 % interval +3.1 to +5.0 dB), links spread by 3.3 dB around it"
        );
        assert_eq!(text(Some((868.0, 9_000.0))), "\"harbour\", no class for this path");
    }
}
