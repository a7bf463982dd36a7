//! Documents of thousands of nodes without positions: what becomes of them grows with nodes and links, not with pairs.

use std::fmt::Write;
use std::sync::Arc;

use groundwave_engine::{Engine, Execution};
use groundwave_gateway::{Snapshot, world};
use groundwave_model::sample::station;
use groundwave_model::terrain::Flat;

use super::super::{ReadOptions, Source, identify};

const NODES: usize = 400;

/// Neighbours of a node in the tables of `batctl oj`.
fn batctl() -> String {
    let row = |number: usize| {
        format!(
            "{{\"orig_address\":\"{0}\",\"neigh_address\":\"{0}\",\"best\":true,\"tq\":200,\
             \"last_seen_msecs\":10,\"hard_ifname\":\"mesh0\"}}",
            mac(number)
        )
    };
    format!("[{}]", (1..NODES).map(row).collect::<Vec<_>>().join(","))
}

fn mac(number: usize) -> String {
    format!("02:00:00:00:{:02x}:{:02x}", number / 256, number % 256)
}

/// A ring of nodes in NetJSON, none of which has a position.
fn netjson() -> String {
    let nodes = (0..NODES).map(|number| format!("{{\"id\":\"{}\"}}", mac(number)));
    let link = |number: usize| {
        let (from, to) = (mac(number), mac((number + 1) % NODES));
        format!("{{\"source\":\"{from}\",\"target\":\"{to}\",\"cost\":1.5}}")
    };
    let links = (0..NODES).map(link).collect::<Vec<_>>().join(",");
    format!(
        "{{\"type\":\"NetworkGraph\",\"nodes\":[{}],\"links\":[{links}]}}",
        nodes.collect::<Vec<_>>().join(",")
    )
}

/// Neighbours of a router of babeld.
fn babel() -> String {
    let mut text = "BABEL 1.0\nmy-id 02:00:00:ff:fe:00:00:00\n".to_owned();
    for number in 1..NODES {
        let _ = writeln!(
            text,
            "add neighbour {number:x} address fe80::{number:x} if mesh0 reach ffff rxcost 256 txcost 300"
        );
    }
    text
}

/// Receptions of a receiver that drives by access points.
fn wigle() -> String {
    let mut text =
        "WigleWifi-1.6,appRelease=2\nMAC,SSID,AuthMode,FirstSeen,Channel,Frequency,RSSI,\
                    CurrentLatitude,CurrentLongitude,AltitudeMeters,AccuracyMeters,Type\n"
            .to_owned();
    for number in 1..NODES {
        let _ = writeln!(
            text,
            "{},net,[ESS],2024-05-01 10:{:02}:{:02},1,2412,-70,57.7,{},0,3,WIFI",
            mac(number),
            number / 60,
            number % 60,
            11.9 + number as f64 * 1e-4
        );
    }
    text
}

#[test]
fn nodes_without_positions_have_no_links_beyond_the_recorded_ones() {
    for (text, links) in [
        (batctl(), NODES - 1),
        (netjson(), NODES),
        (babel(), NODES - 1),
        // Between a receiver with a position and transmitters without one the model has no link.
        (wigle(), 0),
    ] {
        let source = Source::of(text.into_bytes());
        let format = identify(&source).unwrap();
        let dataset = format.read(&source, &ReadOptions::new(station())).unwrap();
        let script = dataset.script(format, &station()).unwrap();
        let mut builder = world(Arc::new(Flat::default()));
        builder.execution(Execution::Serial);
        let mut engine: Engine<Snapshot> = builder.build(0, dataset.step_ns()).unwrap();
        for (tick, name, body) in &script.commands {
            let command = engine.registry().from_bytes(name, body).unwrap();
            engine.script(*tick, command);
        }
        let ticked = engine.tick(None).unwrap();
        assert!(ticked.refused.is_empty(), "{format}: {:?}", ticked.refused);
        let view = engine.view();
        assert_eq!((view.nodes.len(), view.links.len()), (NODES, links), "{format}");
        let added = script.commands.iter().filter(|command| command.1 == "node.add_unplaced");
        assert_eq!(added.count(), script.unplaced, "{format}");
    }
}
