//! Budget of a link in both directions.

use groundwave_model::link::{Inputs, LinkPercentile, judge, percentiles, trace};
use groundwave_model::radio::{Assumptions, Environment, LinkResult, Station, Verdict, Workspace};
use groundwave_model::terrain::{Flat, GeoPoint, Path, PathGround, Profile, Terrain};
use serde::{Deserialize, Serialize};

use crate::Invalid;
use crate::document::below;
use crate::station::End;

/// Minimum and maximum number of samples of a profile.
pub const SAMPLES: [u32; 2] = [8, 4096];

/// Maximum number of heights of a profile that the caller measured.
pub const HEIGHTS_MAX: usize = 1 << 16;

/// Request of a link.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkRequest {
    /// One end.
    pub from: End,
    /// The other end.
    pub to: End,
    /// Model, air, ground and weather.
    #[serde(default)]
    pub environment: Environment,
    /// Packet length of loss rates, bytes, [1, 65535].
    #[serde(default = "usual_packet_bytes")]
    pub packet_bytes: u32,
    /// Samples of the profile, [8, 4096]; absent, one per post of the terrain. Not for heights that the caller
    /// measured.
    #[serde(default)]
    pub samples: Option<u32>,
}

/// Packet length of links unless stated, bytes.
pub(crate) const fn usual_packet_bytes() -> u32 {
    1500
}

/// Result of a link.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkAnswer {
    /// Number of samples of the profile.
    pub samples: usize,
    /// Knowledge of the ground below the path.
    pub ground: PathGround,
    /// Verdict of the worse direction; `no_terrain_data` where the ground is unknown.
    pub verdict: String,
    /// Shares of time, locations and situations, effects left out, calibration.
    pub assumptions: Assumptions,
    /// Budget from one end to the other.
    pub forward: LinkResult,
    /// Budget back.
    pub backward: LinkResult,
    /// Both directions at 10, 50 and 90 % of links like this one.
    pub percentiles: Vec<LinkPercentile>,
}

/// A request whose values are in their ranges.
pub(crate) struct Checked<'a> {
    pub positions: [GeoPoint; 2],
    pub stations: [Station; 2],
    pub request: &'a LinkRequest,
}

impl LinkRequest {
    /// Checks all values.
    pub(crate) fn check(&self) -> Result<Checked<'_>, Invalid> {
        let positions = [self.from.position("from")?, self.to.position("to")?];
        let stations =
            [self.from.station.station("from.station")?, self.to.station.station("to.station")?];
        self.environment.validate().map_err(|bad| below("environment", &bad))?;
        if !(1..=65_535).contains(&self.packet_bytes) {
            return Err(Invalid::new("packet_bytes", self.packet_bytes, "1 to 65535"));
        }
        let [minimum, maximum] = SAMPLES;
        if let Some(samples) = self.samples
            && !(minimum..=maximum).contains(&samples)
        {
            return Err(Invalid::new("samples", samples, format!("{minimum} to {maximum}")));
        }
        Ok(Checked { positions, stations, request: self })
    }
}

impl Checked<'_> {
    fn inputs<'b>(&'b self, terrain: &'b dyn Terrain) -> Inputs<'b> {
        Inputs {
            terrain,
            environment: &self.request.environment,
            packet_bytes: self.request.packet_bytes,
            spacing_m: None,
        }
    }

    /// The ground between both ends.
    pub(crate) fn trace(&self, terrain: &dyn Terrain) -> Profile {
        let [from, to] = self.positions;
        let samples = self.request.samples.map(|samples| samples as usize);
        trace(&self.inputs(terrain), from, to, samples)
    }

    /// Both directions over a profile.
    pub(crate) fn judge(
        &self,
        terrain: &dyn Terrain,
        profile: &Profile,
    ) -> Result<[LinkResult; 2], Invalid> {
        let ([a, b], [from, to]) = (&self.stations, self.positions);
        let inputs = self.inputs(terrain);
        let both = judge(&inputs, profile, (from, a), (to, b), &mut Workspace::default());
        both.map(<[_; 2]>::from).map_err(|bad| below("", &bad))
    }

    fn answer(&self, terrain: &dyn Terrain, profile: &Profile) -> Result<LinkAnswer, Invalid> {
        let [forward, backward] = self.judge(terrain, profile)?;
        let frequency_mhz = self.stations[0].radio.frequency_mhz;
        let assumptions =
            self.request.environment.assumptions(Some((frequency_mhz, profile.distance_m)));
        let worse = forward.verdict.min(backward.verdict);
        Ok(LinkAnswer {
            samples: profile.elevation_msl_m.len(),
            ground: profile.ground,
            verdict: match profile.ground.is_enough() {
                true => word(worse),
                false => "no_terrain_data".to_owned(),
            },
            assumptions: assumptions.over(self.stations.each_ref(), profile),
            percentiles: percentiles(&forward, &backward).map(Into::into).to_vec(),
            forward,
            backward,
        })
    }
}

/// Name of a verdict in JSON.
fn word(verdict: Verdict) -> String {
    match serde_json::to_value(verdict) {
        Ok(serde_json::Value::String(word)) => word,
        other => unreachable!("a verdict is a word, not {other:?}"),
    }
}

/// Budget of a link over `terrain`.
///
/// # Errors
/// The first value out of its range.
pub fn link(request: &LinkRequest, terrain: &dyn Terrain) -> Result<LinkAnswer, Invalid> {
    let checked = request.check()?;
    let profile = checked.trace(terrain);
    checked.answer(terrain, &profile)
}

/// Budget of a link over heights that the caller measured: evenly spaced along the geodesic from one end to the
/// other, both included, m above mean sea level.
///
/// # Errors
/// The first value out of its range.
pub fn link_over(request: &LinkRequest, heights_msl_m: &[f64]) -> Result<LinkAnswer, Invalid> {
    let checked = request.check()?;
    if let Some(samples) = request.samples {
        return Err(Invalid::new("samples", samples, "none beside heights"));
    }
    let profile = measured(checked.positions, heights_msl_m)?;
    checked.answer(&Flat::default(), &profile)
}

/// A profile of heights that the caller measured.
pub(crate) fn measured(
    [from, to]: [GeoPoint; 2],
    heights_msl_m: &[f64],
) -> Result<Profile, Invalid> {
    let count = heights_msl_m.len();
    if !(2..=HEIGHTS_MAX).contains(&count) {
        let value = format!("{count} heights");
        return Err(Invalid::new("heights", value, format!("2 to {HEIGHTS_MAX} heights")));
    }
    if let Some(index) = heights_msl_m.iter().position(|height_m| !height_m.is_finite()) {
        let value = format!("{} at {index}", heights_msl_m[index]);
        return Err(Invalid::new("heights", value, "finite heights, m above mean sea level"));
    }
    Ok(Profile::over(&Path::between(from, to), heights_msl_m.to_vec()))
}
