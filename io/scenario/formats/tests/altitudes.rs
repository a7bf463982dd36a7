//! Altitudes with their datum, over ground that is not level.

use std::sync::Arc;

use groundwave_model::sample::station;
use groundwave_model::terrain::{GeoPoint, Terrain, TerrainSource, TerrainUse};

use super::super::csv::tracks;
use super::super::{
    Dataset, Datum, Event, Format, Height, ReadOptions, Source, eel, gpx, kml_tracks,
};
use super::super::{nmea, sumo};
use super::courses::same_over;
use super::{CSV, GEOJSON, KML, SCENARIO, count, defaults, read, written};

/// Ground of 100 m south of 57.705 N and of 300 m north of it; unknown from 58 N on. Its geoid is 35 m above the
/// ellipsoid.
struct Step {
    has_geoid: bool,
}

impl Terrain for Step {
    fn sample(&self, lat_deg: &[f64], _: &[f64], elevation_msl_m: &mut [f64]) -> TerrainUse {
        for (lat_deg, elevation_m) in lat_deg.iter().zip(elevation_msl_m) {
            *elevation_m = match *lat_deg {
                lat_deg if lat_deg >= 58.0 => f64::NAN,
                lat_deg if lat_deg > 57.705 => 300.0,
                _ => 100.0,
            };
        }
        TerrainUse::default()
    }

    fn undulation_m(&self, _: GeoPoint) -> f64 {
        if self.has_geoid { 35.0 } else { 0.0 }
    }

    fn has_geoid(&self) -> bool {
        self.has_geoid
    }

    fn resolution_arcsec(&self, _: GeoPoint) -> Option<f64> {
        Some(1.0)
    }

    fn describe(&self) -> TerrainSource {
        TerrainSource::default()
    }
}

fn step() -> Arc<dyn Terrain> {
    Arc::new(Step { has_geoid: true })
}

fn taken(format: &Format, text: &str) -> Dataset {
    let mut options = ReadOptions::new(station());
    options.origin = GeoPoint::new(57.7, 11.9).ok();
    let mut dataset = format.read(&Source::of(text.into()), &options).unwrap();
    dataset.heights_over_geoid(&*step());
    dataset
}

/// Heights of a document with their times, s.
fn heights(dataset: &Dataset) -> Vec<(f64, Height)> {
    let height = |(at_s, event): &(f64, Event)| match event {
        Event::Height(_, height) => Some((*at_s - dataset.begin_unix_s.unwrap_or(0.0), *height)),
        _ => None,
    };
    dataset.events.iter().filter_map(height).collect()
}

#[test]
fn flight_keeps_its_height_above_the_sea_over_the_ground_in_log_and_scenario() {
    let text = "0 nem:1 location gps 57.70,11.9,500,msl\n10 nem:1 location gps 57.71,11.9,700\n";
    let states = same_over(&step(), || taken(&eel::FORMAT, text), &eel::FORMAT);
    let height_m = |tick: usize| states[tick]["nem-1"].1;
    // 540 m over 100 m, 660 m over 300 m.
    assert!((height_m(0) - 400.0).abs() < 1e-6, "{}", height_m(0));
    assert!((height_m(2) - 440.0).abs() < 1e-6, "{}", height_m(2));
    assert!((height_m(8) - 360.0).abs() < 1e-6, "{}", height_m(8));
    assert!((height_m(10) - 400.0).abs() < 1e-6, "{}", height_m(10));
    // A height above ground in between is taken as such.
    let text = "0 nem:1 location gps 57.70,11.9,500,msl\n5 nem:1 location gps 57.705,11.9,50,agl\n\
                10 nem:1 location gps 57.71,11.9,50,agl\n";
    let states = same_over(&step(), || taken(&eel::FORMAT, text), &eel::FORMAT);
    assert!((states[5]["nem-1"].1 - 50.0).abs() < 1e-6);
    // A node that stands.
    let text = "0 nem:1 location gps 57.70,11.9,130\n9 nem:2 location gps 57.71,11.9,310\n";
    let states = same_over(&step(), || taken(&eel::FORMAT, text), &eel::FORMAT);
    assert_eq!((states[3]["nem-1"].1, states[3]["nem-2"].1), (30.0, 10.0));
}

#[test]
fn readers_state_the_datum_of_their_altitudes() {
    let sea = |values: &[(f64, f64)]| {
        values.iter().map(|(at_s, m)| (*at_s, Height::Sea(*m))).collect::<Vec<_>>()
    };
    // The geoid is 35 m above the ellipsoid.
    let text = "0 nem:1 location gps 57.7,11.9,535,hae\n";
    assert_eq!(heights(&taken(&eel::FORMAT, text)), sea(&[(0.0, 500.0)]));
    let gpx = "<gpx><trk><trkseg><trkpt lat=\"57.7\" lon=\"11.9\"><ele>120.5</ele>\
               <time>2022-08-18T08:00:00Z</time></trkpt><trkpt lat=\"57.71\" lon=\"11.9\">\
               <time>2022-08-18T08:00:10Z</time></trkpt></trkseg></trk></gpx>";
    assert_eq!(heights(&taken(&gpx::FORMAT, gpx)), sea(&[(0.0, 120.5)]));
    let line = "GPGGA,100000.00,5742.000,N,01154.000,E,1,08,0.9,45.5,M,35,M,,";
    let sum = line.bytes().fold(0, |sum, byte| sum ^ byte);
    let altitudes = heights(&taken(&nmea::FORMAT, &format!("${line}*{sum:02X}\n")));
    assert_eq!(altitudes.iter().map(|height| height.1).collect::<Vec<_>>(), [Height::Sea(45.5)]);
    let track = |mode: &str| {
        format!(
            "<kml xmlns:gx=\"x\"><Placemark><gx:Track><altitudeMode>{mode}</altitudeMode>\
             <when>2022-08-18T08:00:00Z</when><gx:coord>11.9 57.7 150</gx:coord>\
             <when>2022-08-18T08:00:05Z</when><gx:coord>11.9 57.7 160</gx:coord></gx:Track></Placemark></kml>"
        )
    };
    let absolute = taken(&kml_tracks::FORMAT, &track("absolute"));
    assert_eq!(heights(&absolute), sea(&[(0.0, 150.0), (5.0, 160.0)]));
    let relative = heights(&taken(&kml_tracks::FORMAT, &track("relativeToGround")));
    assert_eq!(relative[1].1, Height::Ground(160.0));
    // The antenna of a vehicle is above it.
    let fcd = "<fcd-export><timestep time=\"0\"><vehicle id=\"a\" x=\"1\" y=\"2\" z=\"130\"/></timestep>\
               <timestep time=\"1\"><vehicle id=\"a\" x=\"9\" y=\"2\" z=\"131\"/></timestep></fcd-export>";
    let default_m = station().height_agl_m;
    let expected = sea(&[(0.0, 130.0 + default_m), (1.0, 131.0 + default_m)]);
    assert_eq!(heights(&taken(&sumo::FORMAT, fcd)), expected);
    for (column, cell, expected) in [
        ("altitude", "412", Height::Sea(412.0)),
        ("height_msl_m", "412", Height::Sea(412.0)),
        ("hae_m", "447", Height::Sea(412.0)),
        ("height_agl_m", "12", Height::Ground(12.0)),
    ] {
        let table =
            format!("time,node,lat,lon,{column}\n0,a,57.7,11.9,{cell}\n1,a,57.7,11.9,{cell}\n");
        let altitudes = heights(&taken(&tracks::FORMAT, &table));
        assert!(
            altitudes.iter().all(|height| height.1 == expected) && altitudes.len() == 2,
            "{column}: {altitudes:?}"
        );
    }
}

#[test]
fn heights_that_the_ground_does_not_fit_are_noted_and_may_be_left_out() {
    let text = "0 nem:1 location gps 57.70,11.9,60\n5 nem:1 location gps 57.71,11.9,310\n\
                0 nem:2 location gps 58.5,11.9,20\n";
    let mut recording = taken(&eel::FORMAT, text);
    recording.note_ground(&*step());
    let report = &recording.report;
    assert_eq!(count(report, "below the ground (by up to 40 m)"), 1, "{report}");
    assert_eq!(count(report, "where the ground is unknown"), 1, "{report}");
    let states = same_over(&step(), || taken(&eel::FORMAT, text), &eel::FORMAT);
    assert_eq!((states[0]["nem-1"].1, states[0]["nem-2"].1), (0.0, 20.0));
    let options = ReadOptions { drop_altitudes: true, ..ReadOptions::new(station()) };
    let without = eel::FORMAT.read(&Source::of(text.into()), &options).unwrap();
    assert_eq!((heights(&without).len(), count(&without.report, "an altitude: left out")), (0, 3));
    // Without a geoid, heights above the ellipsoid mean nothing.
    let mut options = ReadOptions::new(station());
    options.origin = None;
    let hae = "0 nem:1 location gps 57.7,11.9,535,hae\n";
    let mut recording = eel::FORMAT.read(&Source::of(hae.into()), &options).unwrap();
    recording.heights_over_geoid(&Step { has_geoid: false });
    assert_eq!((heights(&recording).len(), count(&recording.report, "without a geoid")), (0, 1));
}

#[test]
fn plans_keep_heights_above_the_sea_until_the_ground_is_there() {
    let table =
        "name,lat,lon,height_msl_m\nmast,57.70,11.9,130\nhill,57.71,11.9,290\nfar,58.5,11.9,9\n";
    let (plan, _) = read(CSV, table.as_bytes(), &defaults()).unwrap();
    for format in [CSV, GEOJSON, KML, SCENARIO] {
        let (again, notes) = read(format, &written(format, &plan), &defaults()).unwrap();
        let heights: Vec<_> = again.nodes.iter().map(|node| node.height_msl_m).collect();
        assert_eq!(heights, [Some(130.0), Some(290.0), Some(9.0)], "{format}: {notes}");
        assert_eq!(count(&notes, "no height above ground"), 0, "{format}");
    }
    let (mut plan, mut report) = read(CSV, table.as_bytes(), &defaults()).unwrap();
    plan.settle_heights(&mut report, |at| step().elevation_msl_m(at));
    let heights: Vec<_> = plan.nodes.iter().map(|node| node.station.height_agl_m).collect();
    assert_eq!(heights, [30.0, 0.0, 9.0]);
    assert!(plan.nodes.iter().all(|node| node.height_msl_m.is_none()));
    assert_eq!(count(&report, "below the ground (by up to 10 m)"), 1, "{report}");
    assert_eq!(count(&report, "where the ground is unknown"), 1, "{report}");
    let (plan, notes) =
        read(CSV, b"lat,lon,height_agl_m,amsl\n57,11,12,400\n", &defaults()).unwrap();
    assert_eq!((plan.nodes[0].station.height_agl_m, plan.nodes[0].height_msl_m), (12.0, None));
    assert_eq!(count(&notes, "beside one above ground"), 1, "{notes}");
}

#[test]
fn heights_without_a_datum_have_that_of_the_options() {
    let table = "time,node,lat,lon,height_ft\n0,a,57.7,11.9,100\n1,a,57.7,11.9,100\n";
    let eel_line = "0 nem:1 location gps 57.7,11.9,30.48\n";
    let kml = "<kml xmlns:gx=\"x\"><Placemark><gx:Track><when>2022-08-18T08:00:00Z</when>\
               <gx:coord>11.9 57.7 30.48</gx:coord></gx:Track></Placemark></kml>";
    for (format, text, usual) in [
        (&tracks::FORMAT, table, None),
        (&eel::FORMAT, eel_line, Some(Height::Sea(30.48))),
        (&kml_tracks::FORMAT, kml, None),
    ] {
        let read = |datum: Option<Datum>| {
            let options = ReadOptions { datum, ..ReadOptions::new(station()) };
            format.read(&Source::of(text.into()), &options).unwrap()
        };
        let of = |dataset: &Dataset| heights(dataset).first().map(|height| height.1);
        assert_eq!(of(&read(None)), usual, "{format}");
        assert_eq!(count(&read(None).report, "--datum"), usize::from(usual.is_none()), "{format}");
        for (name, expected) in [
            ("agl", Height::Ground(30.48)),
            ("msl", Height::Sea(30.48)),
            ("hae", Height::Ellipsoid(30.48)),
        ] {
            let dataset = read(Datum::named(name));
            assert_eq!(of(&dataset), Some(expected), "{format} {name}");
            assert_eq!(count(&dataset.report, "--datum"), 0, "{format} {name}");
        }
    }
    // A stated datum stays.
    let options = ReadOptions { datum: Some(Datum::Ground), ..ReadOptions::new(station()) };
    let stated = Source::of(b"0 nem:1 location gps 57.7,11.9,500,msl\n".to_vec());
    let stated = eel::FORMAT.read(&stated, &options).unwrap();
    assert_eq!(heights(&stated)[0].1, Height::Sea(500.0));
}

#[test]
fn vehicles_have_the_same_heights_in_xml_and_tables_of_sumo() {
    let xml = "<fcd-export><timestep time=\"0\"><vehicle id=\"a\" x=\"1\" y=\"2\" z=\"130\"/></timestep></fcd-export>";
    let table = "timestep_time;vehicle_id;vehicle_x;vehicle_y;vehicle_z\n0;a;1;2;130\n";
    let expected = [(0.0, Height::Sea(130.0 + station().height_agl_m))];
    assert_eq!(heights(&taken(&sumo::FORMAT, xml)), expected);
    assert_eq!(heights(&taken(&tracks::FORMAT, table)), expected);
}
