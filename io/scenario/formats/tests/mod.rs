//! Round trips, documents of other programs, damaged documents.

mod altitudes;
mod clocks;
mod core;
mod courses;
mod csv;
mod daemons;
mod exports;
mod geojson;
mod geojson_tracks;
mod hostile;
mod identify;
mod igc;
mod imports;
mod interfaces;
mod kml;
mod kml_tracks;
mod levels;
mod lorawan;
mod maps;
mod motion;
mod nmea;
mod plans;
mod plausible;
mod presence;
mod receivers;
mod recordings;
mod roundtrip;
mod samples;
mod scenario;
mod series;
mod signals;
mod sites;
mod stations;
mod tables;
mod tracks;
mod unplaced;
mod values;
mod vehicles;
mod wigle;

use std::io::{self, Write};

use groundwave_model::radio::{Pointing, Station};
use groundwave_model::sample;

use super::{Dataset, Format, FormatError, PlanFile, ReadOptions, Report, Source};

const GEOJSON: &Format = &super::geojson::FORMAT;
const KML: &Format = &super::kml::FORMAT;
const KMZ: &Format = &super::kmz::FORMAT;
const CSV: &Format = &super::csv::FORMAT;
const SCENARIO: &Format = &super::scenario::FORMAT;
const PLAN_FORMATS: [&Format; 5] = [GEOJSON, KML, KMZ, CSV, SCENARIO];

fn read(
    format: &'static Format,
    bytes: &[u8],
    station: &Station,
) -> Result<(PlanFile, Report), FormatError> {
    format.read_plan(bytes.to_vec(), station)
}

fn write(format: &Format, plan: &PlanFile, out: &mut dyn Write) -> io::Result<()> {
    format.write_plan.unwrap()(plan, out)
}

/// Reads documents as one series.
fn dataset(format: &Format, documents: &[&[u8]]) -> Result<Dataset, FormatError> {
    let source = Source {
        documents: documents.iter().map(|bytes| bytes.to_vec()).collect(),
        ..Source::default()
    };
    format.read(&source, &ReadOptions::new(sample::station()))
}

/// Occurrences of the first note with `what`.
fn count(report: &Report, what: &str) -> usize {
    let note = report.notes.iter().find(|note| note.what.contains(what));
    note.map_or(0, |note| note.count)
}

/// A station whose values no document states by chance.
fn defaults() -> Station {
    Station { height_agl_m: 7.25, ..sample::station() }
}

/// The defaults, looking somewhere.
fn pointed() -> Station {
    let pointing = Some(Pointing { azimuth_deg: 12.0, elevation_deg: 1.0 });
    Station { pointing, ..defaults() }
}

/// The document of a plan.
#[track_caller]
fn written(format: &'static Format, plan: &PlanFile) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(format, plan, &mut bytes).unwrap();
    bytes
}

#[track_caller]
fn plan_of(format: &'static Format, text: &str) -> (PlanFile, Report) {
    read(format, text.as_bytes(), &defaults()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Error of a document; all of `parts` are contained in it.
#[track_caller]
fn refused(format: &'static Format, bytes: &[u8], parts: &[&str]) -> FormatError {
    let error = read(format, bytes, &defaults()).expect_err("a document at fault");
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
    error
}

/// Asserts that the notes contain each of `parts`.
#[track_caller]
fn assert_notes(notes: &Report, parts: &[&str]) {
    let text = notes.to_string();
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

/// A document written by others.
fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/exchange");
    std::fs::read(format!("{folder}/{name}")).unwrap()
}

fn fixture_text(name: &str) -> String {
    String::from_utf8(fixture(name)).unwrap()
}
