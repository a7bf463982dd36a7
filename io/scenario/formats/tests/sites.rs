//! Lists of sites of other programs: way points, site files, tables whose heights and order of axes their
//! headers state.

use std::path::Path;

use groundwave_model::radio::Climate;
use groundwave_propagation::polarization::Polarization;

use super::super::{Content, Format, ReadOptions, Source, gpx, identify, qth};
use super::{CSV, assert_notes, count, dataset, defaults, plan_of, read, refused};

const QTH: &Format = &qth::FORMAT;
const GPX: &Format = &gpx::FORMAT;

#[test]
fn site_files_give_longitudes_westwards_and_heights_in_feet_or_metres() {
    for (text, expected) in [
        ("WNJT-DT\n40.2828\n74.6864\n990.00\n", (40.2828, -74.6864, 990.0 * 0.3048)),
        ("Bohus\n57 51 30\n348 0 0\n30 m\n", (57.858_333_333_333_334, 12.0, 30.0)),
        ("Save\n57.78\n-11.88\n12.5 meters\n", (57.78, 11.88, 12.5)),
        ("South\n-33 30 0.0\n289.25\n100 ft\n", (-33.5, 70.75, 30.48)),
        ("Ground\n57.7\n-11.9\n", (57.7, 11.9, 0.0)),
    ] {
        let (plan, notes) = plan_of(QTH, text);
        let node = &plan.nodes[0];
        let (at, height_agl_m) = (node.position, node.station.height_agl_m);
        let (lat_deg, lon_deg, height_m) = expected;
        assert!((at.lat_deg() - lat_deg).abs() < 1e-9, "{text}: {at:?}");
        assert!((at.lon_deg() - lon_deg).abs() < 1e-9, "{text}: {at:?}");
        assert!((height_agl_m - height_m).abs() < 1e-9, "{text}: {height_agl_m}");
        assert_eq!(node.name, text.lines().next().unwrap());
        assert_notes(&notes, &["longitude counted westwards"]);
        // Recognised without its ending too.
        assert_eq!(identify(&Source::of(text.into())).unwrap().name, "qth", "{text}");
    }
    let folder: [&[u8]; 2] = [b"a\n57.7\n-11.9\n10\n", b"b\n57.8\n-11.9\n20 m\n"];
    let (plan, _) = dataset(QTH, &folder).unwrap().into_plan(QTH, &defaults()).unwrap();
    assert_eq!(plan.nodes.len(), 2);
}

#[test]
fn site_files_have_commas_letters_and_whole_positions() {
    for (text, (lat_deg, lon_deg, height_m), is_westward) in [
        ("Comma\n57,7142\n-11,9367\n12,5 m\n", (57.7142, 11.9367, 12.5), true),
        ("Comma\n57 42,852\n-11 56,202\n10 m\n", (57.7142, 11.9367, 10.0), true),
        ("Letters\n33.8688 S\n151.2093 E\n10 m\n", (-33.8688, 151.2093, 10.0), false),
        ("Letters\nN57.7142\n11.9367W\n10 m\n", (57.7142, -11.9367, 10.0), false),
        ("Marks\n57°42′51.12″\n11°56′12.12″\n10 m\n", (57.7142, -11.9367, 10.0), true),
        ("Mast 1\n32V 674934.5 6400683.5\n30 m\n", (57.7142, 11.9367, 30.0), false),
        ("Mast 2\n32VPK7493400683\n100\n", (57.7142, 11.9367, 30.48), false),
        ("Mast 3\nPOINT(11.9367 57.7142)\n30 m\n", (57.7142, 11.9367, 30.0), false),
    ] {
        let (plan, notes) = plan_of(QTH, text);
        let node = &plan.nodes[0];
        let (at, height_agl_m) = (node.position, node.station.height_agl_m);
        assert!((at.lat_deg() - lat_deg).abs() < 2e-5, "{text}: {at:?}");
        assert!((at.lon_deg() - lon_deg).abs() < 2e-5, "{text}: {at:?}");
        assert!((height_agl_m - height_m).abs() < 1e-9, "{text}: {height_agl_m}");
        assert_eq!(count(&notes, "longitude counted westwards") == 1, is_westward, "{text}");
        assert_eq!(identify(&Source::of(text.into())).unwrap().name, "qth", "{text}");
    }
    for (text, parts) in [
        ("a\n32V 50000 6400683\n30 m\n", &["line 2", "an easting of 100000"][..]),
        ("a\n57.7\n11.9 N\n10\n", &["line 3", "degrees, minutes and seconds", "UTM"]),
        ("a\n57 42 51 11 56 12\n10\n", &["line 2", "a whole position has letters"]),
        ("a\n57,75,3\n-11.9\n10\n", &["line 2", "degrees"]),
    ] {
        refused(QTH, text.as_bytes(), parts);
    }
}

#[test]
fn tables_have_positions_in_columns_of_utm() {
    let near = |text: &str, lat_deg: f64, lon_deg: f64| {
        let (plan, _) = plan_of(CSV, text);
        let at = plan.nodes[0].position;
        let is_near =
            (at.lat_deg() - lat_deg).abs() < 1e-4 && (at.lon_deg() - lon_deg).abs() < 1e-4;
        assert!(is_near, "{text}: {at:?}");
        assert_eq!(identify(&Source::of(text.into())).unwrap().name, "csv", "{text}");
    };
    for text in [
        "name,zone,easting,northing\na,32V,674934.0,6400683.2\n",
        "name;UTM Zone;Hemisphere;Easting (m);Northing (m)\na;32;N;674934,0;6400683,2\n",
        "name,x,y,zone\na,674934.0,6400683.2,32N\n",
        "name,utm\na,32V 674934.0 6400683.2\n",
    ] {
        near(text, 57.7142, 11.9367);
    }
    near("site,utm_zone,utm_e,utm_n\nb,56H,334369,6250948\n", -33.8688, 151.2093);
    // Degrees go first, whatever stands beside them.
    near("name,lat,lon,zone,easting,northing\na,57.7,11.9,32V,1,2\n", 57.7, 11.9);
    let (plan, notes) =
        plan_of(CSV, "name,zone,easting,northing\na,32V,674955,6400293\nb,32,674955,6400293\n");
    assert_eq!(plan.nodes.len(), 1);
    assert_notes(&notes, &["such as 32V or 32N"]);
    for (text, parts) in [
        ("name,easting,northing\na,674955,6400293\n", &["a column zone", "32V"][..]),
        ("name,zone,easting,northing\na,32V,57.7,11.9\n", &["line 2: zone", "an easting of"]),
        ("name,zone,easting,northing\na,32V,far,6400293\n", &["line 2: easting", "metres"]),
        ("name,zone,easting,northing\na,18S,323394,4307395\n", &["line 2: zone", "a hemisphere"]),
        ("name,zone\na,32V\n", &["lat and lon, or zone, easting and northing"]),
    ] {
        refused(CSV, text.as_bytes(), parts);
    }
}

#[test]
fn tables_have_positions_as_well_known_text() {
    for (header, cell) in [
        ("wkt", "POINT(11.9 57.7)"),
        ("geometry", "POINT Z (11.9 57.7 20)"),
        ("the_geom", "SRID=4326;POINT(11.9 57.7)"),
        ("position", "\"POINT(11,9 57,7)\""),
        ("lon_lat", "POINT(11.9 57.7)"),
    ] {
        let (plan, _) = plan_of(CSV, &format!("name,{header}\na,{cell}\n"));
        let at = plan.nodes[0].position;
        assert_eq!((at.lat_deg(), at.lon_deg()), (57.7, 11.9), "{header}: {cell}");
    }
    for (cell, part) in [
        ("LINESTRING(11.9 57.7)", "longitude first"),
        ("SRID=3006;POINT(319000 6400000)", "SRID=4326"),
        ("POINT(57.7 111.9)", "swapped"),
    ] {
        refused(CSV, format!("name,wkt\na,{cell}\n").as_bytes(), &["line 2: wkt", part]);
    }
    // A second spelling of the position is dropped.
    let (plan, notes) = plan_of(CSV, "name,wkt,plus_code\na,POINT(11.9 57.7),9F9HPW7P+MM\n");
    assert_eq!(plan.nodes[0].position.lat_deg(), 57.7);
    assert_notes(&notes, &["\"plus_code\""]);
}

#[test]
fn site_files_at_fault_name_line_and_what_is_allowed() {
    let cases: [(&str, &[&str]); 5] = [
        ("a\n57.7\n", &["found 2 lines", "a line each"]),
        ("a\nnorth\n-11.9\n10\n", &["line 2", "\"north\"", "degrees, minutes and seconds"]),
        ("a\n57 61\n-11.9\n10\n", &["line 2", "degrees, minutes and seconds"]),
        ("a\n57.7\n-11.9\nhigh\n", &["line 4", "\"high\"", "feet"]),
        ("a\n97.7\n-11.9\n10\n", &["lat", "97.7", "-90 to 90"]),
    ];
    for (text, parts) in cases {
        refused(QTH, text.as_bytes(), parts);
    }
}

const WAY_POINTS: &str = r#"<gpx version="1.1"><wpt lat="57.70" lon="11.90"><ele>120</ele><name>Mast</name></wpt>
<wpt lat="57.71" lon="11.91"><name>Mast</name><sym>Flag</sym></wpt><wpt lat="57.72" lon="11.92"/>
<wpt lat="97" lon="11.92"/><rte><rtept lat="57.7" lon="11.9"/></rte></gpx>"#;

#[test]
fn way_points_without_tracks_are_sites_with_names_of_their_own() {
    assert!(GPX.holds(Content::Positions));
    let (plan, notes) = read(GPX, WAY_POINTS.as_bytes(), &defaults()).unwrap();
    let names: Vec<&str> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["Mast", "Mast 2", "way point 3"]);
    let at = plan.nodes[1].position;
    assert_eq!((at.lat_deg(), at.lon_deg()), (57.71, 11.91));
    // An altitude is not a height above ground: the default station's is taken.
    assert_eq!(plan.nodes[0].station.height_agl_m, 7.25);
    assert_notes(
        &notes,
        &[
            "the elevation of a way point: that of the ground counts",
            "invalid latitude or longitude",
            "a route point: not used",
            "a name that another node has: numbered",
        ],
    );
}

#[test]
fn heights_keep_unit_and_datum_of_their_header() {
    for (header, cell, expected_m, note) in [
        ("antenna height (m)", "12.5", 12.5, "without a datum is taken as m above ground"),
        ("Antenna Height [meters]", "12.5", 12.5, "without a datum is taken as m above ground"),
        ("Tower Height (ft)", "100", 30.48, "heights in feet: converted to metres"),
        ("tower_height_feet", "100", 30.48, "heights in feet: converted to metres"),
        ("Height above ground (m)", "9", 9.0, ""),
        ("Antenna Height AGL (ft)", "100", 30.48, "heights in feet: converted to metres"),
        ("alt", "12", 7.25, "\"alt\" is not a height above ground: dropped"),
    ] {
        let (plan, notes) = plan_of(CSV, &format!("lat,lon,{header}\n57,11,{cell}\n"));
        let height_agl_m = plan.nodes[0].station.height_agl_m;
        assert!((height_agl_m - expected_m).abs() < 1e-9, "{header}: {height_agl_m}");
        assert_notes(&notes, &[note]);
    }
}

#[test]
fn alt_of_cloud_rf_is_the_height_above_ground() {
    for (header, expected_m) in [("alt", 15.0), ("Alt (ft)", 4.572)] {
        let text = format!("nam,lat,lon,{header},frq,txw\nBohus,57.86,11.99,15,868,0.1\n");
        let (plan, notes) = plan_of(CSV, &text);
        let node = &plan.nodes[0];
        assert_eq!((node.name.as_str(), node.station.radio.frequency_mhz), ("Bohus", 868.0));
        assert!((node.station.height_agl_m - expected_m).abs() < 1e-9, "{header}");
        assert!((node.station.radio.tx_power_dbm - 20.0).abs() < 1e-9);
        assert_notes(&notes, &["alt of a table of CloudRF", "units of \"txw\": converted"]);
    }
}

#[test]
fn header_of_one_column_states_the_order_of_its_axes() {
    for (header, cell) in [
        ("coordinates", "57.7 11.9"),
        ("\"lon,lat\"", "\"11.9,57.7\""),
        ("\"Longitude, Latitude\"", "\"11.9, 57.7\""),
        ("lon_lat", "11.9 57.7"),
        ("lon_lat", "57.7N 11.9E"),
    ] {
        let (plan, _) = plan_of(CSV, &format!("name,{header}\na,{cell}\n"));
        let at = plan.nodes[0].position;
        assert_eq!((at.lat_deg(), at.lon_deg()), (57.7, 11.9), "{header}");
    }
    refused(CSV, b"name,lon_lat\na,11.9 57.7 30\n", &["line 2: lon_lat", "longitude and latitude"]);
}

#[test]
fn a_position_at_the_origin_is_noted() {
    let (plan, notes) = plan_of(CSV, "name,lat,lon,height_agl_m\na,57,11,5\nb,0,0,5\n");
    assert_eq!(plan.nodes.len(), 2);
    assert_notes(&notes, &["a node at 0 N 0 E: a position that is missing?"]);
}

/// A folder as SPLAT! has it: a transmitter with all its files, a receiver, one document of another kind.
fn splat_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let parameters = "15.000 ; Earth Dielectric Constant\n0.005\n301.000\n868.000 ; MHz\n6 ; climate\n\
                      0 ; horizontal\n0.50\n0.90 ; of time\n10.0 ; ERP in watts\n";
    for (name, text) in [
        ("hill.az", "0.0\n0\t1.0\n90\t0.5\n180\t0.1\n270\t0.5\n"),
        ("hill.el", "0.0\t0.0\n-10\t0.2\n0\t1.0\n10\t0.8\n"),
        ("hill.lrp", parameters),
        ("hill.qth", "Hill\n57.75\n348.05\n30 m\n"),
        ("rx.qth", "Rx\n57.70\n348.07\n10 m\n"),
        ("notes.txt", "of another kind"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn files_beside_a_site_of_splat_are_read_with_it() {
    let folder = splat_folder();
    let plan = |path: &Path| {
        let source = Source::open(path).unwrap();
        assert_eq!(identify(&source).unwrap().name, "qth", "{}", path.display());
        let dataset = QTH.read(&source, &ReadOptions::new(defaults())).unwrap();
        dataset.into_plan(QTH, &defaults()).unwrap()
    };
    for path in [folder.path().to_owned(), folder.path().join("hill.qth")] {
        let (plan, notes) = plan(&path);
        let hill = &plan.nodes[0].station;
        assert_eq!(hill.radio.frequency_mhz, 868.0);
        // 10 W over a half-wave dipole.
        let eirp_dbm = hill.radio.tx_power_dbm + hill.antenna.gain_dbi - hill.radio.feeder_loss_db;
        assert!((eirp_dbm - 42.15).abs() < 1e-9, "{eirp_dbm}");
        assert_eq!(hill.antenna.polarization, Polarization::Horizontal);
        assert!(hill.antenna.pattern.is_some());
        assert_eq!(hill.pointing.map(|pointing| pointing.azimuth_deg), Some(0.0));
        let environment = &plan.outline.environment;
        assert_eq!(environment.time_percent, 90.0);
        assert_eq!(environment.climate, Climate::MaritimeTemperateLand);
        assert_notes(&notes, &["antenna pattern beside the site", "radio parameters", "radiated"]);
    }
    let (plan, notes) = plan(folder.path());
    // The receiver has the frequency of its transmitter, and the power of the default station.
    let receiver = &plan.nodes[1].station;
    assert_eq!(receiver.radio.frequency_mhz, 868.0);
    assert_eq!(receiver.radio.tx_power_dbm, defaults().radio.tx_power_dbm);
    assert!(receiver.antenna.pattern.is_none());
    assert_eq!(count(&notes, "not SPLAT! site: not read"), 1, "{notes}");
}

#[test]
fn files_beside_a_site_at_fault_or_alone_give_errors() {
    let folder = splat_folder();
    let error = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        let source = Source::open(&folder.path().join("hill.qth")).unwrap();
        let dataset = QTH.read(&source, &ReadOptions::new(defaults()));
        dataset.err().unwrap().to_string()
    };
    let whole = "15\n0.005\n301\n868\n5\n1\n0.5\n0.9\n";
    for (text, parts) in [
        ("15\n0.005\n", &["hill.lrp", "2 values", "8 or 9"][..]),
        (&whole.replace("868", "fast"), &["line 4", "\"fast\"", "20 to 20000"]),
        (&whole.replace("\n5\n", "\n8\n"), &["line 5", "\"8\"", "1 to 7"]),
        (&whole.replace("\n1\n", "\n0.5\n"), &["line 6", "a whole number"]),
    ] {
        let message = error("hill.lrp", text);
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
    std::fs::write(folder.path().join("hill.lrp"), whole).unwrap();
    let message = error("hill.az", "0.0\n0\t7\n90\t0.5\n");
    assert!(message.contains("hill.az"), "{message}");
    for name in ["hill.el", "hill.lrp"] {
        let source = Source::open(&folder.path().join(name)).unwrap();
        let message = identify(&source).unwrap_err().to_string();
        assert!(message.contains("beside") && message.contains(".qth"), "{message}");
    }
}
