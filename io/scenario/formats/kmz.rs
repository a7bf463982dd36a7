//! KMZ: a plan as KML in a zip file.
//!
//! The document is `doc.kml`, or the first file with the extension `.kml`; whatever else is in
//! there is passed over. What it unpacks to is bounded by [`BYTES_MAX`], and by
//! [`UNPACK_RATIO_MAX`] times the size of the zip file where that is more than
//! [`UNPACK_BYTES_MIN`]; it is unpacked no further than that.

use std::io::{self, Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::dataset::Dataset;
use super::error::{Fault, FormatError, Location};
use super::limits::{BYTES_MAX, UNPACK_BYTES_MIN, UNPACK_RATIO_MAX};
use super::plan::PlanFile;
use super::text::{bounded, text};
use super::{Content, Format, ReadOptions, Source, kml};

/// The format.
pub static FORMAT: Format = Format {
    name: "kmz",
    label: "KMZ",
    description: "KML in a zip file: plan, or placemarks with points",
    extensions: &["kmz"],
    media_type: Some("application/vnd.google-earth.kmz"),
    contents: &[Content::Plan],
    sniff: |sample| sample.bytes().starts_with(b"PK\x03\x04"),
    read: Some(read),
    write_plan: Some(write),
    ..Format::NONE
};

/// The name of the document.
const DOCUMENT: &str = "doc.kml";

/// Writes `plan`. The same plan has the same bytes.
fn write(plan: &PlanFile, out: &mut dyn Write) -> io::Result<()> {
    plan.writable(&FORMAT)?;
    // The time is the first that zip can state.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file(DOCUMENT, options)?;
    kml::write(plan, &mut zip)?;
    let packed = zip.finish()?;
    out.write_all(packed.get_ref())
}

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let document =
        unpacked(source.bytes()).map_err(|fault| fault.at(&FORMAT, Location::default()))?;
    let text = text(&FORMAT, &document)?;
    kml::read_text(&FORMAT, text, &options.station).map(Dataset::of_plan)
}

/// The document in a zip file.
fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
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
