//! Recordings of a running world in every format.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use groundwave_engine::{Engine, Recorded};
use groundwave_gateway::{Snapshot, world};
use groundwave_model::radio::{Environment, Role};
use groundwave_model::sample::station;
use groundwave_model::terrain::{Flat, GeoPoint};
use groundwave_simulation::link::FailLink;
use groundwave_simulation::measure::{Measured, Measurement, ObserveLinks};
use groundwave_simulation::site::{AddNode, FailNode, MoveNode, NodeId, SetEnvironment};

use super::super::{COLUMNS, Event, Format, Source, identify};
use super::super::{core_xml, csv, eel, netjson, parquet};
use super::dataset;

fn id(name: &str) -> NodeId {
    NodeId::named(name)
}

fn place(east: f64) -> GeoPoint {
    GeoPoint::new(57.7, 11.9 + east * 0.01).unwrap()
}

fn send<C: Recorded>(engine: &Engine<Snapshot>, command: C) {
    drop(engine.handle().submit(command).unwrap());
}

/// Three nodes: one moves, one is measured, a link is cut, one goes down; as every kind.
fn written(format: &Format) -> (String, u64, Arc<Snapshot>) {
    let (bytes, count, view) = bytes_of(format);
    (String::from_utf8(bytes).unwrap(), count, view)
}

fn bytes_of(format: &Format) -> (Vec<u8>, u64, Arc<Snapshot>) {
    let mut engine = world(Arc::new(Flat::default())).build::<Snapshot>(1, 1_000_000_000).unwrap();
    for (at, name) in ["a", "b <1>", "c"].into_iter().enumerate() {
        send(
            &engine,
            AddNode {
                node: id(name),
                name: name.to_owned(),
                role: Role::default(),
                position: place(at as f64),
                station: station(),
                deployment: None,
            },
        );
    }
    let mut out = Vec::new();
    let mut writer = format.write_recording.unwrap()(Box::new(&mut out)).unwrap();
    for tick in 1..=8 {
        match tick {
            3 => {
                let (node, position) = (id("c"), place(2.5));
                send(&engine, MoveNode { node, position });
            }
            4 => {
                let values = Measured { rx_power_dbm: Some(-61.5), ..Measured::default() };
                let (from, to) = (id("a"), id("b <1>"));
                let measurements = vec![Measurement { from, to, values }];
                send(&engine, ObserveLinks { measurements });
            }
            5 => {
                let (a, b) = (id("a"), id("c"));
                send(&engine, FailLink { a, b });
            }
            6 => {
                let environment = Environment { rain_rate_mm_h: 12.0, ..Environment::default() };
                send(&engine, SetEnvironment { environment });
            }
            7 => send(&engine, FailNode { node: id("c") }),
            _ => {}
        }
        engine.tick(None).unwrap();
        writer.write(&engine.view()).unwrap();
    }
    let view = engine.view();
    let count = writer.finish(&view).unwrap();
    (out, count, view)
}

#[test]
fn an_event_log_reads_back_to_a_tenth_of_a_decibel() {
    let (text, count, view) = written(&eel::FORMAT);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.count() as u64, count);
    let recording = dataset(&eel::FORMAT, &[text.as_bytes()]).unwrap();
    let mut losses: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    let (mut moves, mut heights) = (0, 0);
    for (_, what) in &recording.events {
        match what {
            Event::Observe(from, to, values) => {
                // The loss of a link that is down is read as the link that is gone.
                assert_eq!(values.path_loss_db.is_none(), values.delivery_prob == Some(0.0));
                losses.insert((*from, *to), values.path_loss_db.unwrap_or(300.0));
            }
            Event::Fix(..) => moves += 1,
            Event::Height(..) => heights += 1,
            Event::Move(..) | Event::GoTo(..) | Event::Point(..) | Event::Leave(_) => {
                panic!("nobody sets out")
            }
        }
    }
    assert_eq!((recording.nodes.len(), moves, heights, losses.len()), (3, 4, 4, 6));
    // By the order of ids, as they were numbered.
    let number = |node: NodeId| {
        let at = view.nodes.iter().position(|entry| entry.id == node).unwrap() + 1;
        let name = format!("nem-{at}");
        recording.nodes.iter().position(|spot| spot.name == name).unwrap() as u32
    };
    for link in view.links.iter() {
        let ways =
            [(link.a, link.b, &link.budget.forward), (link.b, link.a, &link.budget.backward)];
        for (from, to, direction) in ways {
            let open = from != id("c") && to != id("c");
            let expected = if open { direction.path_loss_db } else { 300.0 };
            let loss = losses[&(number(from), number(to))];
            assert!((loss - expected).abs() <= 0.05 + 1e-9, "{loss} for {expected}");
        }
    }
}

#[test]
fn a_table_has_a_row_for_each_change_and_each_measurement() {
    let (text, count, view) = written(&csv::FORMAT);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().unwrap().clone();
    assert_eq!(heads.iter().collect::<Vec<_>>(), COLUMNS);
    let column = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len() as u64, count);
    let at = |second: &str| rows.iter().filter(|row| &row[0] == second).count();
    // Six directions at first, four when c moves, one measured, two cut, four when c goes down.
    assert_eq!(["0", "1", "2", "3", "4", "6"].map(at), [6, 0, 4, 1, 2, 4]);
    let measured = rows.iter().find(|row| &row[0] == "3").unwrap();
    assert_eq!((&measured[1], &measured[2]), ("a", "b <1>"));
    assert_eq!(&measured[column("measured_rx_power_dbm")], "-61.5");
    let carried = rows.iter().filter(|row| &row[0] == "6");
    assert!(carried.into_iter().all(|row| &row[column("carries")] == "false"));
    let first = rows.iter().find(|row| (&row[1], &row[2]) == ("a", "b <1>")).unwrap();
    let ends = [id("a"), id("b <1>")];
    let link = view.links.iter().find(|link| ends.contains(&link.a) && ends.contains(&link.b));
    let distance_m: f64 = first[column("distance_m")].parse().unwrap();
    assert_eq!(distance_m, link.unwrap().budget.distance_m, "to the bit");
}

#[test]
fn parquet_holds_the_rows_of_the_table_to_the_bit() {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::Field;
    let (text, count, _) = written(&csv::FORMAT);
    let (bytes, parquet_count, _) = bytes_of(&parquet::FORMAT);
    assert_eq!(count, parquet_count);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    let file = SerializedFileReader::new(file).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next().unwrap(), COLUMNS.join(","));
    let mut rows = 0;
    for (row, line) in file.get_row_iter(None).unwrap().zip(lines) {
        let cell = |field: &Field| match field {
            Field::Null => String::new(),
            Field::Double(value) => value.to_string(),
            Field::Bool(value) => value.to_string(),
            Field::Str(text) if text.contains('<') => format!("\"{text}\""),
            Field::Str(text) => text.clone(),
            other => panic!("{other:?}"),
        };
        let row = row.unwrap();
        let cells: Vec<String> = row.get_column_iter().map(|(_, field)| cell(field)).collect();
        assert_eq!(cells.join(","), line);
        rows += 1;
    }
    assert_eq!(rows, count);
}

/// Assumptions before and after the rain began.
const ASSUMED: [&str; 2] = [
    "50 % of time, locations and situations; no clutter, no woodland, no rain, no man-made noise",
    "50 % of time, locations and situations; no clutter, no woodland, no man-made noise",
];

#[test]
fn recordings_have_the_assumptions_of_their_predictions_with_times() {
    let (text, ..) = written(&eel::FORMAT);
    let lines: Vec<_> = text.lines().filter(|line| line.contains("assume")).collect();
    let line =
        |at_s: &str, assumed: &str| format!("# from {at_s} on path losses assume: {assumed}");
    assert_eq!(lines, [line("0.000", ASSUMED[0]), line("5.000", ASSUMED[1])]);
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    let (bytes, ..) = bytes_of(&parquet::FORMAT);
    let file = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    let about = file
        .metadata()
        .file_metadata()
        .key_value_metadata()
        .unwrap()
        .iter()
        .find(|pair| pair.key == parquet::ASSUMPTIONS);
    let [first, second] = ASSUMED;
    let lines = format!("from 0 s on: {first}\nfrom 5 s on: {second}");
    assert_eq!(about.unwrap().value, Some(lines));
    // Of documents of the last state those at its time.
    let (text, ..) = written(&core_xml::FORMAT);
    let line = format!("<configuration name=\"assumptions\" value=\"{}\"/>", ASSUMED[1]);
    assert!(text.contains(&line), "{text}");
    let (text, _, view) = written(&netjson::FORMAT);
    let graph: serde_json::Value = serde_json::from_str(&text).unwrap();
    let assumptions = serde_json::to_value(view.environment.assumptions(None)).unwrap();
    assert_eq!(graph["assumptions"], assumptions);
    assert_eq!(assumptions["left_out"][0], "clutter");
    // A table of plain rows has no place for it: `convert` prints it beside the file.
    let (text, ..) = written(&csv::FORMAT);
    assert!(text.starts_with("at_s,from,to,"), "{text}");
}

#[test]
fn the_mesh_in_the_end_is_read_as_a_map() {
    for format in [&netjson::FORMAT, &core_xml::FORMAT] {
        let (text, count, view) = written(format);
        assert_eq!(identify(&Source::of(text.clone().into())), Ok(format));
        let (plan, _) = format.read_plan(text.clone().into(), &station()).unwrap();
        assert_eq!(plan.nodes.len(), 3);
        for node in view.nodes.iter() {
            let read = plan
                .nodes
                .iter()
                .find(|read| read.name == node.name)
                .unwrap_or_else(|| panic!("{} in {text}", node.name));
            assert!((read.position.lon_deg() - node.position.lon_deg()).abs() < 1e-6);
        }
        // Only a and b still carry anything.
        assert_eq!(count, 4, "{text}");
    }
}
