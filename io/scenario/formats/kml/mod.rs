//! KML 2.2 (OGC 07-147r2): a plan as placemarks.
//!
//! Each node is a placemark with a point and, as extended data, the same fields that a table has
//! in its columns; its style has the colour of its role. The region is a placemark with a polygon
//! and the datum `kind` = `region`. The deployment's name is that of the document, all else is
//! JSON in the document's datum `deployment`.
//!
//! Placemarks of other programs with a point become nodes, in any folder. An altitude is
//! taken as the height above ground when its mode is `relativeToGround`, and is dropped, with a
//! note, in any other.
//!
//! Entities that a document declares are not expanded: a reference to one is an error.

mod placemark;
mod read;
mod write;
mod xml;

use super::dataset::Dataset;
use super::error::FormatError;
use super::plan::PlanFile;
use super::report::Report;
pub(super) use read::read_text;
pub(super) use write::write;

use super::{Content, Format, ReadOptions, Source, kml_tracks};

/// The format.
pub static FORMAT: Format = Format {
    name: "kml",
    label: "KML",
    description: "KML 2.2: plan, or placemarks with points",
    extensions: &["kml"],
    media_type: Some("application/vnd.google-earth.kml+xml"),
    contents: &[Content::Plan],
    sniff: |sample| {
        ROOTS.contains(&sample.xml_root().as_str()) && !(kml_tracks::FORMAT.sniff)(sample)
    },
    read: Some(|source, options| read(source, options).map(Dataset::of_plan)),
    write_plan: Some(write),
    ..Format::NONE
};

fn read(source: &Source, options: &ReadOptions) -> Result<(PlanFile, Report), FormatError> {
    read::read(source.bytes(), &options.station)
}

/// Root elements of a KML document.
const ROOTS: [&str; 4] = ["kml", "Document", "Folder", "Placemark"];

/// The datum that marks the region, and its value.
const KIND: (&str, &str) = ("kind", "region");

/// The datum of the document that holds the deployment as JSON.
const DEPLOYMENT: &str = "deployment";

/// The datum of a name that XML cannot represent, as a JSON string.
const NAME_JSON: &str = "name_json";

/// `true` if XML 1.0 cannot represent a character (section 2.2). Names have no control characters.
fn is_unwritable(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{ffff}') || (c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
}
