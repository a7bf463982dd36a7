//! Import and export.

use groundwave_io::exchange::Format;
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
        RefOr::T(
            ObjectBuilder::new()
                .schema_type(Type::Object)
                .build()
                .into(),
        )
    }
}

impl utoipa::ToSchema for AnyObject {}

impl From<ExchangeFormat> for Format {
    fn from(format: ExchangeFormat) -> Self {
        match format {
            ExchangeFormat::Geojson => Self::Geojson,
            ExchangeFormat::Kml => Self::Kml,
            ExchangeFormat::Kmz => Self::Kmz,
            ExchangeFormat::Csv => Self::Csv,
            ExchangeFormat::Scenario => Self::Scenario,
        }
    }
}
