//! `[deployment]`: what the nodes are together, for those who plan with them.

use garde::Validate;
use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::deployment::Region;
use groundwave_toml_document::error::Report;
use groundwave_toml_document::key::KeyPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check;
use super::file_motion::PositionFile;

/// Properties of all nodes together; a run ignores them.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
#[serde(deny_unknown_fields)]
pub struct DeploymentFile {
    /// Display name, at most 64 characters; left out, the title of the scenario.
    pub name: Option<String>,
    /// Initial centre of its map.
    #[garde(dive)]
    pub center: Option<PositionFile>,
    /// The area it serves, a polygon as GeoJSON has it: closed rings of `[longitude, latitude]`,
    /// the first the outline, all others holes; at most 10000 positions.
    pub region: Option<Region>,
}

/// Content of `[deployment]`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Deployment {
    /// Display name; `None` is the title of the scenario.
    pub name: Option<String>,
    /// Initial centre of its map.
    pub center: Option<GeoPoint>,
    /// The area it serves.
    pub region: Option<Region>,
}

/// Meaning of the section.
pub(super) fn deployment(file: Option<&DeploymentFile>, report: &mut Report) -> Option<Deployment> {
    let file = file?;
    let path = KeyPath::section("deployment");
    if let Some(name) = &file.name {
        check::label(name, &path.key("name"), report);
    }
    check::ranges(file, &path, report);
    let center = |center: PositionFile| GeoPoint::new(center.lat_deg, center.lon_deg).ok();
    Some(Deployment {
        name: file.name.clone(),
        center: file.center.and_then(center),
        region: file.region.clone(),
    })
}
