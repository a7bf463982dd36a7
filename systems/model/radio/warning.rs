//! Warnings about a result: a small set, serialised as a list of names.

use std::borrow::Cow;

use groundwave_propagation::itm;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One warning. The first sixteen are those of ITM, in its order.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Warning {
    /// ITM: transmitter height below 1 m or above 1000 m.
    ItmTxTerminalHeight,
    /// ITM: receiver height below 1 m or above 1000 m.
    ItmRxTerminalHeight,
    /// ITM: frequency below 40 MHz or above 10 GHz.
    ItmFrequency,
    /// ITM: path longer than 1000 km.
    #[serde(rename = "itm_path_distance_too_big_1")]
    ItmPathDistanceTooBig1,
    /// ITM: path longer than 2000 km.
    #[serde(rename = "itm_path_distance_too_big_2")]
    ItmPathDistanceTooBig2,
    /// ITM: path shorter than five times the difference of effective heights.
    #[serde(rename = "itm_path_distance_too_small_1")]
    ItmPathDistanceTooSmall1,
    /// ITM: path shorter than 1 km.
    #[serde(rename = "itm_path_distance_too_small_2")]
    ItmPathDistanceTooSmall2,
    /// ITM: transmitter horizon angle above 200 mrad.
    ItmTxHorizonAngle,
    /// ITM: receiver horizon angle above 200 mrad.
    ItmRxHorizonAngle,
    /// ITM: transmitter horizon nearer than a tenth of the smooth Earth's.
    #[serde(rename = "itm_tx_horizon_distance_1")]
    ItmTxHorizonDistance1,
    /// ITM: receiver horizon nearer than a tenth of the smooth Earth's.
    #[serde(rename = "itm_rx_horizon_distance_1")]
    ItmRxHorizonDistance1,
    /// ITM: transmitter horizon farther than three times the smooth Earth's.
    #[serde(rename = "itm_tx_horizon_distance_2")]
    ItmTxHorizonDistance2,
    /// ITM: receiver horizon farther than three times the smooth Earth's.
    #[serde(rename = "itm_rx_horizon_distance_2")]
    ItmRxHorizonDistance2,
    /// ITM: quantile beyond 3.1 standard deviations.
    ItmExtremeVariabilities,
    /// ITM: surface refractivity at path height below 250 N-units.
    ItmSurfaceRefractivity,
    /// ITM: reference attenuation undefined; delta-Bullington is used instead.
    ItmAttenuationUndefined,
    /// Samples off every terrain tile were taken as sea level.
    TerrainMissing,
    /// Samples in voids of a tile were interpolated.
    TerrainVoid,
    /// The loss of the model was below free space; free space is used instead.
    BelowFreeSpaceClamped,
    /// The inputs are outside the range of the requested model; delta-Bullington is used instead.
    ModelOutOfRange,
    /// Path shorter than 1 km, where ITM is not valid; delta-Bullington is used instead.
    #[serde(rename = "distance_below_1km")]
    DistanceBelow1Km,
    /// Ends closer than 1 m; the free-space loss of 1 m is used.
    DistanceTooShort,
    /// The ends are tuned more than a quarter of the bandwidth apart: no link.
    FrequencyMismatch,
    /// The ends use different waveforms: no link.
    WaveformMismatch,
    /// The ends differ in bandwidth; the narrower counts.
    BandwidthMismatch,
    /// The ends differ in polarisation.
    CrossPolarized,
    /// Man-made noise taken outside the frequencies of its curve.
    NoiseExtrapolated,
    /// Frequency, distance or elevation outside the range of the clutter model; its loss is omitted, or is a part of
    /// that at the limit.
    ClutterOutOfRange,
    /// A calibration profile changed the loss.
    Calibrated,
    /// Heights of different kinds along the path: bare earth and surface, or different datums.
    TerrainMixed,
    /// Stations, environment or ground are out of the range of every model: no link.
    NotComputable,
    /// Path or antenna at an end of the range of the model, where delta-Bullington counts in part: 1 to 2 km
    /// under ITM.
    ModelsBlended,
    /// Surface with buildings and trees in posts of 5 m or finer, for which ITM and extended Hata are not made;
    /// delta-Bullington is used instead.
    FineSurface,
    /// Frequency below 80 MHz, where ITU-R P.2109 begins: walls have the loss of 80 MHz.
    BuildingExtrapolated,
    /// Extended Hata: the higher antenna below 30 m or above 200 m, or the lower below 1 m or above 10 m; its
    /// height is taken at the limit.
    HataAntennaHeight,
    /// ITU-R P.528: terrain stands above the smooth Earth's horizon of an end, which the model leaves out: the
    /// loss may be greater.
    #[serde(rename = "p528_terrain_obstructs")]
    P528TerrainObstructs,
    /// A share of time, locations or situations that the model does not have, or not so far: the loss is that
    /// of the nearest share it has, the median where it has none.
    ShareNotModelled,
    /// The calibration profile was fitted with another model or environment.
    CalibrationMismatch,
    /// An end lies more than 10 km beyond the area of the calibration profile: the interval is that of a place
    /// never measured.
    CalibrationElsewhere,
    /// An end in woodland at a frequency below 105.9 MHz or above 2117.5 MHz, beyond table 1 of ITU-R P.833: the loss is
    /// that of the nearest one.
    WoodlandExtrapolated,
    /// `k_factor` other than 4/3 with a model that does not read it, as ITM by its refractivity: it changes the
    /// clearance of the ray and elevation angles, but not the loss.
    KFactorNotModelled,
}

impl Warning {
    /// Every warning, in the order of the bits.
    pub const ALL: [Self; 41] = [
        Self::ItmTxTerminalHeight,
        Self::ItmRxTerminalHeight,
        Self::ItmFrequency,
        Self::ItmPathDistanceTooBig1,
        Self::ItmPathDistanceTooBig2,
        Self::ItmPathDistanceTooSmall1,
        Self::ItmPathDistanceTooSmall2,
        Self::ItmTxHorizonAngle,
        Self::ItmRxHorizonAngle,
        Self::ItmTxHorizonDistance1,
        Self::ItmRxHorizonDistance1,
        Self::ItmTxHorizonDistance2,
        Self::ItmRxHorizonDistance2,
        Self::ItmExtremeVariabilities,
        Self::ItmSurfaceRefractivity,
        Self::ItmAttenuationUndefined,
        Self::TerrainMissing,
        Self::TerrainVoid,
        Self::BelowFreeSpaceClamped,
        Self::ModelOutOfRange,
        Self::DistanceBelow1Km,
        Self::DistanceTooShort,
        Self::FrequencyMismatch,
        Self::WaveformMismatch,
        Self::BandwidthMismatch,
        Self::CrossPolarized,
        Self::NoiseExtrapolated,
        Self::ClutterOutOfRange,
        Self::Calibrated,
        Self::TerrainMixed,
        Self::NotComputable,
        Self::ModelsBlended,
        Self::FineSurface,
        Self::BuildingExtrapolated,
        Self::HataAntennaHeight,
        Self::P528TerrainObstructs,
        Self::ShareNotModelled,
        Self::CalibrationMismatch,
        Self::CalibrationElsewhere,
        Self::WoodlandExtrapolated,
        Self::KFactorNotModelled,
    ];
}

/// A set of [`Warning`]s; serialised as a list of names in a fixed order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Warnings(u64);

impl Warnings {
    /// Adds `warning`.
    pub fn insert(&mut self, warning: Warning) {
        self.0 |= 1 << warning as u8;
    }

    /// Adds `warning` if `condition` holds.
    pub(super) fn note(&mut self, condition: bool, warning: Warning) {
        if condition {
            self.insert(warning);
        }
    }

    /// Adds the warnings of ITM.
    pub(super) fn insert_itm(&mut self, warnings: itm::Warnings) {
        self.0 |= u64::from(warnings.bits());
    }

    /// Union of the two sets.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True if `warning` is set.
    #[must_use]
    pub fn contains(self, warning: Warning) -> bool {
        self.0 >> warning as u8 & 1 == 1
    }

    /// True if the set is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The warnings, in the order of [`Warning::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Warning> {
        Warning::ALL.into_iter().filter(move |&warning| self.contains(warning))
    }
}

impl FromIterator<Warning> for Warnings {
    fn from_iter<T: IntoIterator<Item = Warning>>(warnings: T) -> Self {
        let mut set = Self::default();
        warnings.into_iter().for_each(|warning| set.insert(warning));
        set
    }
}

impl Serialize for Warnings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Warnings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Warning>::deserialize(deserializer)?.into_iter().collect())
    }
}

impl JsonSchema for Warnings {
    fn schema_name() -> Cow<'static, str> {
        "Warnings".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<Warning>::json_schema(generator)
    }
}
