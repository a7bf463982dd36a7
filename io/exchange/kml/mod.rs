//! KML 2.2 (OGC 07-147r2).
//!
//! Each node is a placemark with a point and, as extended data, the same fields that a table has
//! in its columns; its style has the colour of its role. The region is a placemark with a polygon
//! and the datum `kind` = `region`. The deployment's name is that of the document, all else is
//! JSON in the document's datum `deployment`.
//!
//! Placemarks of others become nodes where they have a point, in whatever folder. An altitude is
//! taken as the height above ground when its mode is `relativeToGround`, and is dropped, with a
//! note, in any other.
//!
//! Entities that a document declares are not expanded: a reference to one is an error.

mod placemark;
mod read;
mod write;
mod xml;

pub use read::read;
pub(super) use read::read_text;
pub use write::write;

/// The datum that tells the region from other polygons, and its value.
const KIND: (&str, &str) = ("kind", "region");

/// The datum of the document that holds the deployment as JSON.
const DEPLOYMENT: &str = "deployment";

/// The datum that holds a name, as a JSON string, that XML cannot.
const NAME_JSON: &str = "name_json";

/// Whether XML 1.0 has no way to write a character (section 2.2). Control characters are not in
/// names.
fn is_unwritable(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{ffff}') || (c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
}
