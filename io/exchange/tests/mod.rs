//! Plans out and in again, documents of others, and documents of nobody.

mod csv;
mod geojson;
mod hostile;
mod kml;
mod plans;
mod roundtrip;
mod scenario;

use groundwave_systems::radio::{Pointing, Station};
use groundwave_systems::sample;

use super::{ExchangeError, Format, Notes, PlanFile, read, write};

/// A station whose values no document states by chance.
fn defaults() -> Station {
    Station {
        height_agl_m: 7.25,
        ..sample::station()
    }
}

/// The defaults, looking somewhere.
fn pointed() -> Station {
    let pointing = Some(Pointing {
        azimuth_deg: 12.0,
        elevation_deg: 1.0,
    });
    Station {
        pointing,
        ..defaults()
    }
}

/// The document of a plan.
#[track_caller]
fn written(format: Format, plan: &PlanFile) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(format, plan, &mut bytes).unwrap();
    bytes
}

#[track_caller]
fn taken(format: Format, text: &str) -> (PlanFile, Notes) {
    read(format, text.as_bytes(), &defaults()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The error of a document; all of `says` stand in it.
#[track_caller]
fn refused(format: Format, bytes: &[u8], says: &[&str]) -> ExchangeError {
    let error = read(format, bytes, &defaults()).expect_err("a document at fault");
    let told = error.to_string();
    for part in says {
        assert!(told.contains(part), "{part:?} is not in {told:?}");
    }
    error
}

/// Whether all of `says` stand in the notes.
#[track_caller]
fn told(notes: &Notes, says: &[&str]) {
    let text = notes.to_string();
    for part in says {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

/// A document written by others.
fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/exchange");
    std::fs::read(format!("{folder}/{name}")).unwrap()
}

/// The fixture as text.
fn fixture_text(name: &str) -> String {
    String::from_utf8(fixture(name)).unwrap()
}
