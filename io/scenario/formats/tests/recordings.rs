//! Recordings of other programs, replayed in a world.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use groundwave_engine::Engine;
use groundwave_gateway::{Snapshot, world};
use groundwave_model::sample::station;
use groundwave_model::terrain::{Flat, GeoPoint};
use groundwave_needs::needs;
use groundwave_simulation::history::History;
use groundwave_simulation::measure::Measured;
use groundwave_test_data::shared;

use super::super::csv::levels::{self, Levels};
use super::super::{
    Dataset, Event, FormatError, ReadOptions, Source, batctl, csv, eel, identify, mahimahi, ns2,
};
use super::dataset;

pub(super) fn dropped(recording: &Dataset, what: &str) -> usize {
    super::count(&recording.report, what)
}

/// Runs a recording through a world over flat ground.
fn run(recording: &Dataset) -> (Engine<Snapshot>, History) {
    let script = recording.script(&eel::FORMAT, &station()).unwrap();
    let mut engine =
        world(Arc::new(Flat::default())).build::<Snapshot>(0, recording.step_ns()).unwrap();
    for (tick, name, body) in &script.commands {
        let command = engine.registry().from_bytes(name, body).unwrap();
        engine.script(*tick, command);
    }
    let mut history = History::default();
    for _ in 0..script.last_tick {
        let ticked = engine.tick(None).unwrap();
        assert!(ticked.refused.is_empty(), "{:?}", ticked.refused);
        history.note(&engine.view(), false);
    }
    (engine, history)
}

pub(super) fn observed(recording: &Dataset) -> Vec<(f64, &str, &str, Measured)> {
    let name = |node: u32| recording.nodes[node as usize].name.as_str();
    let events = recording.events.iter();
    let observations = events.filter_map(|(at_s, event)| match event {
        Event::Observe(from, to, values) => Some((*at_s, name(*from), name(*to), *values)),
        _ => None,
    });
    observations.collect()
}

const EEL: &str = "\
0.0 nem:1 location gps 40.031,-74.5235,3.0
0.0 nem:2 location gps 40.031,-74.5200
0.0 nem:1 pathloss nem:2,80.5 nem:3,0.0
1.0 nem:1 pathloss nem:2,90.5,91.0 nem:2
# a remark
2.0 nem:1 velocity 1,2,3
nonsense
";

#[test]
fn path_losses_and_places_of_emane_are_taken_and_the_rest_counted() {
    let recording = dataset(&eel::FORMAT, &[EEL.as_bytes()]).unwrap();
    let levels = observed(&recording);
    let losses: Vec<_> = levels
        .iter()
        .map(|(at_s, from, to, values)| (*at_s, *from, *to, values.path_loss_db.unwrap()))
        .collect();
    assert_eq!(
        losses,
        [
            (0.0, "nem-2", "nem-1", 80.5),
            (1.0, "nem-2", "nem-1", 90.5),
            (1.0, "nem-1", "nem-2", 91.0),
        ]
    );
    for what in ["below 1 dB", "invalid path loss", "without time"] {
        assert_eq!(dropped(&recording, what), 1, "{what}: {:?}", recording.report);
    }
    let (engine, history) = run(&recording);
    let view = engine.view();
    assert_eq!((view.nodes.len(), view.measured.len()), (2, 2));
    assert_eq!(history.levels.ways.len(), 2);
    let excess = history.levels.ways.values().map(|way| way.excess.count());
    assert_eq!(excess.sum::<u64>(), 3, "every loss is set beside the model");
    let empty = dataset(&eel::FORMAT, &[b""]).unwrap();
    let text = empty.script(&eel::FORMAT, &station()).unwrap_err().to_string();
    assert!(text.contains("no measurement and no movement"), "{text}");
}

/// The series of snapshots, of the format of the first.
fn snapshots(documents: &[&str]) -> Dataset {
    let source = Source {
        documents: documents.iter().map(|text| text.as_bytes().to_vec()).collect(),
        ..Source::default()
    };
    let format = identify(&source).unwrap();
    format.read(&source, &ReadOptions::new(station())).unwrap()
}

/// A file of the shared data.
fn snapshot(path: &Path) -> Dataset {
    snapshots(&[&std::fs::read_to_string(path).unwrap()])
}

#[test]
fn neighbours_of_batman_are_links_and_originators_behind_them_routes() {
    let four = r#"[{"orig_address":"aa","neigh_address":"aa","tq":204,"best":true},
        {"orig_address":"bb","neigh_address":"aa","tq":168,"best":true}]"#;
    let five = r#"[{"neigh_address":"aa","throughput":10000}]"#;
    let recording = snapshots(&[four]);
    let observations = observed(&recording);
    assert_eq!((observations.len(), observations[0].1, observations[0].2), (1, "self", "aa"));
    assert_eq!(observations[0].3.quality, Some(0.8));
    assert_eq!(dropped(&recording, "a route, not a link"), 1);
    assert_eq!(observed(&snapshots(&[five]))[0].3.rate_bps, Some(1e7));
}

#[test]
fn absent_link_is_removed() {
    let olsr = |quality: f64, more: &str| {
        format!(
            "{{\"topology\":[{{\"lastHopIP\":\"1\",\"destinationIP\":\"2\",\"linkQuality\":{quality},\
             \"neighborLinkQuality\":0.5}}{more}],\"mid\":[{{\"main\":{{\"ipAddress\":\"3\"}},\
             \"aliases\":[{{\"ipAddress\":\"33\"}}]}}]}}"
        )
    };
    let more = r#",{"lastHopIP":"1","destinationIP":"33","linkQuality":1,"neighborLinkQuality":1}"#;
    let recording = snapshots(&[&olsr(0.9, more), &olsr(0.8, ""), "[]", "{"]);
    let observations = observed(&recording);
    let of = |from: &str, to: &str| -> Vec<(f64, f64)> {
        let ways = observations.iter().filter(|one| (one.1, one.2) == (from, to));
        ways.map(|one| (one.0, one.3.delivery_prob.unwrap())).collect()
    };
    // A node's value of a link is the delivery probability towards that node.
    assert_eq!(of("2", "1"), [(0.0, 0.9), (60.0, 0.8)]);
    assert_eq!(of("1", "2"), [(0.0, 0.5), (60.0, 0.5)]);
    assert_eq!(of("3", "1"), [(0.0, 1.0), (60.0, 0.0)]);
    assert_eq!(dropped(&recording, "not OLSRd"), 1);
    assert_eq!(dropped(&recording, "invalid JSON"), 1);
    let (engine, _) = run(&recording);
    assert_eq!(engine.view().measured.len(), 4);
}

#[test]
fn neighbours_of_respondd_and_links_of_a_map_are_named_by_their_nodes() {
    let document = r#"{"nodes":[
        {"nodeinfo":{"node_id":"n1","hostname":"north","location":{"latitude":57.7,"longitude":11.9},
          "network":{"mesh":{"bat0":{"interfaces":{"wireless":["02:00:00:00:00:01"]}}}}},
         "neighbours":{"node_id":"n1",
          "batadv":{"02:00:00:00:00:01":{"neighbours":{"02:00:00:00:00:02":{"tq":255,"lastseen":1}}}},
          "wifi":{"02:00:00:00:00:01":{"neighbours":{"02:00:00:00:00:02":{"signal":-60,"noise":-95}}}}}},
        {"nodeinfo":{"node_id":"n2","hostname":"south",
          "network":{"mesh":{"bat0":{"interfaces":{"wireless":["02:00:00:00:00:02"]}}}}}}]}"#;
    let recording = snapshots(&[document]);
    let observations = observed(&recording);
    assert_eq!(observations.len(), 1);
    assert!(
        observations.iter().all(|one| (one.1, one.2) == ("south", "north")),
        "{observations:?}"
    );
    let values = observations[0].3;
    assert_eq!(
        (values.quality, values.rx_power_dbm, values.snr_db),
        (Some(1.0), Some(-60.0), Some(35.0))
    );
    assert!(recording.nodes.iter().any(|node| node.position.is_some()));
    let map = r#"{"timestamp":"2020-03-10T12:00:00","nodes":[],"links":[
        {"source":"a","target":"b","source_tq":0.9,"target_tq":0.4,"type":"wifi"},
        {"source":"a","target":"c","source_tq":1,"target_tq":1,"type":"vpn"}]}"#;
    let recording = snapshots(&[map]);
    assert_eq!((observed(&recording).len(), dropped(&recording, "tunnel")), (2, 1));
    assert_eq!(recording.begin_unix_s, Some(1_583_841_600.0));
    let graph = r#"{"type":"NetworkGraph","nodes":[],"links":[{"source":"a","target":"b","cost":2},
        {"source":"a","target":"c","cost":0.5}]}"#;
    assert_eq!(observed(&snapshots(&[graph]))[0].3.quality, Some(0.5));
}

#[test]
fn motion_and_rates_become_recordings() {
    let origin = GeoPoint::new(57.7, 11.9).unwrap();
    let text = "$node_(0) set X_ 100\n$node_(0) set Y_ 0\n$ns_ at 1.0 \"$node_(0) setdest 200 0 10\"\n\
                hello\n$ns_ at 1.0 \"$node_(9) setdest 200 0 10\"\n";
    let mut options = ReadOptions::new(station());
    options.origin = Some(origin);
    let source = Source::of(text.into());
    assert_eq!(identify(&source), Ok(&ns2::FORMAT));
    let recording = ns2::FORMAT.read(&source, &options).unwrap();
    assert_eq!((recording.nodes.len(), recording.events.len()), (2, 4));
    assert_eq!(dropped(&recording, "a line of another kind"), 1);
    assert_eq!(dropped(&recording, "without a start"), 1);
    let script = recording.script(&ns2::FORMAT, &station()).unwrap();
    let names: Vec<_> = script.commands.iter().map(|(.., name, _)| *name).collect();
    let adds = ["mesh.limits", "node.add", "node.add"];
    assert_eq!(names[..3], adds);
    assert_eq!(names[3..], ["node.move", "node.move", "motion.goto", "motion.goto"]);
    run(&recording);
    let trace = |text: &str| dataset(&mahimahi::FORMAT, &[text.as_bytes()]);
    let recording = trace("0\n500\n1000\n1500\n2000\n").unwrap();
    let rates: Vec<_> = observed(&recording).iter().map(|one| one.3.rate_bps.unwrap()).collect();
    assert_eq!(rates, [24_000.0, 36_000.0]);
    assert!(trace("5\n1\n").is_err());
}

pub(super) fn mapping(folder: &Path, text: &str) -> Result<Levels, String> {
    let path = folder.join("mapping.toml");
    std::fs::write(&path, text).unwrap();
    levels::load(&path).map_err(|errors| errors.to_string())
}

pub(super) fn table(path: PathBuf, levels: Levels) -> Result<Dataset, FormatError> {
    let mut options = ReadOptions::new(station());
    options.mapping = Some(levels);
    csv::FORMAT.read(&Source::open(&path).unwrap(), &options)
}

#[test]
fn mapping_gives_the_columns_of_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let text = "step_s = 10\nmissing = [\"-999\"]\n[time]\ncolumn = \"when\"\nunit = \"iso8601\"\n\
                [link]\nfrom = \"tx\"\nto = \"rx\"\n[values]\nrx_power_dbm = \"rssi\"\nsnr_db = \"snr\"\n\
                [nodes]\nfile = \"nodes.csv\"\nname = \"id\"\nlat_deg = \"lat\"\nlon_deg = \"lon\"\n\
                [station]\nheight_agl_m = 12\nradio = \"wifi_5g_mesh\"\nantenna = { preset = \"omni_9\", gain_dbi = 8 }\n";
    let levels = mapping(folder.path(), text).unwrap();
    std::fs::write(
        folder.path().join("nodes.csv"),
        "id,lat,lon\na,57.7,11.9\nb,57.71,11.9\nc,99,0\n",
    )
    .unwrap();
    let path = folder.path().join("levels.csv");
    let rows = "when,tx,rx,rssi,snr\n2022-08-18T08:48:00Z,a,b,-61.5,20\n2022-08-18T08:48:20Z,a,b,-999,\n\
                2022-08-18T08:48:30Z,b,a,-70,x\nsoon,a,b,-60,1\n2022-08-18T08:48:30Z,a,a,-70,1\n\
                2022-08-18T08:48:40Z,a,b,500,1\n";
    std::fs::write(&path, rows).unwrap();
    let recording = table(path.clone(), levels).unwrap();
    assert_eq!(observed(&recording).len(), 3);
    assert_eq!(recording.begin_unix_s, Some(1_660_812_480.0));
    for what in [
        "without a value",
        "not a number",
        "without a time",
        "to itself",
        "rx_power_dbm beyond",
        "without a position",
    ] {
        assert_eq!(dropped(&recording, what), 1, "{what}: {:?}", recording.report);
    }
    assert_eq!(recording.nodes[0].station.as_ref().map(|s| s.antenna.gain_dbi), Some(8.0));
    let (engine, _) = run(&recording);
    assert_eq!(engine.clock().tick, 5);
    for (bent, says) in [
        (text.replace("rx_power_dbm", "rssi_dbm"), "values.rssi_dbm"),
        (text.replace("from = \"tx\"\n", ""), "no link"),
        (text.replace("wifi_5g_mesh", "wifi_9g"), "unknown preset"),
        (text.replace("step_s = 10", "step_s = 0"), "step_s"),
    ] {
        let text = mapping(folder.path(), &bent).unwrap_err();
        assert!(text.contains(says), "{text}");
    }
    let other = mapping(folder.path(), &text.replace("\"rssi\"", "\"rsi\"")).unwrap();
    let text = table(path, other).unwrap_err().to_string();
    assert!(text.contains("found no column \"rsi\", allowed when, tx"), "{text}");
}

#[test]
fn damaged_recordings_are_answered() {
    let snapshot = r#"[{"orig_address":"aa","neigh_address":"aa","tq":204,"best":true}]"#;
    for cut in 0..EEL.len().max(snapshot.len()) {
        let mut bent = EEL.as_bytes().to_vec();
        if let Some(byte) = bent.get_mut(cut) {
            *byte ^= 1 << (cut % 8);
        }
        for bytes in [&bent[..], &EEL.as_bytes()[..cut.min(EEL.len())]] {
            let recording = dataset(&eel::FORMAT, &[bytes]).unwrap();
            drop(recording.script(&eel::FORMAT, &station()));
        }
        let mut bent = snapshot.as_bytes().to_vec();
        if let Some(byte) = bent.get_mut(cut) {
            *byte ^= 1 << (cut % 8);
        }
        drop(dataset(&batctl::FORMAT, &[&bent]));
    }
}

#[needs(shared("data/emane/scenario.eel"))]
#[test]
fn fifteen_minutes_of_ten_nodes_are_measured_once_a_second() {
    let path = shared("data/emane/scenario.eel");
    let recording = dataset(&eel::FORMAT, &[&std::fs::read(path).unwrap()]).unwrap();
    let all = recording.measurements() + dropped(&recording, "below 1 dB");
    assert_eq!((recording.nodes.len(), all), (10, 900 * 10 * 9));
    let script = recording.script(&eel::FORMAT, &station()).unwrap();
    assert_eq!((script.last_tick, script.unplaced), (900, 0));
}

#[needs(shared("fixtures/out_BATMAN_IV"), shared("data/openwisp_netjson"), shared("data/freifunk"))]
#[test]
fn tables_of_a_running_mesh_are_read() {
    for (algorithm, rate) in [("IV", false), ("V", true)] {
        let path = shared(&format!("fixtures/out_BATMAN_{algorithm}/batctl_oj.json"));
        let recording = snapshot(&path);
        let observations = observed(&recording);
        assert_eq!(observations.len(), 1);
        assert_eq!(observations[0].3.rate_bps.is_some(), rate);
        assert_eq!(observations[0].3.quality.is_some(), !rate);
        assert_eq!(dropped(&recording, "a route"), 1);
    }
    for name in ["olsr-2-links.json", "olsr-2-links-newformat.json"] {
        let path = shared(&format!("data/openwisp_netjson/netdiff/{name}"));
        let recording = snapshot(&path);
        assert_eq!((recording.nodes.len(), recording.measurements()), (3, 4), "{name}");
    }
    let path = shared("data/freifunk/freifunk-leipzig-meshviewer.json");
    let recording = snapshot(&path);
    // 309 links of Wi-Fi between 295 pairs, both ways: of two links of a pair the better one counts. 38 are cables.
    assert_eq!(recording.measurements(), 2 * 295);
    assert_eq!(dropped(&recording, "a tunnel or cable"), 38);
    assert!(recording.nodes.len() >= 200);
}

/// Mapping of the tables of OpenRainER.
fn openrainer(folder: &Path) -> String {
    format!(
        "title = \"openrainer\"\nstep_s = 60\n[time]\ncolumn = \"t_unix\"\nunit = \"unix_s\"\n\
         [link]\nid = \"link_id\"\ndirection = \"sublink\"\nbackward = \"2\"\n\
         [values]\nrx_power_dbm = \"rsl_dbm\"\ntx_power_dbm = \"tsl_dbm\"\n\
         [links]\nfile = \"{}\"\nid = \"link_id\"\na_lat_deg = \"a_lat\"\na_lon_deg = \"a_lon\"\n\
         b_lat_deg = \"b_lat\"\nb_lon_deg = \"b_lon\"\nfrequency_mhz = \"freq_mhz_1\"\n\
         [station]\nheight_agl_m = 40\nradio = \"ptp_11g\"\n\
         antenna = {{ preset = \"dish_32\", gain_dbi = 40 }}\n",
        folder.join("openrainer_links.csv").display()
    )
}

#[needs(shared("data/links_cml"))]
#[test]
fn a_storm_fades_seventy_two_links_in_half_an_hour() {
    let folder = shared("data/links_cml");
    let scratch = tempfile::tempdir().unwrap();
    let levels = mapping(scratch.path(), &openrainer(&folder)).unwrap();
    let path = folder.join("openrainer_storm_20220817T18_20220819T06.csv.gz");
    let recording = table(path, levels).unwrap();
    assert_eq!(recording.nodes.len(), 302);
    assert_eq!(recording.measurements(), 619_704 - 75_878);
    assert_eq!(dropped(&recording, "without a value"), 75_878);
    let (engine, history) = run(&recording);
    assert_eq!(engine.view().measured.len(), 267, "35 directions never say anything");
    let begin_s = 1_660_812_480.0 - recording.begin_unix_s.unwrap();
    let faded = |depth_db| history.levels.faded(depth_db, begin_s, begin_s + 1800.0);
    assert_eq!((faded(15.0), faded(25.0)), (72, 59));
}

/// A table of two nodes with other separators, rows more often than ticks and times as given.
fn times(unit: &str, rows: &str) -> Result<Dataset, String> {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "step_s = 60\n[time]\ncolumn = \"t\"\nunit = \"{unit}\"\n[link]\nfrom = \"tx\"\nto = \"rx\"\n\
         [values]\nsnr_db = \"snr\"\n[nodes]\nfile = \"nodes.csv\"\nname = \"id\"\nlat_deg = \"lat\"\n\
         lon_deg = \"lon\"\n"
    );
    let levels = mapping(folder.path(), &text)?;
    std::fs::write(folder.path().join("nodes.csv"), "id,lat,lon\na,57.7,11.9\nb,57.71,11.9\n")
        .unwrap();
    let path = folder.path().join("levels.csv");
    std::fs::write(&path, format!("t;tx;rx;snr\n{rows}")).unwrap();
    table(path, levels).map_err(|error| error.to_string())
}

#[test]
fn each_table_has_the_separator_of_its_own_header() {
    let recording = times("seconds", "0;a;b;10.5\n60;b;a;11\n").unwrap();
    assert_eq!(recording.measurements(), 2);
    assert!(recording.nodes.iter().all(|node| node.position.is_some()), "{:?}", recording.nodes);
}

#[test]
fn times_of_another_unit_give_an_error_that_names_it() {
    for (unit, cell, fitting) in [
        ("unix_s", "1660812480000", "unix_ms"),
        ("unix_ms", "1660812480", "unix_s"),
        ("seconds", "1660812480", "unix_s"),
        ("ms", "1660812480000", "unix_ms"),
    ] {
        let error = times(unit, &format!("{cell};a;b;10\n{cell};b;a;11\n")).unwrap_err();
        assert!(error.contains(cell) && error.contains(&format!("allowed {fitting}")), "{error}");
        assert_eq!(
            times(fitting, &format!("{cell};a;b;10\n")).unwrap().begin_unix_s,
            Some(1660812480.0)
        );
    }
    let recording = times("ms", "0;a;b;10\n90000;b;a;11\n").unwrap();
    assert_eq!(recording.events.last().unwrap().0, 90.0);
}

#[test]
fn times_without_a_zone_are_utc_and_reported() {
    let recording =
        times("iso8601", "2022-08-18T08:48:00;a;b;10\n2022-08-18T08:49:00Z;b;a;11\n").unwrap();
    assert_eq!(recording.measurements(), 2);
    assert_eq!(recording.begin_unix_s, Some(1660812480.0));
    assert_eq!(dropped(&recording, "without a zone"), 1);
}

#[test]
fn values_that_later_ones_of_a_tick_replace_are_reported() {
    let rows: String = (0..8).map(|row| format!("{};a;b;{row}\n", row * 15)).collect();
    let recording = times("seconds", &rows).unwrap();
    assert_eq!(dropped(&recording, "same tick of 60 s (the least interval is 15 s)"), 5);
    let apart = times("seconds", "0;a;b;1\n0;b;a;2\n61;a;b;3\n").unwrap();
    assert_eq!(dropped(&apart, "same tick"), 0);
}

#[test]
fn traces_of_a_folder_are_a_link_each() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("att.up", "0\n500\n1000\n"),
        ("att.down", "0\n1000\n"),
        ("verizon.up", "0\n10\n1000\n"),
        ("notes.txt", "measured by hand\n"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let source = Source::open(folder.path()).unwrap();
    let recording = mahimahi::FORMAT.read(&source, &ReadOptions::new(station())).unwrap();
    let mut links: Vec<_> = observed(&recording).iter().map(|one| (one.1, one.2)).collect();
    links.sort_unstable();
    links.dedup();
    assert_eq!(
        links,
        [
            ("att client", "att server"),
            ("att server", "att client"),
            ("verizon client", "verizon server"),
        ]
    );
    assert_eq!(dropped(&recording, "not Mahimahi"), 1);
}

#[test]
fn moving_nodes_are_planned_at_their_first_fix() {
    let text =
        "0.0 nem:1 location gps 40.031,-74.5235,3.0\n5.0 nem:1 location gps 40.04,-74.5235,3.0\n";
    let recording = dataset(&eel::FORMAT, &[text.as_bytes()]).unwrap();
    let (plan, report) = recording.into_plan(&eel::FORMAT, &station()).unwrap();
    assert_eq!(plan.nodes.len(), 1);
    assert_eq!(plan.nodes[0].position, GeoPoint::new(40.031, -74.5235).unwrap());
    assert_eq!(super::count(&report, "a node that moves"), 1);
}

#[test]
fn first_mapping_of_a_table_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("levels.csv");
    let rows = "Timestamp;tx_node;rx_node;RSSI [dBm];SNR (dB);comment\n1660812480000;a;b;-70;12;x\n\
                1660812485000;b;a;-71.5;11;\n1660812495000;a;b;;10;\n";
    std::fs::write(&path, rows).unwrap();
    let text = levels::guess(&Source::open(&path).unwrap()).unwrap();
    for line in [
        "step_s = 5",
        "unit = \"unix_ms\"",
        "delimiter = \";\"",
        "from = \"tx_node\"",
        "rx_power_dbm = \"RSSI [dBm]\"",
        "snr_db = \"SNR (dB)\"",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let recording = table(path, mapping(folder.path(), &text).unwrap()).unwrap();
    assert_eq!((recording.measurements(), recording.begin_unix_s), (3, Some(1660812480.0)));

    let by_link = folder.path().join("links.csv");
    std::fs::write(&by_link, "time,link,rsl_dbm,tsl_dbm\n1777629600,a,-42.0,20\n").unwrap();
    let text = levels::guess(&Source::open(&by_link).unwrap()).unwrap();
    for line in ["id = \"link\"", "[links]", "tx_power_dbm = \"tsl_dbm\"", "unit = \"unix_s\""] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }

    let without = folder.path().join("other.csv");
    std::fs::write(&without, "name,colour\na,red\n").unwrap();
    let error = levels::guess(&Source::open(&without).unwrap()).unwrap_err().to_string();
    assert!(error.contains("allowed a column of measured values"), "{error}");
}
