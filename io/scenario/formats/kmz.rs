//! KMZ: a plan as KML in a zip file.
//!
//! One with tracks is read by [`kml_tracks`].

use std::io::{self, Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::dataset::Dataset;
use super::error::{FormatError, Location};
use super::plan::PlanFile;
use super::text::text;
use super::zipped::{DOCUMENT, document, unpacked};
use super::{Content, Format, ReadOptions, Source, kml, kml_tracks};

/// The format.
pub static FORMAT: Format = Format {
    name: "kmz",
    label: "KMZ",
    description: "KML in a zip file: plan, or placemarks with points",
    extensions: &["kmz"],
    media_type: Some("application/vnd.google-earth.kmz"),
    contents: &[Content::Plan],
    sniff: |sample| document(sample.bytes()).is_some_and(|kml| !kml_tracks::is_tracks(&kml)),
    read: Some(read),
    write_plan: Some(write),
    ..Format::NONE
};

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
    let kml = unpacked(source.bytes()).map_err(|fault| fault.at(&FORMAT, Location::default()))?;
    let text = text(&FORMAT, &kml)?;
    kml::read_text(&FORMAT, text, &options.station).map(Dataset::of_plan)
}
