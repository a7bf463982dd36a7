//! Catalogues over HTTP.

use groundwave_http::Json;
use groundwave_model::radio::modulation::MODULATIONS;
use groundwave_model::radio::presets;

use super::wire::{AntennaPresetList, ModulationList, RadioPresetList, RolePresetList};

/// List radio presets
#[utoipa::path(get, path = "/api/v1/presets/radios", tag = "presets",
    responses((status = 200, description = "Radios, generic ones and devices, each with its source")))]
pub async fn radios() -> Json<RadioPresetList> {
    Json(RadioPresetList(presets::RADIOS.to_vec()))
}

/// List antenna presets
#[utoipa::path(get, path = "/api/v1/presets/antennas", tag = "presets",
    responses((status = 200, description = "Antennas, generic ones and those of devices, each with its source")))]
pub async fn antennas() -> Json<AntennaPresetList> {
    Json(AntennaPresetList(presets::ANTENNAS.to_vec()))
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
