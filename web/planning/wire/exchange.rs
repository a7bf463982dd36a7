//! Import and export.

use groundwave_scenario::formats;
use groundwave_scenario::formats::{Content, Format};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use super::deployment::Deployment;

/// Exchange format of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExchangeFormat {
    /// GeoJSON (RFC 7946).
    Geojson,
    /// KML 2.2.
    Kml,
    /// KML in a zip file.
    Kmz,
    /// Comma-separated values with a header.
    Csv,
    /// Scenario for `groundwave run`.
    Scenario,
}

/// Format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormatQuery {
    /// Format.
    pub format: ExchangeFormat,
}

/// Format and file name of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportQuery {
    /// Format; by the content of the document if missing.
    #[serde(default)]
    pub format: Option<ExchangeFormat>,
    /// Name of the file: its ending decides between formats of one content.
    #[serde(default)]
    pub file_name: Option<String>,
}

/// Name of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct FileQuery {
    /// Name of the file, for messages
    pub file_name: Option<String>,
}

/// Imported deployment.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Imported {
    /// New deployment.
    pub deployment: Deployment,
    /// Number of nodes.
    pub nodes: usize,
    /// Dropped, defaulted and converted values.
    pub notes: Vec<ImportNote>,
    /// The document has movements or measurements over time, too: `POST /api/v1/replays` takes it as a recording.
    pub has_recording: bool,
}

/// Kind of remark of an import, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportNote {
    /// Remark and reason.
    pub what: String,
    /// Number of occurrences.
    pub count: usize,
    /// First occurrence.
    pub first: String,
}

/// File format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FormatInfo {
    /// Name, as of `format` in queries.
    pub name: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Origin and contents.
    pub description: String,
    /// File endings without the dot, the usual one first.
    pub extensions: Vec<&'static str>,
    /// `POST /api/v1/deployments/import` may make a deployment of it.
    pub imports: bool,
    /// `POST /api/v1/replays` may record it.
    pub records: bool,
    /// `GET /api/v1/deployments/{id}/export` writes it.
    pub exports: bool,
}

impl From<&Format> for FormatInfo {
    fn from(format: &Format) -> Self {
        let reads = |contents: &[Content]| {
            format.read.is_some() && contents.iter().any(|content| format.holds(*content))
        };
        Self {
            name: format.name,
            label: format.label,
            description: formats::without_options(format.description),
            extensions: format.extensions.to_vec(),
            imports: reads(&[Content::Plan, Content::Positions, Content::Tracks]),
            records: reads(&[Content::Tracks, Content::Measurements]),
            exports: format.write_plan.is_some() && format.media_type.is_some(),
        }
    }
}

/// File formats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct FormatList(pub Vec<FormatInfo>);

/// Any JSON object, in the interface's document.
pub struct AnyObject;

impl utoipa::PartialSchema for AnyObject {
    fn schema() -> RefOr<Schema> {
        RefOr::T(ObjectBuilder::new().schema_type(Type::Object).build().into())
    }
}

impl utoipa::ToSchema for AnyObject {}

impl ExchangeFormat {
    /// The format of the registry.
    #[must_use]
    pub fn format(self) -> &'static Format {
        match self {
            Self::Geojson => &formats::geojson::FORMAT,
            Self::Kml => &formats::kml::FORMAT,
            Self::Kmz => &formats::kmz::FORMAT,
            Self::Csv => &formats::csv::FORMAT,
            Self::Scenario => &formats::scenario::FORMAT,
        }
    }
}
