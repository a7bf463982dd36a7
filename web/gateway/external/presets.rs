//! Presets of external systems.

use groundwave_gateway::external::{AuthKind, Check, OWN_METRICS, Preset};
use groundwave_http::{Json, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::access::Viewer;

/// Preset of external systems.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PresetView {
    /// Preset.
    pub preset: Preset,
    /// Name of the product.
    pub title: String,
    /// JSON schema of the fields that the preset needs.
    pub fields: Value,
    /// Checks of a system that names none.
    pub default_checks: Vec<Check>,
    /// Metrics of a system that names no checks.
    pub default_metrics: Vec<String>,
}

/// Schema of the fields that a preset needs.
fn fields(preset: Preset) -> Value {
    let pattern = format!("^({})://", preset.schemes().join("|"));
    let kinds = preset.auth_kinds();
    let mut required = vec!["name", "preset", "base_url"];
    if !kinds.contains(&AuthKind::None) {
        required.push("auth");
    }
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "minLength": 1, "maxLength": 64 },
            "preset": { "const": preset },
            "base_url": { "type": "string", "pattern": pattern, "maxLength": 1024 },
            "auth": {
                "type": "object",
                "properties": { "kind": { "enum": kinds } },
                "required": ["kind"],
            },
        },
        "required": required,
    })
}

/// List presets of external systems
#[utoipa::path(get, path = "/v1/external-systems/presets", tag = "external",
    responses((status = 200, description = "Fields and metrics of each product")))]
pub async fn external_presets(_: Viewer) -> Result<Json<Vec<PresetView>>, Problem> {
    let view = |preset: Preset| {
        let default_checks = preset.default_checks();
        let own = OWN_METRICS.iter().map(ToString::to_string);
        let checks = default_checks.iter().map(|check| check.metric.clone());
        PresetView {
            preset,
            title: preset.title().to_owned(),
            fields: fields(preset),
            default_metrics: own.chain(checks).collect(),
            default_checks,
        }
    };
    Ok(Json(Preset::ALL.map(view).into()))
}
