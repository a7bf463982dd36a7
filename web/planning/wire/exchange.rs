//! Import and export.

use groundwave_scenario::formats;
use groundwave_scenario::formats::Format;
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

/// Imported deployment.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Imported {
    /// New deployment.
    pub deployment: Deployment,
    /// Number of nodes.
    pub nodes: usize,
    /// Dropped, defaulted and converted values.
    pub notes: Vec<ImportNote>,
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
