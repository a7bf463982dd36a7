//! GeoJSON (RFC 7946): a plan as a feature collection.
//!
//! Each node is a point feature with its station as properties: `radio`, `antenna` and `pointing`
//! as the model has them, `height_agl_m`, `role`, `id`, and the colour of its role under the name
//! of the simplestyle convention, `marker-color`. The region is a polygon feature with the
//! property `kind` = `region`. Name, centre and propagation settings of the deployment are the
//! foreign member `deployment`.
//!
//! Points of other programs become nodes too. A third coordinate is a height above the ellipsoid,
//! not above ground: it is dropped, with a note.

mod feature;
mod read;
mod write;

use super::dataset::Dataset;
use super::error::FormatError;
use super::plan::PlanFile;
use super::report::Report;
use super::{Content, Format, ReadOptions, Source, geojson_tracks};

/// The format.
pub static FORMAT: Format = Format {
    name: "geojson",
    label: "GeoJSON",
    description: "GeoJSON (RFC 7946): plan, or points with properties",
    extensions: &["geojson", "json"],
    media_type: Some("application/geo+json"),
    contents: &[Content::Plan],
    sniff: |sample| {
        let kind = sample.json()["type"].as_str();
        kind.is_some_and(read::is_type) && !(geojson_tracks::FORMAT.sniff)(sample)
    },
    read: Some(|source, options| read(source, options).map(Dataset::of_plan)),
    write_plan: Some(write::write),
    ..Format::NONE
};

fn read(source: &Source, options: &ReadOptions) -> Result<(PlanFile, Report), FormatError> {
    read::read(source.bytes(), &options.station)
}

/// The property that distinguishes the region from other polygons, and its value.
const KIND: (&str, &str) = ("kind", "region");

/// The foreign member with the deployment.
const DEPLOYMENT: &str = "deployment";
