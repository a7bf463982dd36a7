//! Recordings of other programs: simulators, receivers, daemons.

use groundwave_model::sample::station;
use groundwave_model::terrain::{GeoPoint, geodesic};
use groundwave_simulation::measure::Measured;

use super::super::{Dataset, Event, Format, Height, ReadOptions, Source, eel, identify};
use super::count;

/// Reads documents as the format of their content, which must be `name`; metres are around 57.7, 11.9.
#[track_caller]
fn read(name: &str, documents: &[&str]) -> Dataset {
    read_around(name, documents, GeoPoint::new(57.7, 11.9).ok())
}

#[track_caller]
fn read_around(name: &str, documents: &[&str], origin: Option<GeoPoint>) -> Dataset {
    let documents = documents.iter().map(|text| text.as_bytes().to_vec()).collect();
    let source = Source { documents, ..Source::default() };
    let format: &Format = identify(&source).unwrap();
    assert_eq!(format.name, name);
    let options = ReadOptions { origin, ..ReadOptions::new(station()) };
    format.read(&source, &options).unwrap()
}

/// Node, time, s, and distances from 57.7, 11.9 to the east and north, m, of each waypoint.
fn course(dataset: &Dataset, name: &str) -> Vec<(f64, i64, i64)> {
    let origin = GeoPoint::new(57.7, 11.9).unwrap();
    let index = dataset.nodes.iter().position(|node| node.name == name).unwrap();
    let point = |(at_s, position): &(f64, GeoPoint)| {
        let leg = geodesic::inverse(origin, *position);
        let (north, east) =
            (leg.azimuth_deg.to_radians().cos(), leg.azimuth_deg.to_radians().sin());
        let metres = |share: f64| (share * leg.distance_m).round() as i64;
        (*at_s, metres(east), metres(north))
    };
    dataset.courses()[&(index as u32)].iter().map(point).collect()
}

/// Sender, receiver and values of each measurement.
fn links(dataset: &Dataset) -> Vec<(&str, &str, Measured)> {
    let name = |node: u32| dataset.nodes[node as usize].name.as_str();
    let link = |event: &(f64, Event)| match event.1 {
        Event::Observe(from, to, values) => Some((name(from), name(to), values)),
        _ => None,
    };
    dataset.events.iter().filter_map(link).collect()
}

#[test]
fn vehicles_of_sumo_move() {
    let step = |time: u32, rows: &str| format!("<timestep time=\"{time}.00\">{rows}</timestep>");
    let vehicle = |id: &str, x: &str, y: &str| {
        format!("<vehicle id=\"{id}\" x=\"{x}\" y=\"{y}\" angle=\"90\" type=\"car\" speed=\"5\"/>")
    };
    let document =
        |steps: &str| format!("<?xml version=\"1.0\"?>\n<fcd-export>{steps}</fcd-export>");
    let steps = step(0, &vehicle("a&amp;b", "0.00", "0.00"))
        + &step(
            1,
            &(vehicle("a&amp;b", "10.00", "0.00") + "<person id=\"p\" x=\"5.00\" y=\"-7.00\"/>"),
        )
        + &step(2, &(vehicle("a&amp;b", "30.00", "4.00") + &vehicle("bad", "x", "1")));
    let tracks = read("sumo", &[&document(&steps)]);
    assert_eq!(course(&tracks, "a&b"), [(0.0, 0, 0), (1.0, 10, 0), (2.0, 30, 4)]);
    assert_eq!(course(&tracks, "p"), [(1.0, 5, -7)]);
    assert_eq!(count(&tracks.report, "invalid x or y"), 1);
    let steps = step(0, &vehicle("a", "11.900000", "57.700000"))
        + &step(1, &vehicle("a", "11.9", "57.70001"));
    let tracks = read_around("sumo", &[&document(&steps)], None);
    assert_eq!(course(&tracks, "a")[0], (0.0, 0, 0));
    assert!(tracks.report.is_empty(), "{}", tracks.report);
}

#[test]
fn tracks_of_kml_move() {
    let track = |mode: &str, points: &str| format!("<gx:Track>{mode}{points}</gx:Track>");
    let point = |minute: u32, place: &str| {
        format!("<when>2022-08-18T08:{minute:02}:00Z</when><gx:coord>{place}</gx:coord>")
    };
    let walk = track("", &(point(0, "11.9 57.7 12") + &point(1, "11.91 57.7 12") + &point(2, "x")));
    let mode = "<altitudeMode>relativeToGround</altitudeMode>";
    let flight = track(mode, &(point(0, "11.9 57.7 120") + &point(1, "11.9 57.71 130")));
    let kml = format!(
        "<kml xmlns:gx=\"http://www.google.com/kml/ext/2.2\"><Document><name>Day</name>\
         <Placemark>{walk}<name>A &amp; B</name></Placemark>\
         <Placemark><name>Drone</name><gx:MultiTrack>{flight}</gx:MultiTrack></Placemark>\
         <Placemark><name>Mast</name><Point><coordinates>1,2</coordinates></Point></Placemark></Document></kml>"
    );
    let tracks = read("kmltrack", &[&kml]);
    assert_eq!((course(&tracks, "A & B").len(), course(&tracks, "Drone").len()), (2, 2));
    assert_eq!(tracks.begin_unix_s, Some(1_660_809_600.0));
    for (what, times) in
        [("clamped to the ground", 2), ("invalid time or coordinate", 1), ("beside tracks", 1)]
    {
        assert_eq!(count(&tracks.report, what), times, "{what}: {}", tracks.report);
    }
    let heights: Vec<_> =
        tracks.events.iter().filter(|event| matches!(event.1, Event::Height(..))).collect();
    assert_eq!(heights.len(), 2);
}

#[test]
fn waypoints_of_bonnmotion_are_read() {
    let tracks = read(
        "bonnmotion",
        &["# seed\n0.0 0 0 10.5 30 40 20.0 30 40\n0.0 5 5 1.0 5\n0 1 2 3 1 9\n"],
    );
    assert_eq!(course(&tracks, "node-0"), [(0.0, 0, 0), (10.5, 30, 40), (20.0, 30, 40)]);
    assert_eq!(course(&tracks, "node-2"), [(0.0, 1, 2), (3.0, 1, 9)]);
    assert_eq!(count(&tracks.report, "rising times"), 1);
    let tracks = read("bonnmotion", &["0.0 0 0 50 10.0 30 40 60\n"]);
    assert_eq!(course(&tracks, "node-0"), [(0.0, 0, 0), (10.0, 30, 40)]);
    assert_eq!(tracks.heights(), [Some(Height::Ground(50.0))]);
}

#[test]
fn waypoints_of_bonnmotion_have_one_size_in_a_document() {
    // The first line alone is of either size.
    for text in [
        "0 0 0 0 10 50 50 40 20 50 50 0\n",
        "0 10 20 30 10 40 50 60 20 50 60 70\n0 1 1 30 10 1 1 30\n",
    ] {
        let tracks = read("bonnmotion", &[text]);
        let times: Vec<f64> = course(&tracks, "node-0").iter().map(|waypoint| waypoint.0).collect();
        assert_eq!(times, [0.0, 10.0, 20.0], "{text}");
    }
    let flat = read("bonnmotion", &["0 1 2 10 3 4 20 5 6 30 7 8\n0 1 1 5 1 1\n"]);
    assert_eq!(course(&flat, "node-0").len(), 4);
    assert_eq!(flat.heights(), [None, None]);
    let source = Source::of(b"0 1 2 10 3 4 20 5 6 30 7 8\n".to_vec());
    let error = identify(&source).unwrap().read(&source, &ReadOptions::new(station()));
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("line 1: found lines that are waypoints") && text.contains("a stay"),
        "{text}"
    );
}

#[test]
fn position_changes_of_ansim_are_read() {
    let change = |times: (u32, u32), to: (u32, u32)| {
        format!(
            "<position_change><node_id>3</node_id><start_time>{}</start_time><end_time>{}</end_time>\
             <destination><xpos>{}</xpos><ypos>{}</ypos></destination></position_change>",
            times.0, times.1, to.0, to.1
        )
    };
    let changes = change((0, 0), (10, 20)) + &change((5, 15), (110, 20)) + "<position_change/>";
    let tracks = read("ansim", &[&format!("<mobility_trace>{changes}</mobility_trace>")]);
    assert_eq!(course(&tracks, "node-3"), [(0.0, 10, 20), (5.0, 10, 20), (15.0, 110, 20)]);
    assert_eq!(count(&tracks.report, "without node_id"), 1);
}

#[test]
fn sentences_of_a_receiver_are_fixes() {
    let sum = |body: &str| {
        let sum = body.bytes().fold(0, |sum, byte| sum ^ byte);
        format!("${body}*{sum:02X}\r\n")
    };
    let rmc = |time: &str, lat: &str, date: &str| {
        sum(&format!("GPRMC,{time},A,{lat},N,01154.000,E,0.0,0.0,{date},,,A"))
    };
    let log = rmc("235950.00", "5742.000", "170822")
        + &sum("GNGGA,235955.00,5742.060,N,01154.000,E,1,08,0.9,12.0,M,35,M,,")
        + &sum("GPGSV,1,1,00")
        + &sum("GPGGA,000005.00,5742.120,N,01154.000,E,1,08,0.9,12.0,M,35,M,,")
        + &rmc("000010.00", "5742.180", "180822")
        + "$GPRMC,000011.00,A,5742.180,N,01154.000,E,0.0,0.0,180822,,,A*00\n"
        + &sum("GPRMC,000012.00,V,,,,,,,180822,,,N")
        + &sum("GPGGA,000013.00,9942.180,N,01154.000,E,1,08,0.9,,M,35,M,,");
    let tracks = read("nmea", &[&log]);
    let times: Vec<f64> = course(&tracks, "receiver").iter().map(|fix| fix.0).collect();
    assert_eq!(times, [0.0, 5.0, 15.0, 20.0], "over midnight");
    assert_eq!(course(&tracks, "receiver")[1].1, 0);
    assert!((course(&tracks, "receiver")[1].2 - 111).abs() <= 1);
    assert_eq!(tracks.begin_unix_s, Some(1_660_780_790.0));
    for (what, times) in [("checksum", 1), ("without a fix", 1), ("invalid latitude", 1)] {
        assert_eq!(count(&tracks.report, what), times, "{what}: {}", tracks.report);
    }
    let undated = sum("GPGGA,120000.00,5742.060,N,01154.000,E,1,08,0.9,,M,35,M,,");
    assert_eq!(course(&read("nmea", &[&undated]), "receiver")[0].0, 0.0);
}

#[test]
fn tables_of_daemons_are_links() {
    let head = "[B.A.T.M.A.N. adv 2019.4, MainIF/MAC: wlan0/02:00:00:00:00:01 (bat0/aa BATMAN_IV)]\n\
                \u{20}  Originator        last-seen (#/255) Nexthop           [outgoingIF]\n";
    let four = format!(
        "{head} * 02:00:00:00:00:02    0.360s   (204) 02:00:00:00:00:02 [     wlan0]\n\
         \u{20}  02:00:00:00:00:03    0.360s   (100) 02:00:00:00:00:02 [     wlan0]\n\
         \u{20}* 02:00:00:00:00:04    0.360s   (  ?) 02:00:00:00:00:04 [     wlan0]\n"
    );
    let five = "[B.A.T.M.A.N. adv 2019.4, MainIF/MAC: wlan0/02:00:00:00:00:01 (bat0/aa BATMAN_V)]\n\
                \u{20}* 02:00:00:00:00:02    0.360s (       54.0) 02:00:00:00:00:02 [     wlan0]\n";
    let tables = read("batctl_text", &[&four]);
    let link = links(&tables)[0];
    assert_eq!(
        (link.0, link.1, link.2.quality),
        ("02:00:00:00:00:01", "02:00:00:00:00:02", Some(0.8))
    );
    assert_eq!((count(&tables.report, "a route"), count(&tables.report, "without TQ")), (1, 1));
    assert_eq!(links(&read("batctl_text", &[five]))[0].2.rate_bps, Some(54e6));
    // A link that the next table does not list is gone.
    let series = read("batctl_text", &[&four, head]);
    assert_eq!(links(&series)[1].2.delivery_prob, Some(0.0));
    let txtinfo = "Table: Links\nLocal IP\tRemote IP\tHyst.\tLQ\tNLQ\tCost\n\
                   10.0.0.1\t10.0.0.2\t0.00\t0.900\t0.500\t2.222\t\n\n\
                   Table: Topology\nDest. IP\tLast hop IP\tLQ\tNLQ\tCost\n10.0.0.3\t10.0.0.2\t1.000\tx\tINFINITE\n";
    let tables = read("txtinfo", &[txtinfo]);
    let of = |from: &str, to: &str| {
        links(&tables).iter().find(|link| (link.0, link.1) == (from, to)).unwrap().2.delivery_prob
    };
    assert_eq!(of("10.0.0.2", "10.0.0.1"), Some(0.9));
    assert_eq!(of("10.0.0.1", "10.0.0.2"), Some(0.5));
    assert_eq!(of("10.0.0.3", "10.0.0.2"), Some(1.0));
    assert_eq!(count(&tables.report, "without its quality"), 1);
}

#[test]
fn documents_of_devices_are_nodes_and_links() {
    let aredn = r#"{"node":"K7ABC-1","lat":"57.7","lon":"11.9","meshrf":{"freq":"5825"},"link_info":{
        "10.0.0.2":{"hostname":"k7xyz-2","linkType":"RF","signal":-70,"noise":-95,"linkQuality":0.9,
          "neighborLinkQuality":0.8,"tx_rate":65},
        "10.0.0.3":{"hostname":"k7tun","linkType":"TUN","linkQuality":1}}}"#;
    let other = r#"{"node":"K7XYZ-2","lat":"57.71","lon":"11.9","meshrf":{},"link_info":{}}"#;
    let mesh = read("aredn", &[aredn, other]);
    let names: Vec<_> = mesh.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["K7ABC-1", "K7XYZ-2"]);
    assert!(mesh.nodes.iter().all(|node| node.position.is_some()));
    let (from, to, values) = links(&mesh)[0];
    assert_eq!((from, to), ("K7XYZ-2", "K7ABC-1"));
    assert_eq!(
        (values.rx_power_dbm, values.snr_db, values.delivery_prob),
        (Some(-70.0), Some(25.0), Some(0.9))
    );
    assert_eq!(count(&mesh.report, "tunnel"), 1);
    let info = "Connected to radio\n\nOwner: Base (BASE)\nMy info: { \"myNodeNum\": 10 }\n\n\
        Nodes in mesh: {\n\"!0000000a\": {\"num\": 10, \"user\": {\"id\": \"!0000000a\", \"longName\": \"Base\"}, \
        \"position\": {\"latitude\": 57.7, \"longitude\": 11.9}, \"snr\": 1.0},\n\
        \"!0000000b\": {\"user\": {\"longName\": \"Hill\"}, \"snr\": 6.5, \"hopsAway\": 0},\n\
        \"!0000000c\": {\"user\": {\"longName\": \"Far\"}, \"snr\": 2.5, \"hopsAway\": 2}}\n\nPreferences: {}\n";
    let mesh = read("meshtastic", &[info]);
    let snr: Vec<_> = links(&mesh).iter().map(|link| (link.0, link.1, link.2.snr_db)).collect();
    assert_eq!(snr, [("Hill", "Base", Some(6.5))]);
    assert_eq!(count(&mesh.report, "behind others"), 1);
}

#[test]
fn tables_of_receivers_that_move_have_both() {
    let wigle = "WigleWifi-1.4,appRelease=2,model=x\n\
        MAC,SSID,AuthMode,FirstSeen,Channel,RSSI,CurrentLatitude,CurrentLongitude,AltitudeMeters,AccuracyMeters,Type\n\
        02:00:00:00:00:01,net,[ESS],2022-08-18 08:00:00,6,-70,57.7,11.9,10,5,WIFI\n\
        02:00:00:00:00:02,net,[ESS],2022-08-18 08:00:10,6,-80,57.701,11.9,10,5,WIFI\n\
        aa,b,c,2022-08-18 08:00:20,0,-80,57.702,11.9,10,5,BT\n\
        aa,b,c,soon,0,-80,57.702,11.9,10,5,WIFI\n";
    let drive = read("wigle", &[wigle]);
    let levels: Vec<_> =
        links(&drive).iter().map(|link| (link.0, link.1, link.2.rx_power_dbm)).collect();
    assert_eq!(
        levels,
        [
            ("02:00:00:00:00:01", "receiver", Some(-70.0)),
            ("02:00:00:00:00:02", "receiver", Some(-80.0))
        ]
    );
    assert_eq!(course(&drive, "receiver").len(), 3);
    assert_eq!((count(&drive.report, "kind BT"), count(&drive.report, "without a time")), (1, 1));
    assert_eq!(drive.begin_unix_s, Some(1_660_809_600.0));
    let test = "time,from,sender name,sender lat,sender long,rx lat,rx long,rx elevation,rx snr,distance,hop limit,payload\n\
        08:00:00,10,Base,57.7,11.9,57.701,11.9,5,6.25,111,3,\"seq 1\"\n\
        08:00:30,10,Base,57.7,11.9,0,0,5,-2,222,3,\"seq 2\"\n";
    let test = read("rangetest", &[test]);
    let levels: Vec<_> = links(&test).iter().map(|link| (link.0, link.1, link.2.snr_db)).collect();
    assert_eq!(levels, [("Base", "receiver", Some(6.25)), ("Base", "receiver", Some(-2.0))]);
    assert_eq!(count(&test.report, "a receiver without a position"), 1);
}

#[test]
fn range_test_of_the_app_has_days_and_quotes() {
    let heads = "date,time,from,sender name,sender lat,sender long,rx lat,rx long,rx elevation,rx snr,distance,hop limit,\
                 payload";
    let rows = "2024-02-29,23:59:50,10,Base,57.7,11.9,57.701,11.9,5,6.250000,111,3,<POSITION_APP>\n\
                \"2024-03-01\",\"00:00:10\",\"10\",\"Base\",\"57.7\",\"11.9\",\"57.701\",\"11.9\",\"5\",\"-2,500000\",\"111\",\"3\",\"x\"\n\
                2024-03-01,00:00:20,10,Base, the second,57.7,11.9,57.701,11.9,5,6.25,111,3,x\n";
    for heads in [heads.to_owned(), format!("\"{}\"", heads.replace(',', "\",\""))] {
        let test = read("rangetest", &[&format!("{heads}\n{rows}")]);
        assert_eq!(test.begin_unix_s, Some(1_709_251_190.0), "{heads}");
        let levels: Vec<_> = links(&test).iter().map(|link| link.2.snr_db).collect();
        assert_eq!(levels, [Some(6.25), Some(-2.5)]);
        assert_eq!(count(&test.report, "more cells than columns"), 1);
        assert_eq!(count(&test.report, "without a zone"), 2);
    }
    let device = "time,from,sender name,sender lat,sender long,rx lat,rx long,rx elevation,rx snr,distance,hop limit,\
                  payload,rx rssi\n\
                  08:00:00,10,Base,57.7,11.9,57.701,11.9,5,6.25,111,3,\"seq 1\",-101\n\
                  25:00:00,10,Base,57.7,11.9,57.701,11.9,5,6.25,111,3,\"seq 2\",-101\n\
                  ??:??:??,10,Base,57.7,11.9,57.701,11.9,5,6.25,111,3,\"seq 3\",0\n";
    let test = read("rangetest", &[device]);
    let levels: Vec<_> =
        links(&test).iter().map(|link| (link.2.rx_power_dbm, link.2.snr_db)).collect();
    assert_eq!(levels, [(Some(-101.0), Some(6.25))]);
    assert_eq!(count(&test.report, "a row without a time"), 2);
}

#[test]
fn times_of_the_day_count_from_the_first() {
    let test = |name: &str, times: [&str; 2]| {
        let row = |time: &str| format!("{time},10,{name},57.7,11.9,57.701,11.9,5,6.25,111,3,x\n");
        let head = "time,from,sender name,sender lat,sender long,rx lat,rx long,rx elevation,rx snr,distance,\
                    hop limit,payload\n";
        format!("{head}{}", times.map(row).concat())
    };
    let times = |documents: &[&str]| {
        let test = read("rangetest", documents);
        let observed = test.events.iter().filter(|event| matches!(event.1, Event::Observe(..)));
        observed.map(|event| event.0).collect::<Vec<_>>()
    };
    let (first, second) =
        (test("a", ["10:00:00", "10:00:20"]), test("a", ["10:01:00", "10:01:20"]));
    assert_eq!(times(&[&first]), [0.0, 20.0]);
    // Documents of a folder have one day.
    assert_eq!(times(&[&second, &first]), [0.0, 20.0, 60.0, 80.0]);
    assert_eq!(times(&[&test("a", ["23:59:50", "00:00:10"])]), [0.0, 20.0]);
}

#[test]
fn implausible_fixes_are_named_and_left_out_on_request() {
    let mut rows: Vec<String> = (0..20)
        .map(|second| {
            format!("{second} nem:1 location gps {:.4},11.9\n", 57.7 + f64::from(second) * 1e-4)
        })
        .collect();
    rows[5] = "5 nem:1 location gps 0,0\n".to_owned();
    rows[9] = "9 nem:1 location gps 20.0,60.0\n".to_owned();
    rows[15] = "3.5 nem:1 location gps 57.7,11.9\n".to_owned();
    let text: String = rows.concat();
    let read = |drop_implausible: bool| {
        let options = ReadOptions { drop_implausible, ..ReadOptions::new(station()) };
        eel::FORMAT.read(&Source::of(text.clone().into()), &options).unwrap()
    };
    let (all, plausible) = (read(false), read(true));
    assert_eq!((all.courses()[&0].len(), plausible.courses()[&0].len()), (20, 17));
    for (what, line) in [("at 0 N 0 E", 6), ("cannot have reached", 10), ("a time before", 16)] {
        for (report, fate) in [(&all.report, "--drop implausible"), (&plausible.report, "left out")]
        {
            let note = report.notes.iter().find(|note| note.what.contains(what)).unwrap();
            assert!(note.what.contains(fate) && note.count == 1, "{report}");
            assert_eq!(note.first.line, line, "{what}");
        }
    }
    // A recording around 0 N 0 E, and a node that travels by other means.
    let around =
        "0 nem:1 location gps 0,0\n1 nem:1 location gps 0.0001,0\n2 nem:1 location gps 0,0\n";
    let report =
        eel::FORMAT.read(&Source::of(around.into()), &ReadOptions::new(station())).unwrap().report;
    assert_eq!(count(&report, "0 N 0 E"), 0, "{report}");
    let flight: String = (0..20)
        .map(|second| {
            format!("{second} nem:1 location gps {},11.9\n", if second < 10 { 10 } else { 50 })
        })
        .collect();
    let options = ReadOptions { drop_implausible: true, ..ReadOptions::new(station()) };
    let flight = eel::FORMAT.read(&Source::of(flight.into()), &options).unwrap();
    assert_eq!((count(&flight.report, "a jump"), count(&flight.report, "left out")), (1, 16));
}

#[test]
fn xml_of_other_programs_gives_an_error_with_the_nearest_format() {
    for (text, part) in [
        ("<FlowMonitor/>", "flow statistics of ns-3"),
        ("<net version=\"1\"/>", "--fcd-output"),
        ("<unheard/>", "the first element \"unheard\""),
    ] {
        let source = Source { path: "a.xml".into(), ..Source::of(text.into()) };
        let message = identify(&source).unwrap_err().to_string();
        assert!(message.contains(part) && message.contains("--format"), "{message}");
    }
}

#[test]
fn places_on_the_canvas_of_core_are_positions() {
    let node = |id: u32, kind: &str, place: &str| {
        format!(
            "node n{id} {{\n    type {kind}\n    network-config {{\n\thostname host{id}\n\t!\n    }}\n    {place}\n}}\n\n"
        )
    };
    let imn = node(1, "router", "iconcoords {100.0 50.0}")
        + &node(2, "router", "iconcoords {200 150}")
        + &node(3, "wlan", "iconcoords {1 1}")
        + &node(4, "router", "canvas c1")
        + "link l1 {\n    nodes {n1 n3}\n}\n\ncanvas c1 {\n    name {Canvas1}\n    refpt {0 0 57.7 11.9 2.0}\n    scale {300.0}\n}\n";
    let origin = GeoPoint::new(57.7, 11.9).unwrap();
    let offset = |dataset: &Dataset, index: usize| {
        let leg = geodesic::inverse(origin, dataset.nodes[index].position.unwrap());
        let azimuth = leg.azimuth_deg.to_radians();
        [azimuth.sin(), azimuth.cos()].map(|share| (share * leg.distance_m).round() as i64)
    };
    let core = read_around("imn", &[&imn], None);
    let names: Vec<_> = core.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!((names, core.links), (vec!["host1", "host2", "host4"], 1));
    assert_eq!((offset(&core, 0), offset(&core, 1)), ([300, -150], [600, -450]));
    assert_eq!((count(&core.report, "a network"), count(&core.report, "no position")), (1, 1));
    let xml = "<scenario name=\"x\"><devices><device id=\"1\" name=\"a\"><position x=\"100\" y=\"50\"/></device>\
               </devices><session_origin lat=\"57.7\" lon=\"11.9\" alt=\"2\" scale=\"300.0\"/></scenario>";
    let core = read_around("core", &[xml], None);
    assert_eq!(offset(&core, 0), [300, -150]);
}

#[test]
fn graphs_and_lists_of_communities_are_read() {
    let graph = r#"{"version":1,"batadv":{"directed":false,"nodes":[{"id":"02:01","node_id":"a"},{"id":"02:02","node_id":"b"},
        {"id":"02:03"}],"links":[{"source":0,"target":1,"tq":1.25,"bidirect":true},{"source":0,"target":2,"tq":2,"vpn":true},
        {"source":0,"target":9,"tq":2},{"source":2,"target":0,"tq":0}]}}"#;
    let mesh = read("ffmap", &[graph]);
    let qualities: Vec<_> =
        links(&mesh).iter().map(|link| (link.0, link.1, link.2.quality)).collect();
    assert_eq!(qualities, [("a", "b", Some(0.8)), ("b", "a", Some(0.8))]);
    for what in ["a tunnel", "without two nodes", "without its TQ"] {
        assert_eq!(count(&mesh.report, what), 1, "{what}");
    }
    let list = r#"{"version":"1.0.1","updated_at":"2022-08-18T08:00:00Z","nodes":[
        {"id":"a","name":"north","position":{"lat":57.7,"long":11.9},"status":{"online":true}},
        {"id":"b","name":"north","status":{"online":false}}]}"#;
    let mesh = read("nodelist", &[list]);
    let names: Vec<_> = mesh.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["north", "north 2"]);
    assert!(mesh.nodes[0].position.is_some() && mesh.nodes[1].position.is_none());
}

#[test]
fn placemarks_with_times_are_one_mover_by_name_or_folder() {
    let point = |name: &str, second: u32| {
        format!(
            "<Placemark><name>{name}</name><TimeStamp><when>2024-05-01T10:00:{second:02}Z</when></TimeStamp>\
             <Point><altitudeMode>relativeToGround</altitudeMode><coordinates>11.9,57.7{second:02},30</coordinates></Point></Placemark>"
        )
    };
    let kml = format!(
        "<kml><Document><Folder><name>Drone</name>{}{}{}</Folder><Folder><name>Both</name>{}{}{}{}</Folder></Document></kml>",
        point("10:00:00", 0),
        point("10:00:10", 10),
        point("10:00:20", 20),
        point("car", 0),
        point("car", 30),
        point("bike", 5),
        point("bike", 35),
    );
    let tracks = read("kmltrack", &[&kml]);
    let names: Vec<&str> = tracks.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["Drone", "car", "bike"]);
    assert_eq!(course(&tracks, "Drone").len(), 3);
    assert_eq!((course(&tracks, "car").len(), course(&tracks, "bike")[1].0), (2, 35.0));
    assert_eq!(
        tracks.events.iter().filter(|event| matches!(event.1, Event::Height(..))).count(),
        7
    );
}
