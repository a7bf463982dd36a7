//! Radios and antennas in a scenario: a preset by name, or settings over a preset.

use std::fmt;
use std::marker::PhantomData;

use groundwave_model::radio::pattern::Cuts;
use groundwave_model::radio::station::{Antenna, Radio, Waveform};
use groundwave_propagation::polarization::Polarization;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

/// A radio preset by id, or a table of settings.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RadioChoice {
    /// Id of a built-in preset or of a `[[radio]]`.
    Preset(String),
    /// Settings, over a preset or complete.
    Inline(Box<RadioSettings>),
}

/// An antenna preset by id, or a table of settings.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AntennaChoice {
    /// Id of a built-in preset or of an `[[antenna]]`.
    Preset(String),
    /// Settings, over a preset or complete.
    Inline(Box<AntennaSettings>),
    /// That of the radio's device, or a half-wave dipole.
    #[serde(skip)]
    #[default]
    Default,
}

impl AntennaChoice {
    /// True where a file names no antenna.
    pub(crate) fn is_default(&self) -> bool {
        matches!(self, Self::Default)
    }
}

/// A measured pattern: a file, or its samples.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum PatternChoice {
    /// File of MSI/Planet, SPLAT!, TIA/EIA-804 or Radio Mobile, relative to the scenario.
    File(String),
    /// Losses of the horizontal and the vertical cut.
    Inline(Box<Cuts>),
}

groundwave_model::radio_patch! {
    /// Settings of a radio. Without `preset`, all but the feeder loss are needed.
    #[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct RadioSettings {
        /// Preset to start from.
        pub preset: Option<String>,
    }
}

groundwave_model::antenna_patch! {
    /// Settings of an antenna. Without `preset`, all are needed that a pattern does not give.
    #[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct AntennaSettings {
        /// Preset to start from.
        pub preset: Option<String>,
        /// Measured pattern, which gives the beamwidths too, and the gain where its file has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub pattern: Option<PatternChoice>,
    }
}

groundwave_model::radio_patch! {
    /// A radio preset of your own. Without `base`, all but the feeder loss are needed.
    #[derive(Debug, Clone, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub struct RadioPresetFile {
        /// Id that nodes refer to: 1 to 64 of A-Z, a-z, 0-9, `.`, `-` and `_`.
        pub id: String,
        /// Built-in preset, or `[[radio]]` further up, to start from.
        pub base: Option<String>,
    }
}

groundwave_model::antenna_patch! {
    /// An antenna preset of your own. Without `base`, all fields are needed that a pattern does not give.
    #[derive(Debug, Clone, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub struct AntennaPresetFile {
        /// Id that nodes refer to: 1 to 64 of A-Z, a-z, 0-9, `.`, `-` and `_`.
        pub id: String,
        /// Built-in preset, or `[[antenna]]` further up, to start from.
        pub base: Option<String>,
        /// Measured pattern, which gives the beamwidths too, and the gain where its file has one.
        pub pattern: Option<PatternChoice>,
    }
}

/// Reads a string as a preset and a table as settings. An untagged derive would do the same but
/// forget where in the table an error was.
struct Choice<C, S> {
    expecting: &'static str,
    preset: fn(String) -> C,
    inline: fn(Box<S>) -> C,
    settings: PhantomData<S>,
}

impl<'de, C, S: Deserialize<'de>> Visitor<'de> for Choice<C, S> {
    type Value = C;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_str<E>(self, id: &str) -> Result<C, E> {
        Ok((self.preset)(id.to_owned()))
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<C, M::Error> {
        let settings = S::deserialize(MapAccessDeserializer::new(map))?;
        Ok((self.inline)(Box::new(settings)))
    }
}

impl<'de> Deserialize<'de> for RadioChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Choice {
            expecting: "the id of a radio preset or a table of radio settings",
            preset: Self::Preset,
            inline: Self::Inline,
            settings: PhantomData,
        })
    }
}

impl<'de> Deserialize<'de> for AntennaChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Choice {
            expecting: "the id of an antenna preset or a table of antenna settings",
            preset: Self::Preset,
            inline: Self::Inline,
            settings: PhantomData,
        })
    }
}

impl<'de> Deserialize<'de> for PatternChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Choice {
            expecting: "a file of an antenna pattern or a table of its losses",
            preset: Self::File,
            inline: Self::Inline,
            settings: PhantomData,
        })
    }
}
