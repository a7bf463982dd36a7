//! Import and export.

use groundwave_io::exchange::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use super::deployment::Deployment;

/// A format a plan is exchanged in.
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
    /// A scenario `groundwave run` takes.
    Scenario,
}

/// Which format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormatQuery {
    /// Which format.
    pub format: ExchangeFormat,
}

/// A deployment that was read.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Imported {
    /// The deployment made.
    pub deployment: Deployment,
    /// How many nodes it has.
    pub nodes: usize,
    /// What was dropped, filled in or taken another way than it was written.
    pub notes: Vec<ImportNote>,
}

/// One thing that happened while reading, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportNote {
    /// What happened and why.
    pub what: String,
    /// How many times.
    pub count: usize,
    /// Where first.
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
