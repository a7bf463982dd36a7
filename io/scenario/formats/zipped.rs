//! KML in a zip file.
//!
//! The document is `doc.kml`, or the first file with the extension `.kml`; whatever else is in
//! there is passed over. What it unpacks to is bounded by [`BYTES_MAX`], and by
//! [`UNPACK_RATIO_MAX`] times the size of the zip file where that is more than
//! [`UNPACK_BYTES_MIN`]; it is unpacked no further than that.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use super::error::Fault;
use super::limits::{BYTES_MAX, UNPACK_BYTES_MIN, UNPACK_RATIO_MAX};
use super::text::bounded;

/// First octets of a zip file.
pub(super) const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// The name of the document.
pub(super) const DOCUMENT: &str = "doc.kml";

/// The KML in a zip file; `None` for other bytes and zip files.
pub(super) fn document(bytes: &[u8]) -> Option<Vec<u8>> {
    bytes.starts_with(ZIP_MAGIC).then(|| unpacked(bytes).ok()).flatten()
}

/// The document in a zip file.
pub(super) fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let bad = |error: &dyn std::fmt::Display| Fault::new("", error.to_string(), "a valid zip file");
    bounded(bytes)?;
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| bad(&error))?;
    let name = {
        let is_kml = |name: &&str| name.to_ascii_lowercase().ends_with(".kml");
        let named = archive.file_names().find(|name| *name == DOCUMENT);
        let name = named.or_else(|| archive.file_names().find(is_kml));
        let allowed = "doc.kml, or another file with the extension .kml";
        let missing = || Fault::new("", "a zip file without KML", allowed);
        name.ok_or_else(missing)?.to_owned()
    };
    let packed = archive.by_name(&name).map_err(|error| bad(&error))?;
    let most = bytes.len().saturating_mul(UNPACK_RATIO_MAX).clamp(UNPACK_BYTES_MIN, BYTES_MAX);
    let mut document = Vec::new();
    // The size that the zip file states is not believed.
    let mut packed = packed.take(most as u64 + 1);
    packed.read_to_end(&mut document).map_err(|error| bad(&error))?;
    if document.len() > most {
        let actual = format!("{name:?} unpacks to more than {most} bytes");
        let allowed = format!(
            "{BYTES_MAX} bytes, and {UNPACK_RATIO_MAX} times the size of the zip file or \
             {UNPACK_BYTES_MIN}"
        );
        return Err(Fault::new("", actual, allowed));
    }
    Ok(document)
}
