//! Maps of running meshes as plans.

use groundwave_model::radio::Waveform;
use groundwave_model::sample::station;
use groundwave_model::terrain::GeoPoint;
use groundwave_needs::needs;
use groundwave_test_data::shared;

use super::super::{
    FORMATS, Format, FormatError, PlanFile, Report, Source, by_name, core_xml, identify,
    meshviewer, netjson,
};
use super::{count, dataset};

fn read(bytes: &[u8]) -> Option<(&'static Format, Result<(PlanFile, Report), FormatError>)> {
    let format = identify(&Source::of(bytes.to_vec())).ok()?;
    Some((format, format.read_plan(bytes.to_vec(), &station())))
}

fn maps(text: &str) -> (&'static Format, PlanFile, Report) {
    let (format, read) = read(text.as_bytes()).expect("a map");
    let (plan, report) = read.unwrap();
    (format, plan, report)
}

fn names(plan: &PlanFile) -> Vec<&str> {
    plan.nodes.iter().map(|node| node.name.as_str()).collect()
}

#[test]
fn a_network_graph_is_read_wherever_it_keeps_its_places() {
    let (kind, plan, notes) = maps(
        r#"{"type": "NetworkGraph", "protocol": "olsr", "version": "0.6", "metric": "etx",
        "label": "Ninux", "nodes": [
        {"id": "10.0.0.1", "label": "roof", "properties": {"lat": 41.9, "lng": 12.5}},
        {"id": "10.0.0.2", "location": {"lat": "41.91", "lng": "12.51"}},
        {"id": "10.0.0.3"}],
        "links": [{"source": "10.0.0.1", "target": "10.0.0.2", "cost": 1.0}]}"#,
    );
    assert_eq!(kind, &netjson::FORMAT);
    assert_eq!((plan.outline.name.as_str(), names(&plan)), ("Ninux", vec!["roof", "10.0.0.2"]));
    assert_eq!((count(&notes, "no position"), count(&notes, "link")), (1, 1));
}

#[test]
fn the_dirt_of_a_community_is_counted() {
    let node = |name: &str, place: &str| {
        format!(r#"{{"node_id": "{name}", "hostname": "{name}", "location": {place}}}"#)
    };
    let nodes = [
        node("a", r#"{"latitude": 52.02, "longitude": 8.53}"#),
        node("b", r#"{"latitude": 52.03, "longitude": 8.54}"#),
        node("b", r#"{"latitude": 52.04, "longitude": 8.55}"#).replacen("\"b\"", "\"c\"", 1),
        node("swapped", r#"{"latitude": 8.52, "longitude": 52.01}"#),
        node("everest", r#"{"latitude": 27.988056, "longitude": 86.925278}"#),
        node("typed", r#"{"latitude": 52.0, "longitude": 12986035}"#),
        node("zero", r#"{"latitude": 0, "longitude": 0}"#),
        node("none", "null"),
    ];
    let (kind, plan, notes) = maps(&format!(r#"{{"nodes": [{}], "links": []}}"#, nodes.join(",")));
    assert_eq!(kind, &meshviewer::FORMAT);
    assert_eq!(names(&plan), ["a", "b", "b 2", "swapped"]);
    assert_eq!(plan.nodes[3].position, GeoPoint::new(52.01, 8.52).unwrap());
    for what in
        ["swapped", "from the median", "invalid latitude", "longitude 0", "no position", "numbered"]
    {
        assert_eq!(count(&notes, what), 1, "{what}: {notes:?}");
    }
}

#[test]
fn devices_of_core_are_read() {
    let (kind, plan, notes) = maps(
        r#"<?xml version='1.0'?><scenario name="demo"><networks><network id="4"><position lat="1" lon="2"/></network></networks>
        <devices><device id="1" name="n1"><position x="1" lat="47.57" lon="-122.12" alt="2.0"/></device>
        <device id="2" name="n&amp;2"><position lat="47.58" lon="-122.13"/></device>
        <device id="3" name="n3"/></devices><links><link node1="1" node2="2"/></links></scenario>"#,
    );
    assert_eq!((kind, names(&plan)), (&core_xml::FORMAT, vec!["n1", "n&2"]));
    assert_eq!((count(&notes, "no position"), count(&notes, "link")), (1, 1));
}

#[test]
fn gateways_of_the_things_network_have_positions_and_the_radio_of_their_plan() {
    let text = r#"[
        {"netID": "000013", "tenantID": "ttn", "id": "demo-gw1", "eui": "B827EBFFFE8DB885",
         "location": {"latitude": 43.856691, "longitude": 18.382848, "altitude": 500, "accuracy": 0},
         "antennaPlacement": "INDOOR", "antennaCount": 1, "online": true,
         "frequencyPlan": {"region": "EU_863_870", "loraMultiSFChannels": [868300000, 868500000]}},
        {"netID": "000013", "tenantID": "ttn", "id": "second",
         "location": {"latitude": 43.85, "longitude": 18.39}, "online": true,
         "frequencyPlan": {"region": "US_902_928_FSB_2"}},
        {"netID": "000013", "tenantID": "other", "id": "demo-gw1", "online": true},
        {"netID": "000013", "id": "zero", "location": {"latitude": 0, "longitude": 0}},
        {"tenantID": "ttn"}]"#;
    let (kind, plan, notes) = maps(text);
    assert_eq!((kind.name, names(&plan)), ("ttn", vec!["demo-gw1", "second"]));
    assert_eq!((count(&notes, "no position"), count(&notes, "without netID")), (2, 1));
    let radio = |at: usize| {
        let radio = &plan.nodes[at].station.radio;
        (radio.frequency_mhz, radio.bandwidth_hz, radio.waveform.clone())
    };
    let lora = |spreading_factor| Waveform::Lora { spreading_factor, coding_rate: 5 };
    assert_eq!(radio(0), (868.3, 125e3, lora(12)));
    assert_eq!(radio(1), (902.3, 125e3, lora(10)));
    // The answer about one gateway.
    let one = &text[text.find('{').unwrap()..=text.find("}},").unwrap() + 1];
    assert_eq!(names(&maps(one).1), ["demo-gw1"]);
}

#[test]
fn documents_of_other_kinds_are_not_maps() {
    let maps = ["netjson", "meshviewer", "openwifimap", "nycmesh", "core"];
    for text in [
        "",
        "lat,lon\n1,2\n",
        r#"{"type": "FeatureCollection", "features": []}"#,
        "<kml><Document/></kml>",
        "[1, 2, 3]",
        "{",
    ] {
        let format = identify(&Source::of(text.into())).ok();
        assert!(format.is_none_or(|format| !maps.contains(&format.name)), "{text}");
    }
    let entity = "<!DOCTYPE scenario [<!ENTITY a \"aaaa\">]><scenario>&a;</scenario>";
    let message = read(entity.as_bytes()).unwrap().1.unwrap_err().to_string();
    assert!(message.contains("the entity \"a\""), "{message}");
    let empty = br#"{"type": "NetworkGraph", "nodes": [{"id": "a"}]}"#;
    let message = read(empty).unwrap().1.unwrap_err().to_string();
    assert!(
        message.contains("no node with a position") && message.contains("1 x no position"),
        "{message}"
    );
    assert!(FORMATS.iter().all(|format| by_name(format.name) == Some(*format)));
}

/// Path, nodes read, and minimal counts of notes.
type Expected = (&'static str, usize, &'static [(&'static str, usize)]);

#[needs(shared("data/freifunk"), shared("data/nycmesh"), shared("data/core_manet"))]
#[test]
fn real_maps_with_their_dirt_are_read() {
    let expected: [Expected; 12] = [
        ("freifunk/freifunk-aachen-meshviewer.json", 1774, &[("no position", 339)]),
        ("freifunk/freifunk-altdorf-meshviewer.json", 690, &[("invalid latitude", 1)]),
        ("freifunk/freifunk-bielefeld-meshviewer.json", 213, &[("swapped", 2)]),
        ("freifunk/freifunk-bremen-meshviewer.json", 753, &[("from the median", 1)]),
        ("freifunk/freifunk-cologne-bonn-area-meshviewer.json", 250, &[]),
        ("freifunk/freifunk-leipzig-meshviewer.json", 200, &[]),
        ("freifunk/freifunk-munich-meshviewer.json", 1550, &[]),
        ("freifunk/freifunk-stuttgart-meshviewer.json", 1200, &[]),
        ("freifunk/freifunk-ulm-meshviewer.json", 200, &[]),
        ("freifunk/freifunk-berlin-hopglass.json", 100, &[("link", 100)]),
        ("nycmesh/nodes.json", 1300, &[("not installed", 10_000)]),
        ("core_manet/sample1.xml", 5, &[]),
    ];
    for (path, nodes, notes) in expected {
        let path = shared(&format!("data/{path}"));
        let bytes = std::fs::read(&path).unwrap();
        let (plan, report) = read(&bytes).expect("a map").1.unwrap();
        plan.check().unwrap();
        assert!(plan.nodes.len() >= nodes, "{}: {}", path.display(), plan.nodes.len());
        for (what, times) in notes {
            let count: usize = report
                .notes
                .iter()
                .filter(|note| note.what.contains(what))
                .map(|note| note.count)
                .sum();
            assert!(count >= *times, "{}: {what} {count}", path.display());
        }
    }
}

/// Every prefix and many a bent byte: never a panic.
#[test]
fn damaged_maps_give_errors() {
    let whole = r#"{"nodes":[{"node_id":"a","location":{"latitude":52.0,"longitude":8.5}}]}"#;
    let xml = r#"<scenario name="d"><devices><device name="n1"><position lat="4" lon="1"/></device></devices></scenario>"#;
    for text in [whole, xml] {
        for cut in 0..text.len() {
            drop(read(&text.as_bytes()[..cut]));
            for bit in 0..8 {
                let mut bent = text.as_bytes().to_vec();
                bent[cut] ^= 1 << bit;
                drop(read(&bent));
            }
        }
    }
}

#[test]
fn repeated_node_id_is_one_node_in_every_snapshot() {
    let node = |id: &str, lat: f64| {
        let place = format!(r#""location":{{"latitude":{lat},"longitude":11.9}}"#);
        format!(r#"{{"node_id":"{id}","hostname":"{id}",{place}}}"#)
    };
    let map =
        format!(r#"{{"nodes":[{},{},{}]}}"#, node("a", 57.7), node("b", 57.8), node("a", 57.9));
    for snapshots in [1, 3, 10] {
        let documents = vec![map.as_bytes(); snapshots];
        let dataset = dataset(&meshviewer::FORMAT, &documents).unwrap();
        let names: Vec<_> = dataset.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["a", "b"], "{snapshots}");
        assert_eq!(count(&dataset.report, "lists before"), snapshots);
        assert!(dataset.nodes[0].position.is_some_and(|at| at.lat_deg() < 57.75));
    }
}

#[test]
fn equal_names_of_devices_are_different_nodes() {
    let device = |id: u32, name: &str, lat: f64| {
        format!(
            "<device id=\"{id}\" name=\"{name}\"><position lat=\"{lat}\" lon=\"11.9\"/></device>"
        )
    };
    let devices =
        device(1, "a &amp; b", 57.7) + &device(2, "a &amp; b", 57.8) + &device(1, "c", 57.9);
    let document = format!(
        "<!DOCTYPE scenario>\n<scenario name=\"x\"><devices>{devices}</devices></scenario>"
    );
    let dataset = dataset(&core_xml::FORMAT, &[document.as_bytes()]).unwrap();
    let names: Vec<_> = dataset.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["a & b", "a & b 2"]);
    assert_eq!(count(&dataset.report, "the id of another"), 1);
}

#[test]
fn zones_of_guifi_give_working_nodes_with_their_heights() {
    let (kind, plan, notes) = maps(
        r#"<?xml version="1.0" encoding="UTF-8"?><cnml version="0.1"><network><zone id="1" title="Vic">
        <node id="7" title="Campanar" lat="41.93" lon="2.25" antenna_elevation="18" status="Working">
          <device id="70"><radio id="0"><interface id="9">
            <link id="3" linked_node_id="8" link_status="Working"/></interface></radio></device></node>
        <node id="8" title="Mas" lat="41.95" lon="2.26" antenna_elevation="0" status="Working">
          <device id="80"><radio id="0"><interface id="9">
            <link id="3" linked_node_id="7" link_status="Working"/></interface></radio></device></node>
        <node id="9" title="Later" lat="41.96" lon="2.27" status="Planned"/>
        <node id="10" title="Nowhere" status="Working"/></zone></network></cnml>"#,
    );
    assert_eq!((kind.name, plan.outline.name.as_str()), ("cnml", "Vic"));
    assert_eq!(names(&plan), ["Campanar", "Mas"]);
    let heights: Vec<f64> = plan.nodes.iter().map(|node| node.station.height_agl_m).collect();
    assert_eq!(heights, [18.0, station().height_agl_m]);
    for what in ["status \"Planned\"", "no position", "link", "a height without a radio"] {
        assert_eq!(count(&notes, what), 1, "{what}: {notes:?}");
    }
}

#[test]
fn device_monitoring_gives_the_signals_of_its_stations() {
    let text = r#"{"type": "DeviceMonitoring", "general": {"hostname": "roof", "local_time": 1660812480,
        "location": {"lat": 41.9, "lng": 12.5}}, "interfaces": [{"name": "eth0", "mac": "00:00:00:00:00:01"},
        {"name": "wlan0", "wireless": {"noise": -95, "clients": [{"mac": "00:00:00:00:00:02", "signal": -60},
        {"mac": "00:00:00:00:00:03"}, {"signal": -50}]}}]}"#;
    let recording = dataset(by_name("netjson-device").unwrap(), &[text.as_bytes()]).unwrap();
    assert_eq!(recording.measurements(), 1);
    assert_eq!(recording.begin_unix_s, Some(1660812480.0));
    for what in ["a station without a signal", "a station without an address"] {
        assert_eq!(count(&recording.report, what), 1, "{what}: {:?}", recording.report);
    }
    let (_, plan, _) = maps(text);
    assert_eq!(names(&plan), ["roof"]);
}
