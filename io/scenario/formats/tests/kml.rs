//! KML and KMZ of others, and at fault.

use std::io::{Cursor, Read, Write};

use groundwave_model::radio::Role;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::{KML, KMZ, assert_notes, defaults, fixture_text, plan_of, read, refused, written};

/// A document with one placemark.
fn with(inside: &str) -> String {
    format!("<kml><Document><name>d</name>\n<Placemark>{inside}</Placemark></Document></kml>")
}

/// The same with a point.
fn at(coordinates: &str) -> String {
    with(&format!("<Point><coordinates>{coordinates}</coordinates></Point>"))
}

pub(super) fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn placemarks_of_others_become_nodes() {
    let (plan, notes) = plan_of(KML, &fixture_text("foreign.kml"));
    let names: Vec<&str> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
    let expect = ["Öckerö <north>", "Tower & mast 1", "Tower & mast 2", "node 4"];
    assert_eq!(names, expect);
    assert_eq!(plan.outline.name, "Sites & paths");
    let island = &plan.nodes[0];
    assert_eq!((island.position.lat_deg(), island.position.lon_deg()), (57.71, 11.65));
    assert_eq!(island.station.height_agl_m, 18.5);
    assert_eq!(island.station.radio, defaults().radio);
    let tower = &plan.nodes[2];
    assert_eq!((tower.role, tower.station.height_agl_m), (Role::Sensor, 42.0));
    assert_eq!(tower.station.radio.frequency_mhz, 900.0);
    assert_eq!(plan.nodes[3].station.height_agl_m, 7.25);
    let rings: Vec<usize> = plan.outline.region.unwrap().rings().iter().map(Vec::len).collect();
    assert_eq!(rings, [5, 4]);
    assert_notes(
        &notes,
        &[
            "folders are not kept: their placemarks are (2 times, first at line 11: Folder)",
            "element \"author\" is not used",
            "element \"description\" is not used: dropped (line 15: Placemark[0].description)",
            "element \"NetworkLink\" is not used",
            "datum \"owner\" is not used: dropped (2 times",
            "altitude with the mode \"relativeToSeaFloor\" is not a height above ground",
            "a line between two nodes: a link, which a plan computes itself",
            "Track is not a node",
            "several points in one placemark",
            "parts of a radio: completed",
            "the first polygon is taken as the region",
        ],
    );
}

#[test]
fn faults_have_their_place() {
    let cases: [(String, &[&str]); 12] = [
        (at("57.7,111,0"), &["line 2: Placemark[0].Point.coordinates", "111", "may be swapped"]),
        (at("11.9"), &["\"11.9\"", "longitude,latitude"]),
        (at(""), &["\"\"", "longitude,latitude"]),
        (at("nan,57"), &["\"nan\"", "a finite number"]),
        (at("11,57,1e999"), &["a finite number"]),
        (
            with("<name>a&#7;b</name><Point><coordinates>11,57</coordinates></Point>"),
            &["Placemark[0].name", "control character"],
        ),
        (with("<name>&lol;</name>"), &["the entity \"lol\"", "amp, lt, gt"]),
        (
            with(
                "<Point><altitudeMode>relativeToGround</altitudeMode><coordinates>11,57,-3</coordinates></Point>",
            ),
            &["height_agl_m", "-3"],
        ),
        (with("<a></b>"), &["well-formed XML"]),
        ("<html><body/></html>".to_owned(), &["\"html\"", "kml, Document"]),
        ("<kml><Document>".to_owned(), &["the end of the document"]),
        (String::new(), &["the end of the document"]),
    ];
    for (text, says) in &cases {
        refused(KML, text.as_bytes(), says);
    }
}

#[test]
fn declared_entities_are_never_expanded() {
    let mut declared = "<!ENTITY a0 \"lol\">".to_owned();
    for level in 1..=40 {
        let before = format!("&a{};", level - 1).repeat(10);
        declared += &format!("<!ENTITY a{level} \"{before}\">");
    }
    let bomb = format!("<!DOCTYPE kml [{declared}]>{}", with("<name>&a40;</name>"));
    refused(KML, bomb.as_bytes(), &["the entity \"a40\""]);
    let file = "<!DOCTYPE kml [<!ENTITY f SYSTEM \"file:///etc/passwd\">]>".to_owned();
    refused(KML, (file + &with("<name>&f;</name>")).as_bytes(), &["the entity \"f\""]);
    let label = with("<ExtendedData><Data name=\"&f;\"/></ExtendedData>");
    refused(KML, label.as_bytes(), &["well-formed XML"]);
}

#[test]
fn a_kmz_holds_its_document_first() {
    let (plan, _) = plan_of(KML, &fixture_text("foreign.kml"));
    let bytes = written(KMZ, &plan);
    let mut zip = ZipArchive::new(Cursor::new(bytes)).unwrap();
    assert_eq!(zip.len(), 1);
    let mut text = String::new();
    let mut document = zip.by_index(0).unwrap();
    assert_eq!(document.name(), "doc.kml");
    document.read_to_string(&mut text).unwrap();
    for part in [
        "<name>Öckerö &lt;north&gt;</name>",
        "<styleUrl>#sensor</styleUrl>",
        "<Style id=\"sensor\"><IconStyle><color>ff42e4f0</color></IconStyle></Style>",
        "<coordinates>11.65,57.71,18.5</coordinates>",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn a_kmz_is_searched_for_its_document() {
    let good = at("11,57");
    let other = at("1,2");
    let read_lat = |files: &[(&str, &[u8])]| {
        let (plan, _) = read(KMZ, &zipped(files), &defaults()).unwrap();
        plan.nodes[0].position.lat_deg()
    };
    let (good, other) = (good.as_bytes(), other.as_bytes());
    assert_eq!(read_lat(&[("a.kml", other), ("doc.kml", good)]), 57.0);
    assert_eq!(read_lat(&[("x.png", b"."), ("sub/B.KML", good), ("c.kml", other)]), 57.0);
    refused(KMZ, &zipped(&[("x.png", b".")]), &["without KML", "doc.kml"]);
    refused(KMZ, good, &["a valid zip file"]);
    refused(KML, &zipped(&[("doc.kml", good)]), &["a zip file"]);
}

#[test]
fn zip_bombs_are_unpacked_no_further_than_the_bound() {
    let zeros = vec![b' '; 64 << 20];
    let bomb = zipped(&[("doc.kml", &zeros)]);
    assert!(bomb.len() < 100_000, "{}", bomb.len());
    refused(KMZ, &bomb, &["unpacks to more than", "400 times"]);
}

#[test]
fn line_between_two_nodes_is_a_link() {
    let mast = |lon: &str| {
        format!(
            "<Placemark><name>m</name><Point><coordinates>{lon},57</coordinates></Point></Placemark>"
        )
    };
    let line = |to: &str| {
        format!(
            "<Placemark><LineString><coordinates>11,57 {to},57</coordinates></LineString></Placemark>"
        )
    };
    let kml = format!(
        "<kml><Document>{}{}{}{}</Document></kml>",
        line("12"),
        mast("11"),
        mast("12"),
        line("13")
    );
    let (_, notes) = plan_of(KML, &kml);
    assert_notes(
        &notes,
        &[
            "a line between two nodes: a link, which a plan computes itself (",
            "LineString is not a node: dropped (",
        ],
    );
}
