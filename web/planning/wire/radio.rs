//! Radio and pointing configurations.

use groundwave_http::Problem;
use groundwave_model::radio::{Antenna, Pattern, Radio, Station, Waveform, presets};
use groundwave_propagation::polarization::Polarization;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

groundwave_model::radio_patch! {
    /// Radio and antenna of a node. Absent fields come from the preset, or, without
    /// one, from what the node has already; for a new node that is the preset `wifi_5g_mesh` with the
    /// antenna `omni_2_15`, a half-wave dipole. The preset of a device with a fixed antenna brings it.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub struct RadioConfig {
        /// Radio preset (see `/api/v1/presets/radios`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "radio_ids")]
        pub preset: Option<String>,
        /// Antenna.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub antenna: Option<AntennaConfig>,
    }
}

groundwave_model::antenna_patch! {
    /// An antenna. Fields left out come from the preset, or, without one, from the antenna in place.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[schemars(extend("not" = {
        "properties": { "clear_pattern": { "const": true }, "pattern": { "type": "object" } },
        "required": ["clear_pattern", "pattern"],
    }))]
    pub struct AntennaConfig {
        /// An antenna preset to start from (see `/api/v1/presets/antennas`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "antenna_ids")]
        pub preset: Option<String>,
        /// Measured pattern, which gives the beamwidths and the front-to-back ratio too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pattern: Option<Pattern>,
        /// Remove the pattern; the beamwidths and the front-to-back ratio are then those of the request, or stay.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub clear_pattern: bool,
    }
}

fn one_of(ids: impl Iterator<Item = &'static str>) -> schemars::Schema {
    let mut ids: Vec<_> = ids.map(serde_json::Value::from).collect();
    ids.push(serde_json::Value::Null);
    schemars::json_schema!({ "enum": ids })
}

fn radio_ids(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    one_of(presets::RADIOS.iter().map(|preset| preset.id))
}

fn antenna_ids(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    one_of(presets::ANTENNAS.iter().map(|preset| preset.id))
}

fn unknown(key: &str, found: &str, ids: &[&str]) -> Problem {
    Problem::bad_request(format!("`{key}` is {found:?}, allowed is one of {}", ids.join(", ")))
}

/// Default station.
#[must_use]
pub fn default_station() -> Station {
    let radio = presets::radio("wifi_5g_mesh").expect("the catalogue has it");
    let antenna = presets::antenna_where_unnamed(radio.id);
    Station::new(10.0, radio.radio.clone(), antenna.antenna.clone())
}

impl RadioConfig {
    /// Antenna that the device of the preset brings.
    fn device_antenna(&self) -> Option<&'static presets::AntennaPreset> {
        self.preset.as_deref().and_then(presets::antenna_of_device)
    }

    /// `true` if the request gives an antenna, by its fields or by its device.
    #[must_use]
    pub fn has_antenna(&self) -> bool {
        self.antenna.is_some() || self.device_antenna().is_some()
    }

    /// Radio and antenna of the request, based on `before`.
    ///
    /// # Errors
    /// 400 for an unknown preset.
    pub fn resolve(self, before: &Station) -> Result<(Radio, Antenna), Problem> {
        let base = match &self.preset {
            None => &before.radio,
            Some(id) => {
                let ids = presets::RADIOS.each_ref().map(|preset| preset.id);
                let found = presets::radio(id).ok_or_else(|| unknown("radio.preset", id, &ids))?;
                &found.radio
            }
        };
        let radio = self.over(Some(base)).expect("the base has all fields");
        let before = self.device_antenna().map_or(&before.antenna, |preset| &preset.antenna);
        let antenna = match &self.antenna {
            None => before.clone(),
            Some(config) => config.resolve(before)?,
        };
        Ok((radio, antenna))
    }

    /// Full configuration of a station.
    #[must_use]
    pub fn of(station: &Station) -> Self {
        let pattern = station.antenna.pattern.clone();
        let antenna = AntennaConfig { pattern, ..AntennaConfig::default() };
        let antenna = antenna.with(&station.antenna);
        Self { antenna: Some(antenna), ..Self::default() }.with(&station.radio)
    }
}

impl AntennaConfig {
    fn resolve(&self, before: &Antenna) -> Result<Antenna, Problem> {
        let base = match &self.preset {
            None => before,
            Some(id) => {
                let ids = presets::ANTENNAS.each_ref().map(|preset| preset.id);
                let found = presets::antenna(id)
                    .ok_or_else(|| unknown("radio.antenna.preset", id, &ids))?;
                &found.antenna
            }
        };
        let base = match (&self.pattern, self.clear_pattern) {
            (Some(_), true) => {
                let what = "`radio.antenna.clear_pattern` is true, allowed is false beside \
                            `radio.antenna.pattern`";
                return Err(Problem::bad_request(what));
            }
            (Some(pattern), false) => base.clone().with_pattern(pattern.clone()),
            (None, true) => Antenna { pattern: None, ..base.clone() },
            (None, false) => base.clone(),
        };
        Ok(self.over(Some(&base)).expect("the base has all fields"))
    }
}
