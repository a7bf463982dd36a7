//! Any sequence of commands leaves a world valid, and replays.

use std::sync::Arc;

use groundwave_engine::log::Reader;
use groundwave_engine::{Engine, Execution, Next, replay};
use groundwave_gateway::{Snapshot, world};
use groundwave_model::sample;
use groundwave_model::terrain::Flat;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support;

fn engine() -> Engine<Snapshot> {
    let mut builder = world(Arc::new(Flat::default()));
    builder.execution(Execution::Serial);
    builder.build(9, 1_000_000_000).unwrap()
}

/// Numbers as users give them: mostly sane, at times at or over an edge.
fn number(low: f64, high: f64) -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => low..=high,
        1 => prop_oneof![Just(low), Just(high), Just(0.0), Just(-1e9), Just(1e300)],
    ]
}

fn position() -> impl Strategy<Value = Value> {
    let near = (57.0..57.1f64, 11.0..11.2f64);
    let any = (number(-90.0, 90.0), number(-180.0, 180.0));
    prop_oneof![6 => near.boxed(), 1 => any.boxed()]
        .prop_map(|(lat_deg, lon_deg)| json!({ "lat_deg": lat_deg, "lon_deg": lon_deg }))
}

fn name() -> impl Strategy<Value = String> {
    (0..6u8).prop_map(|i| format!("n{i}"))
}

fn station() -> impl Strategy<Value = Value> {
    (number(0.0, 50.0), number(2400.0, 2410.0), number(0.0, 30.0)).prop_map(|(height, mhz, dbm)| {
        let mut station = serde_json::to_value(sample::station()).unwrap();
        station["height_agl_m"] = json!(height);
        station["radio"]["frequency_mhz"] = json!(mhz);
        station["radio"]["tx_power_dbm"] = json!(dbm);
        station
    })
}

/// One command: its name and body.
fn command() -> impl Strategy<Value = (&'static str, Value)> {
    let node =
        |command: &'static str| name().prop_map(move |node| (command, json!({ "node": node })));
    let pair = |command: &'static str| {
        (name(), name()).prop_map(move |(a, b)| (command, json!({ "a": a, "b": b })))
    };
    prop_oneof![
        4 => (name(), position(), station()).prop_map(|(node, position, station)| {
            let body = json!({ "node": node, "name": node, "role": "relay", "position": position, "station": station });
            ("node.add", body)
        }),
        2 => (name(), position()).prop_map(|(node, position)| {
            ("node.move", json!({ "node": node, "position": position }))
        }),
        1 => node("node.remove"),
        1 => node("node.fail"),
        1 => node("node.restore"),
        1 => node("motion.stop"),
        1 => pair("link.fail"),
        1 => pair("link.restore"),
        1 => (name(), station()).prop_map(|(node, station)| {
            ("node.set_station", json!({ "node": node, "station": station }))
        }),
        1 => (name(), name(), number(1.0, 1e9)).prop_map(|(source, target, rate_bps)| {
            let flow = format!("{source}-{target}");
            let body = json!({ "flow": flow, "name": flow, "source": source, "target": target, "rate_bps": rate_bps });
            ("flow.start", body)
        }),
        1 => (name(), position(), number(0.1, 100.0)).prop_map(|(node, destination, speed_m_s)| {
            ("motion.goto", json!({ "node": node, "destination": destination, "speed_m_s": speed_m_s }))
        }),
        1 => (name(), number(0.1, 10.0), number(1.0, 20.0)).prop_map(|(node, low, high)| {
            let area = json!({ "south_deg": 57.0, "west_deg": 11.0, "north_deg": 57.1, "east_deg": 11.2 });
            let body = json!({ "node": node, "area": area, "speed_min_m_s": low, "speed_max_m_s": high, "pause_ns": 0 });
            ("motion.wander", body)
        }),
        1 => (number(0.0, 100.0), number(1.0, 99.0)).prop_map(|(rain, time)| {
            let environment = json!({ "rain_rate_mm_h": rain, "time_percent": time });
            ("environment.set", json!({ "environment": environment }))
        }),
        1 => number(100.0, 100_000.0).prop_map(|range| ("mesh.limits", json!({ "link_range_max_m": range }))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn scripts_of_commands_never_break_the_world_and_replay_to_the_bit(
        script in prop::collection::vec((1..4u64, command()), 1..60)
    ) {
            let memory = support::Memory::begun(9, 1_000_000_000);
        let mut live = engine();
        live.record(memory.clone());
        let mut tick = 0;
        for (wait, (name, body)) in script {
            tick += wait;
            // A body that cannot be read is refused before it reaches the world.
            if let Ok(command) = live.registry().from_json(name, body) {
                live.script(tick.max(live.clock().tick + 1), command);
            }
        }
        for _ in 0..tick {
            live.tick(None).unwrap();
        }
        let digest = live.mark().unwrap();
        for link in live.view().links.iter() {
            for way in [&link.budget.forward, &link.budget.backward] {
                prop_assert!(way.path_loss_db.is_finite() && way.snr_db.is_finite());
                prop_assert!((0.0..=1.0).contains(&way.per));
            }
        }
        let bytes = memory.bytes();
        let mut again = engine();
        let replayed = replay(&mut again, &mut Reader::open(&bytes[..]).unwrap(), |_| Next::Go).unwrap();
        prop_assert_eq!(replayed.digest, digest);
    }
}
