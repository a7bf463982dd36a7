//! Documents of others: plans, tracks, maps, measurements.

use groundwave_fuzz::fuzz_target;
use groundwave_model::sample::station;
use groundwave_model::terrain::GeoPoint;
use groundwave_scenario::formats;
use groundwave_scenario::formats::{FORMATS, Format, ReadOptions, Source, csv, identify};

use super::{as_file, shipped, text};

/// Reads bytes with a format; a message of a refusal has no control characters.
fn read(format: &'static Format, bytes: &[u8]) {
    let options =
        ReadOptions { origin: GeoPoint::new(57.7, 11.9).ok(), ..ReadOptions::new(station()) };
    match format.read(&Source::of(bytes.to_vec()), &options) {
        Ok(dataset) => drop(dataset.into_plan(format, &station())),
        Err(error) => {
            let message = error.to_string();
            let bad = message.chars().any(|c| c.is_control() && c != '\n');
            assert!(!bad && !message.is_empty(), "{message:?}");
        }
    }
}

/// The format of this name.
fn named(name: &str) -> &'static Format {
    formats::by_name(name).unwrap_or_else(|| panic!("no format {name}"))
}

/// A plan written in a format, as a document of it.
fn written(name: &str) -> Vec<Vec<u8>> {
    let source = Source::of(shipped("tests/fixtures/exchange/foreign.kml"));
    let plan = named("kml").read(&source, &ReadOptions::new(station()));
    let (plan, _) = plan.unwrap().into_plan(named("kml"), &station()).unwrap();
    let mut bytes = Vec::new();
    let write = named(name).write_plan.expect("a format that is written");
    write(&plan, &mut bytes).unwrap();
    vec![bytes]
}

fuzz_target!(
    geojson,
    vec![shipped("examples/masts.geojson"), shipped("tests/fixtures/exchange/foreign.geojson")],
    |bytes: &[u8]| read(named("geojson"), bytes)
);
fuzz_target!(kml, vec![shipped("tests/fixtures/exchange/foreign.kml")], |bytes: &[u8]| read(
    named("kml"),
    bytes
));
fuzz_target!(kmz, written("kmz"), |bytes: &[u8]| read(named("kmz"), bytes));
fuzz_target!(
    csv_plan,
    vec![
        shipped("examples/masts.csv"),
        shipped("examples/links.csv"),
        shipped("tests/fixtures/exchange/foreign.csv"),
        b"nam,lat,lon,alt (ft),frq,txw\nBohus,57.86,11.99,15,868,0.1\n".to_vec(),
        b"name,lon_lat,Tower Height (ft)\na,11.9 57.7,100\n".to_vec()
    ],
    |bytes: &[u8]| read(named("csv"), bytes)
);
fuzz_target!(
    scenario,
    vec![
        shipped("scenarios/failover.toml"),
        shipped("scenarios/convoy.toml"),
        shipped("scenarios/coverage_grid.toml"),
        shipped("scenarios/ns2_platoon.toml")
    ],
    |bytes: &[u8]| {
        drop(groundwave_scenario::parse_alone(&text(bytes), "fuzz"));
        read(named("scenario"), bytes);
    }
);
fuzz_target!(eel, vec![shipped("examples/emane.eel")], |bytes: &[u8]| read(named("eel"), bytes));
fuzz_target!(gpx, vec![shipped("examples/walk.gpx")], |bytes: &[u8]| read(named("gpx"), bytes));
fuzz_target!(
    qth,
    vec![
        b"WNJT-DT\n40.2828\n74.6864\n990.00\n".to_vec(),
        b"Bohus\n57 51 30\n348 0 0\n30 m\n".to_vec()
    ],
    |bytes: &[u8]| read(named("qth"), bytes)
);
fuzz_target!(ns2, vec![shipped("scenarios/ns2_platoon.scen")], |bytes: &[u8]| read(
    named("ns2"),
    bytes
));
fuzz_target!(mahimahi, vec![b"0\n0\n3\n12\n40\n".to_vec()], |bytes: &[u8]| {
    read(named("mahimahi"), bytes);
    drop(groundwave_io_impair::mahimahi::rates(&text(bytes), 10));
});
fuzz_target!(maps, vec![shipped("examples/meshviewer.json")], |bytes: &[u8]| {
    for format in FORMATS {
        if format.extensions.contains(&"json") || format.name.starts_with("core") {
            read(format, bytes);
        }
    }
});
fuzz_target!(levels, vec![shipped("examples/levels.csv")], |bytes: &[u8]| {
    as_file("levels.toml", &shipped("examples/levels.toml"), |path| {
        if let Ok(mapping) = csv::levels::load(path) {
            let options = ReadOptions { mapping: Some(mapping), ..ReadOptions::new(station()) };
            drop(named("csv").read(&Source::of(bytes.to_vec()), &options));
        }
    });
});
fuzz_target!(
    sniffing,
    vec![
        shipped("examples/walk.gpx"),
        shipped("examples/masts.geojson"),
        shipped("examples/emane.eel"),
        shipped("examples/trace.down"),
        b"<fcd-export><timestep time=\"0.00\"><vehicle id=\"a\" x=\"1.00\" y=\"2.00\"/></timestep></fcd-export>".to_vec(),
        b"<kml><Placemark><name>a</name><Track><when>2022-08-18T08:00:00Z</when><coord>11.9 57.7 1</coord></Track>\
          </Placemark></kml>"
            .to_vec(),
        b"<mobility><position_change><node_id>1</node_id><start_time>0</start_time><end_time>1</end_time><destination>\
          <xpos>1</xpos><ypos>2</ypos></destination></position_change></mobility>"
            .to_vec(),
        b"0.0 1 2 3.5 4 5\n0.0 1 2 9 4 5\n".to_vec(),
        b"$GPRMC,080000.00,A,5742.000,N,01154.000,E,0,0,180822,,,A\n$GPGGA,080001,5742.1,N,01154.0,E,1,8,1,9,M,,M,,\n".to_vec(),
        b"[B.A.T.M.A.N. adv 2019.4, MainIF/MAC: wlan0/02:00:00:00:00:01 (bat0/aa BATMAN_IV)]\n \
          * 02:00:00:00:00:02    0.360s   (204) 02:00:00:00:00:02 [     wlan0]\n"
            .to_vec(),
        b"Table: Links\nLocal IP\tRemote IP\tHyst.\tLQ\tNLQ\tCost\n10.0.0.1\t10.0.0.2\t0.00\t0.9\t0.5\t2.2\n".to_vec(),
        b"{\"node\":\"A\",\"lat\":\"57.7\",\"lon\":\"11.9\",\"meshrf\":{},\"link_info\":{\"10.0.0.2\":{\"signal\":-70}}}".to_vec(),
        b"Nodes in mesh: {\"!0a\":{\"user\":{\"longName\":\"a\"},\"snr\":1.5}}".to_vec(),
        b"WigleWifi-1.4\nMAC,SSID,AuthMode,FirstSeen,Channel,RSSI,CurrentLatitude,CurrentLongitude,Type\n\
          aa,b,c,2022-08-18 08:00:00,6,-70,57.7,11.9,WIFI\n"
            .to_vec(),
        b"time,from,sender name,sender lat,sender long,rx lat,rx long,rx elevation,rx snr\n8:0:0,1,a,57,11,57,11,5,6\n".to_vec()
    ],
    |bytes: &[u8]| {
        if let Ok(format) = identify(&Source::of(bytes.to_vec())) {
            read(format, bytes);
        }
    }
);
fuzz_target!(
    antenna_patterns,
    vec![
        shipped("examples/sector.msi"),
        b"0\n0 1\n90 0.5\n180 0.1\n270 0.5\n".to_vec(),
        b"0 0\n-10 0.2\n0 1\n90 0.1\n".to_vec(),
        b"-1,5\n".repeat(541),
        b"REVNUM:,TIA/EIA-804-B\nGUNITS:,DBI/DBR\nMDGAIN:,9\nPATCUT:,AZ\nNUPOIN:,4\n-180,-9\n-90,-3\n0,0\n90,-3\n\
          PATCUT:,EL\nNUPOIN:,4\n-90,-9\n-10,-3\n0,0\n90,-9\n"
            .to_vec(),
    ],
    |bytes: &[u8]| {
        if let Ok(file) = groundwave_scenario::antenna::read("fuzz", &text(bytes)) {
            let loss_db = file.pattern.loss_db(-179.9, 91.0);
            assert!((0.0..=100.0).contains(&loss_db), "{loss_db}");
        }
    }
);
