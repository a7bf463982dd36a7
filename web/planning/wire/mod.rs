//! Request and response types of the planning interface.
//!
//! Requests refuse unknown fields. What comes out can be sent back in.

pub mod coverage;
pub mod deployment;
pub mod exchange;
pub mod ground;
pub mod health;
pub mod link;
pub mod mesh;
pub mod mesh_coverage;
pub mod name;
pub mod node;
pub mod pattern;
pub mod place;
pub mod placement;
pub mod preset;
pub mod preview;
pub mod radio;
pub mod relay;
pub mod replay;
pub mod stated;
pub mod template;
pub mod terrain;

use groundwave_model::radio::modulation::Modulation;
use groundwave_model::radio::path_loss::Model;
use groundwave_model::radio::presets::{AntennaPreset, RadioPreset, RolePreset};

groundwave_http::schema_refs!(exchange::ExchangeFormat, terrain::ReliefDetail);

/// Packet length of loss rates, ETX and ETT, bytes.
pub const PACKET_BYTES: u32 = 1500;

/// Radio presets of no particular device.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct RadioPresetList(pub Vec<RadioPreset>);

/// Devices with their radios and fixed antennas.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct DevicePresets {
    /// Radios of devices.
    pub radios: Vec<RadioPreset>,
    /// Antennas of devices.
    pub antennas: Vec<AntennaPreset>,
}

/// Antenna presets of no particular device.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct AntennaPresetList(pub Vec<AntennaPreset>);

/// All roles.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct RolePresetList(pub Vec<RolePreset>);

/// Modulation table.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct ModulationList(pub Vec<Modulation>);

/// Path-loss model with its texts.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct ModelInfo {
    /// Value of `model` in an environment.
    pub id: Model,
    /// Label in plots and tables.
    pub name: &'static str,
    /// One sentence: method and range.
    pub description: &'static str,
    /// Edition.
    pub version: &'static str,
    /// Citation of the publication that defines the model.
    pub source: &'static str,
}

impl From<Model> for ModelInfo {
    fn from(id: Model) -> Self {
        let model = id.get();
        Self {
            id,
            name: model.label(),
            description: model.description(),
            version: model.version(),
            source: model.source(),
        }
    }
}

/// All path-loss models.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct ModelList(pub Vec<ModelInfo>);
