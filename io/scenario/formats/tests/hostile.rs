//! For any bytes, the answer is a plan or an error, within bounded time.

use proptest::prelude::*;

use super::super::Format;
use super::{CSV, GEOJSON, KML, KMZ, PLAN_FORMATS, SCENARIO};
use super::{defaults, fixture, fixture_text, plans, read, refused, written};

/// Reads, shows, and forgets.
fn survive(format: &'static Format, bytes: &[u8]) -> bool {
    match read(format, bytes, &defaults()) {
        Ok((plan, notes)) => {
            assert!(plan.check().is_ok());
            assert!(notes.is_empty() || !notes.to_string().is_empty());
            true
        }
        Err(error) => {
            let text = error.to_string();
            assert!(!text.is_empty());
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
            false
        }
    }
}

/// A document of each format.
fn documents() -> Vec<(&'static Format, Vec<u8>)> {
    let (plan, _) = super::plan_of(KML, &fixture_text("foreign.kml"));
    let own = PLAN_FORMATS.map(|format| (format, written(format, &plan)));
    let foreign = [
        (GEOJSON, fixture("foreign.geojson")),
        (KML, fixture("foreign.kml")),
        (CSV, fixture("foreign.csv")),
    ];
    own.into_iter().chain(foreign).collect()
}

#[test]
fn every_truncation_is_answered() {
    for (format, bytes) in documents() {
        assert!(survive(format, &bytes));
        let whole = (0..bytes.len()).filter(|end| survive(format, &bytes[..*end])).count();
        // Rows and tables may be cut off one by one; what is nested may lose white space at most.
        let nested = [GEOJSON, KML, KMZ].contains(&format);
        assert!(!nested || whole <= 1, "{format}: {whole} of {}", bytes.len());
    }
}

#[test]
fn deep_nesting_gives_an_error() {
    let deep = 100_000;
    let lists = format!("{{\"type\":\"Point\",\"coordinates\":{}", "[".repeat(deep));
    refused(GEOJSON, lists.as_bytes(), &["JSON"]);
    let closed = lists + &"]".repeat(deep) + "}";
    refused(GEOJSON, closed.as_bytes(), &["recursion limit"]);
    let collection = "{\"type\":\"GeometryCollection\",\"geometries\":[".repeat(deep);
    assert!(!survive(GEOJSON, collection.as_bytes()));
    let folders = "<Folder>".repeat(deep);
    refused(KML, folders.as_bytes(), &["too deep"]);
    let geometries = format!("<Placemark>{}", "<MultiGeometry>".repeat(deep));
    refused(KML, geometries.as_bytes(), &["too deep"]);
    let skipped = format!("<kml><Style>{}", "<a>".repeat(deep));
    refused(KML, skipped.as_bytes(), &["end of the document"]);
    let tables = format!("x = {}", "[".repeat(deep));
    assert!(!survive(SCENARIO, tables.as_bytes()));
    assert!(!survive(CSV, "\"".repeat(deep).as_bytes()));
}

#[test]
fn numbers_out_of_all_bounds_are_refused() {
    let numbers = ["1e309", "-1e309", "nan", "NaN", "inf", "91", "1e308", "0x10", "", "１"];
    for number in numbers {
        let csv = format!("lat,lon\n{number},0\n");
        assert!(!survive(CSV, csv.as_bytes()), "{number}");
        let kml =
            format!("<Placemark><Point><coordinates>0,{number}</coordinates></Point></Placemark>");
        assert!(!survive(KML, kml.as_bytes()), "{number}");
        let json = format!("{{\"type\":\"Point\",\"coordinates\":[0,{number}]}}");
        assert!(!survive(GEOJSON, json.as_bytes()), "{number}");
    }
    // As small as nothing, but a number.
    assert!(survive(CSV, b"lat,lon\n1e-999,0\n"));
}

#[test]
fn more_nodes_than_a_world_holds_are_refused() {
    let mut csv = "lat,lon\n".to_owned();
    csv += &"1,2\n".repeat(100_001);
    refused(CSV, csv.as_bytes(), &["line 100002", "up to 100000"]);
    let point = "{\"type\":\"Point\",\"coordinates\":[1,2]}";
    let features = format!("{{\"type\":\"Feature\",\"properties\":{{}},\"geometry\":{point}}},")
        .repeat(100_001);
    let json = format!(
        "{{\"type\":\"FeatureCollection\",\"features\":[{}]}}",
        features.trim_end_matches(',')
    );
    refused(GEOJSON, json.as_bytes(), &["features[100000]", "up to 100000"]);
}

#[test]
fn notes_are_bounded() {
    let mut header = "lat,lon".to_owned();
    for column in 0..900 {
        header += &format!(",c{column}");
    }
    let (_, report) = super::plan_of(CSV, &header);
    assert_eq!((report.notes.len(), report.more), (64, 838));
    let much = "x".repeat(1_000_000);
    let long = format!(
        "{{\"type\":\"Feature\",\"properties\":{{\"{much}\":1,\"role\":\"{much}\"}},\"geometry\":{{\"type\":\"Point\",\"coordinates\":[1,2]}}}}"
    );
    let error = refused(GEOJSON, long.as_bytes(), &["role"]);
    assert!(error.to_string().len() < 500);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bytes changed, taken out and doubled.
    #[test]
    fn damaged_documents_give_errors(
        plan in plans::plan(),
        which in 0..5_usize,
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..8),
    ) {
        let format = PLAN_FORMATS[which];
        let mut bytes = written(format, &plan);
        for (at, byte, how) in hits {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => { bytes.remove(at); }
                _ => bytes.insert(at, byte),
            }
            if bytes.is_empty() { break; }
        }
        survive(format, &bytes);
    }

    #[test]
    fn random_bytes_give_errors(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for format in PLAN_FORMATS {
            survive(format, &bytes);
        }
    }

    /// Pieces of the grammars in any order.
    #[test]
    fn pieces_of_documents_give_errors_or_data(pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..40)) {
        let text = pieces.concat();
        for format in PLAN_FORMATS {
            survive(format, text.as_bytes());
        }
    }
}

const PIECES: [&str; 44] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"type\"",
    "\"FeatureCollection\"",
    "\"features\"",
    "\"Feature\"",
    "\"geometry\"",
    "\"Point\"",
    "\"coordinates\"",
    "\"properties\"",
    "null",
    "1e9",
    "-0",
    "<kml>",
    "</kml>",
    "<Placemark>",
    "</Placemark>",
    "<Point>",
    "</Point>",
    "<coordinates>",
    "</coordinates>",
    "11,57",
    "<![CDATA[",
    "]]>",
    "&amp;",
    "&#0;",
    "&x;",
    "<!--",
    "-->",
    "<?",
    "?>",
    "<!DOCTYPE",
    "lat",
    "lon",
    "\n",
    ";",
    "\"",
    "[[node]]",
    "name = ",
    "[scenario]",
];
