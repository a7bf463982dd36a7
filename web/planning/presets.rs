//! Catalogues over HTTP.

use groundwave_http::Json;
use groundwave_model::radio::modulation::MODULATIONS;
use groundwave_model::radio::path_loss::Model;
use groundwave_model::radio::presets;
use groundwave_model::radio::presets::{AntennaPreset, PresetGroup, RadioPreset};
use groundwave_scenario::formats::FORMATS;

use super::wire::exchange::{FormatInfo, FormatList};
use super::wire::preset::EnvironmentPresets;
use super::wire::{
    AntennaPresetList, DevicePresets, ModelInfo, ModelList, ModulationList, RadioPresetList,
    RolePresetList,
};

/// Radios of a group.
fn radios_of(group: PresetGroup) -> Vec<RadioPreset> {
    presets::RADIOS.iter().filter(|preset| preset.group == group).cloned().collect()
}

/// Antennas of a group.
fn antennas_of(group: PresetGroup) -> Vec<AntennaPreset> {
    presets::ANTENNAS.iter().filter(|preset| preset.group == group).cloned().collect()
}

/// List radio presets
#[utoipa::path(get, path = "/api/v1/presets/radios", tag = "presets",
    responses((status = 200, description = "Eight radios, each with its source")))]
pub async fn radios() -> Json<RadioPresetList> {
    Json(RadioPresetList(radios_of(PresetGroup::Generic)))
}

/// List antenna presets
#[utoipa::path(get, path = "/api/v1/presets/antennas", tag = "presets",
    responses((status = 200, description = "Nine antennas, each with its source")))]
pub async fn antennas() -> Json<AntennaPresetList> {
    Json(AntennaPresetList(antennas_of(PresetGroup::Generic)))
}

/// List presets of devices
///
/// Their ids are accepted wherever those of the other radio and antenna presets are.
#[utoipa::path(get, path = "/api/v1/presets/devices", tag = "presets",
    responses((status = 200, description = "Radios and antennas of devices, each with its source")))]
pub async fn devices() -> Json<DevicePresets> {
    Json(DevicePresets {
        radios: radios_of(PresetGroup::Device),
        antennas: antennas_of(PresetGroup::Device),
    })
}

/// List role presets with their display colours
#[utoipa::path(get, path = "/api/v1/presets/roles", tag = "presets",
    responses((status = 200, description = "Five roles")))]
pub async fn roles() -> Json<RolePresetList> {
    Json(RolePresetList(presets::ROLES.to_vec()))
}

/// List the modulation table
#[utoipa::path(get, path = "/api/v1/presets/modulations", tag = "presets",
    responses((status = 200, description = "From BPSK 1/2 to 256-QAM 5/6")))]
pub async fn modulations() -> Json<ModulationList> {
    Json(ModulationList(MODULATIONS.to_vec()))
}

/// List the path-loss models
///
/// Their ids are the values of `model` in the environment of a deployment.
#[utoipa::path(get, path = "/api/v1/presets/models", tag = "presets",
    responses((status = 200, description = "Models in the order of the registry, the default first")))]
pub async fn models() -> Json<ModelList> {
    Json(ModelList(Model::ALL.iter().copied().map(ModelInfo::from).collect()))
}

/// List the values of an environment to choose from
#[utoipa::path(get, path = "/api/v1/presets/environment", tag = "presets",
    responses((status = 200, description = "Climates, noise, surroundings, and usual values of optional parts")))]
pub async fn environments() -> Json<EnvironmentPresets> {
    Json(EnvironmentPresets::all())
}

/// List the file formats
///
/// Those that an import reads, that become recordings, and that an export writes.
#[utoipa::path(get, path = "/api/v1/presets/formats", tag = "presets",
    responses((status = 200, description = "Formats")))]
pub async fn formats() -> Json<FormatList> {
    Json(FormatList(FORMATS.into_iter().map(FormatInfo::from).collect()))
}
