//! Motion and heights of recordings: the same in a log and in a scenario.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundwave_engine::{Clock, Engine, Execution};
use groundwave_gateway::{Snapshot, world};
use groundwave_model::sample::station;
use groundwave_model::terrain::{Flat, GeoPoint, Terrain, geodesic};
use groundwave_simulation::site::NodeView;

use super::super::csv::tracks;
use super::super::{
    Dataset, Event, Format, ReadOptions, Source, bonnmotion, eel, gpx, identify, ns2, ns3, sumo,
};
use super::count;
use crate::parse_alone;

/// Position and height above ground, m, of each node by name.
pub(super) type State = BTreeMap<String, (GeoPoint, f64)>;

fn read(format: &Format, text: &str) -> Dataset {
    let mut options = ReadOptions::new(station());
    options.origin = GeoPoint::new(57.7, 11.9).ok();
    format.read(&Source::of(text.into()), &options).unwrap()
}

/// The states of a world after each tick, with the commands that `schedule` puts into it.
fn run(
    terrain: &Arc<dyn Terrain>,
    step_ns: u64,
    ticks: u64,
    schedule: impl FnOnce(&mut Engine<Snapshot>),
) -> Vec<State> {
    let mut builder = world(Arc::clone(terrain));
    builder.execution(Execution::Serial);
    let mut engine: Engine<Snapshot> = builder.build(0, step_ns).unwrap();
    schedule(&mut engine);
    let state = |_| {
        let ticked = engine.tick(None).unwrap();
        assert!(ticked.refused.is_empty(), "{:?}", ticked.refused);
        let view = engine.view();
        let node =
            |node: &NodeView| (node.name.clone(), (node.position, node.station.height_agl_m));
        view.nodes.iter().map(node).collect()
    };
    (1..=ticks).map(state).collect()
}

/// The states of a recording as a log.
pub(super) fn log(terrain: &Arc<dyn Terrain>, format: &Format, recording: &Dataset) -> Vec<State> {
    let script = recording.script(format, &station()).unwrap();
    run(terrain, recording.step_ns(), script.last_tick, |engine| {
        for (tick, name, body) in &script.commands {
            let command = engine.registry().from_bytes(name, body).unwrap();
            engine.script(*tick, command);
        }
    })
}

/// The states of a recording as a scenario.
pub(super) fn scenario(
    terrain: &Arc<dyn Terrain>,
    format: &Format,
    recording: Dataset,
) -> Vec<State> {
    let (text, _, _) = recording.motion_scenario(format, &station()).unwrap();
    let scenario = parse_alone(&text, "made").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let clock = Clock::new(scenario.step_ns);
    run(terrain, scenario.step_ns, scenario.duration_ns / scenario.step_ns, |engine| {
        for record in &scenario.records {
            let body = record.timed_body();
            let command = engine.registry().from_json(&record.name, body).unwrap();
            engine.script(clock.tick_at(record.at_ns), command);
        }
    })
}

/// Asserts that a recording moves its nodes alike in both, to the millimetre; the states.
#[track_caller]
fn same(format: &Format, text: &str) -> Vec<State> {
    let terrain: Arc<dyn Terrain> = Arc::new(Flat::default());
    same_over(&terrain, || read(format, text), format)
}

/// As [`same`], over some ground.
#[track_caller]
pub(super) fn same_over(
    terrain: &Arc<dyn Terrain>,
    recording: impl Fn() -> Dataset,
    format: &Format,
) -> Vec<State> {
    let log = log(terrain, format, &recording());
    let scenario = scenario(terrain, format, recording());
    assert!(!log.is_empty() && scenario.len() + 1 >= log.len());
    for (tick, (one, other)) in log.iter().zip(&scenario).enumerate() {
        assert_eq!(one.len(), other.len());
        for (name, (position, height_m)) in one {
            let (expected, expected_m) = other.get(name).copied().expect("the same nodes");
            let apart_m = geodesic::inverse(*position, expected).distance_m;
            assert!(apart_m < 1e-3, "{name} {apart_m} m apart in tick {tick}");
            assert!((height_m - expected_m).abs() < 1e-6, "{name} in tick {tick}");
        }
    }
    log
}

fn apart_m(a: GeoPoint, lat: f64, lon: f64) -> f64 {
    geodesic::inverse(a, GeoPoint::new(lat, lon).unwrap()).distance_m
}

#[test]
fn track_walks_from_fix_to_fix() {
    let point = |lat: f64, time: &str| {
        format!("<trkpt lat=\"{lat}\" lon=\"11.9\"><time>2022-08-18T{time}Z</time></trkpt>")
    };
    let points =
        [(57.70, "08:00:00"), (57.71, "08:01:00"), (57.71, "08:01:30.5"), (57.70, "08:02:00")];
    let points: String = points.iter().map(|(lat, time)| point(*lat, time)).collect();
    let gpx = format!("<gpx><trk><name>a</name><trkseg>{points}</trkseg></trk></gpx>");
    let states = same(&gpx::FORMAT, &gpx);
    assert!(apart_m(states[30]["a"].0, 57.705, 11.9) < 1.0, "half way after half a minute");
    assert!(apart_m(states[80]["a"].0, 57.71, 11.9) < 1e-3, "a stay of half a minute");
    assert!(apart_m(states[120]["a"].0, 57.70, 11.9) < 1e-3);
    // The date of the recording is kept.
    let recording = read(&gpx::FORMAT, &gpx);
    assert_eq!(recording.begin_unix_s, Some(1_660_809_600.0));
    let (text, ..) = recording.motion_scenario(&gpx::FORMAT, &station()).unwrap();
    assert!(text.contains("begin = \"2022-08-18T08:00:00Z\""), "{text}");
    assert_eq!(parse_alone(&text, "made").unwrap().begin_unix_s, Some(1_660_809_600.0));
}

#[test]
fn track_of_many_fixes_is_one_motion() {
    let lines: String = (0..2_500)
        .map(|second| {
            let lat = 57.7 + f64::from(second % 50) * 1e-4;
            format!("{second} nem:1 location gps {lat},11.9\n")
        })
        .collect();
    let states = same(&eel::FORMAT, &lines);
    assert!(apart_m(states[1_030]["nem-1"].0, 57.7030, 11.9) < 1e-3);
    let script = read(&eel::FORMAT, &lines).script(&eel::FORMAT, &station()).unwrap();
    let count = script.commands.iter().filter(|command| command.1 == "motion.follow").count();
    assert_eq!(count, 3);
}

#[test]
fn heights_above_ground_are_those_of_the_recording() {
    let eel = "0 nem:1 location gps 57.7,11.9,500,agl\n0 nem:2 location gps 57.71,11.9\n\
               5 nem:1 location gps 57.7,11.9,600,agl\n9 nem:2 location gps 57.71,11.9,-30000,agl\n";
    let states = same(&eel::FORMAT, eel);
    assert_eq!((states[1]["nem-1"].1, states[7]["nem-1"].1), (520.0, 600.0));
    assert_eq!(states[7]["nem-2"].1, station().height_agl_m);
    let report = read(&eel::FORMAT, eel).report;
    assert_eq!(count(&report, "beyond 0 to"), 1);
}

#[test]
fn node_of_a_space_lands_and_one_of_a_plane_keeps_its_height() {
    let rise_m = |format: &Format, text: &str| {
        let states = same(format, text);
        (states[0]["node-0"].1, states[states.len() - 1]["node-0"].1)
    };
    let default_m = station().height_agl_m;
    let ns3 = |from_m: u32, to_m: u32| {
        format!(
            "now=+0s node=0 pos=0:0:{from_m} vel=1:0:0\nnow=+9s node=0 pos=9:0:{to_m} vel=0:0:0\n"
        )
    };
    let ns2 = |from_m: u32, to_m: u32| {
        format!(
            "$node_(0) set X_ 1\n$node_(0) set Y_ 2\n$node_(0) set Z_ {from_m}\n\
             $ns_ at 9 \"$node_(0) set Z_ {to_m}\"\n"
        )
    };
    for (from_m, to_m) in [(50, 0), (0, 5), (25, 25)] {
        let heights_m = (f64::from(from_m), f64::from(to_m));
        let line = format!("0 0 0 {from_m} 9 50 50 {to_m}\n");
        assert_eq!(rise_m(&bonnmotion::FORMAT, &line), heights_m);
        assert_eq!(rise_m(&ns3::FORMAT, &ns3(from_m, to_m)), heights_m);
        assert_eq!(rise_m(&ns2::FORMAT, &ns2(from_m, to_m)), heights_m);
    }
    assert_eq!(rise_m(&bonnmotion::FORMAT, "0 0 0 0 9 50 50 0\n"), (default_m, default_m));
    assert_eq!(rise_m(&ns3::FORMAT, &ns3(0, 0)), (default_m, default_m));
    assert_eq!(rise_m(&ns2::FORMAT, &ns2(0, 0)), (default_m, default_m));
}

#[test]
fn heights_change_evenly_between_fixes() {
    let climb = "now=+0s node=0 pos=0:0:10 vel=1:0:1\nnow=+100s node=0 pos=100:0:110 vel=0:0:0\n";
    let states = same(&ns3::FORMAT, climb);
    let heights_m = [0, 25, 50, 100].map(|tick: usize| states[tick]["node-0"].1);
    assert_eq!(heights_m, [10.0, 35.0, 60.0, 110.0]);
    let states = same(&bonnmotion::FORMAT, "0 0 0 10 10 50 0 30 20 50 0 20\n");
    let heights_m = [5, 10, 15, 20].map(|tick: usize| states[tick]["node-0"].1);
    assert_eq!(heights_m, [20.0, 30.0, 25.0, 20.0]);
    // Of a change of the rate of climb between two positions.
    let eel = "0 nem:1 location gps 57.7,11.9,0,agl\n10 nem:1 location gps 57.7,11.9,100,agl\n\
               20 nem:1 location gps 57.7,11.9,100,agl\n";
    let states = same(&eel::FORMAT, eel);
    assert_eq!((states[5]["nem-1"].1, states[15]["nem-1"].1), (50.0, 100.0));
}

#[test]
fn a_node_that_jumps_goes_on_from_there() {
    let jump = "now=+0s node=0 pos=0:0:0 vel=0:0:0\nnow=+10s node=0 pos=500:0:0 vel=10:0:0\n\
                now=+20s node=0 pos=600:0:0 vel=0:0:0\n";
    let states = same(&ns3::FORMAT, jump);
    let origin = GeoPoint::new(57.7, 11.9).unwrap();
    let east_m = |tick: usize| geodesic::inverse(origin, states[tick]["node-0"].0).distance_m;
    assert!(east_m(9) < 1.0 && (east_m(10) - 500.0).abs() < 1e-3, "{}", east_m(10));
    assert!((east_m(15) - 550.0).abs() < 1e-3, "{}", east_m(15));
}

/// A vehicle from second 2 to 4 and again from 7, a person from 1 to 2.
const FCD: &str = r#"<fcd-export><timestep time="0"/>
    <timestep time="1"><person id="p" x="1" y="1"/></timestep>
    <timestep time="2"><vehicle id="v" x="0" y="0"/><person id="p" x="2" y="1"/></timestep>
    <timestep time="0:00:00:03"><vehicle id="v" x="10" y="0" z="0"/></timestep>
    <timestep time="00:00:04"><vehicle id="v" x="20" y="0"/></timestep>
    <timestep time="5"/>
    <timestep time="7"><vehicle id="v" x="500" y="0"/></timestep>
    <timestep time="9"><vehicle id="v" x="520" y="0"/></timestep></fcd-export>"#;

#[test]
fn nodes_of_sumo_are_there_while_steps_have_them() {
    let states = same(&sumo::FORMAT, FCD);
    let names = |tick: usize| states[tick].keys().map(String::as_str).collect::<Vec<_>>();
    let all: Vec<_> = (0..=9).map(names).collect();
    assert_eq!(all[..4], [vec![], vec!["p"], vec!["p", "v"], vec!["v"]]);
    let script = read(&sumo::FORMAT, FCD).script(&sumo::FORMAT, &station()).unwrap();
    let of = |name: &str| {
        let own = script.commands.iter().filter(|command| command.1 == name);
        own.map(|command| command.0 - 1).collect::<Vec<_>>()
    };
    // The vehicle is away from 5 to 7, and the person for good from 3.
    assert_eq!((of("node.add"), of("node.remove")), (vec![1, 2], vec![3]));
    assert_eq!((of("node.fail"), of("node.restore")), (vec![5], vec![7]));
    let east_m = |tick: usize| {
        let origin = GeoPoint::new(57.7, 11.9).unwrap();
        geodesic::inverse(origin, states[tick]["v"].0).distance_m
    };
    assert!((east_m(6) - 20.0).abs() < 1e-3 && (east_m(8) - 510.0).abs() < 1e-3);
}

#[test]
fn tables_of_tracks_are_one_course_for_each_node() {
    let table = "time,node,lat,lon\n2024-05-01T10:00:00Z,a,57.70,11.9\n2024-05-01T10:00:00Z,b,57.80,11.9\n\
                 2024-05-01T10:00:10Z,a,57.71,11.9\n";
    let states = same(&tracks::FORMAT, table);
    assert_eq!(states[0].len(), 2);
    assert!(apart_m(states[5]["a"].0, 57.705, 11.9) < 1.0);
    assert!(apart_m(states[10]["b"].0, 57.80, 11.9) < 1e-3);
    // Of one device, without a name.
    let logger = "time,lat,lon,elevation,accuracy\n2024-05-01T10:00:00.000Z,57.7,11.9,12.0,5\n\
                  2024-05-01T10:00:10.000Z,57.71,11.9,12.0,5\n";
    let dataset = read(&tracks::FORMAT, logger);
    let heights = dataset.events.iter().filter(|event| matches!(event.1, Event::Height(..)));
    assert_eq!((dataset.nodes.len(), heights.count()), (1, 2));
    assert_eq!(dataset.begin_unix_s, Some(1_714_557_600.0));
    let sumo = "timestep_time;vehicle_angle;vehicle_id;vehicle_x;vehicle_y;person_id;person_x;person_y\n\
                0.00;90;v;0.00;0.00;;;\n1.00;90;v;10.00;0.00;;;\n2.00;;;;;p;5.00;5.00\n3.00;;;;;p;6.00;5.00\n";
    let states = same(&tracks::FORMAT, sumo);
    assert_eq!((states[0].len(), states[2].len()), (1, 1));
    assert!(states[0].contains_key("v") && states[2].contains_key("p"));
}

#[test]
fn rows_of_cooja_are_courses() {
    let rows = "1 0.0 0 0\n0 0.0 10 0\n1 10.0 100 0\n0 10.0 10 50\n";
    let states = same(&bonnmotion::FORMAT, rows);
    assert_eq!(states[0].len(), 2);
    let origin = GeoPoint::new(57.7, 11.9).unwrap();
    let apart_m = |tick: usize| geodesic::inverse(origin, states[tick]["node-1"].0).distance_m;
    assert!((apart_m(5) - 50.0).abs() < 1e-3, "{}", apart_m(5));
    // A damaged row is left out, and those of node 0 do not become waypoints.
    let damaged = read(&bonnmotion::FORMAT, &format!("{rows}1 20.0 nan 0\n1 30.0 1e300 0\n"));
    assert_eq!((damaged.nodes.len(), damaged.courses()[&0].len()), (2, 2));
    assert_eq!(count(&damaged.report, "not of node, time, x and y"), 1, "{}", damaged.report);
    assert_eq!(count(&damaged.report, "beyond the Earth"), 1, "{}", damaged.report);
}

#[test]
fn rows_may_begin_with_their_time() {
    let expected = vec![(0.0, 100.0), (10.0, 110.0)];
    for text in [
        // ONE, with the ranges of its values.
        "0.0 10.0 0.0 1000.0 0.0 1000.0 0.0 0.0\n0.0 0 0 100\n0.0 1 0 200\n10.0 0 0 110\n10.0 1 0 210\n",
        "0.0 0 0 100\n0.0 1 0 200\n10.0 0 0 110\n10.0 1 0 210\n",
        "0 0 0 100\n0 1 0 200\n10 0 0 110\n10 1 0 210\n",
        // Cooja, GloMoSim.
        "0 0.0 0 100\n0 10.0 0 110\n1 0.0 0 200\n1 10.0 0 210\n",
        "0 0 0 100\n0 10 0 110\n1 0 0 200\n1 10 0 210\n",
        "0 0S (0.0, 100.0, 0.0)\n0 10S (0.0, 110.0, 0.0)\n1 0S (0.0, 200.0, 0.0)\n1 10S (0.0, 210.0, 0.0)\n",
    ] {
        let source = Source::of(text.into());
        assert_eq!(identify(&source), Ok(&bonnmotion::FORMAT), "{text}");
        let dataset = read(&bonnmotion::FORMAT, text);
        let names: Vec<&str> = dataset.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["node-0", "node-1"], "{text}");
        let origin = GeoPoint::new(57.7, 11.9).unwrap();
        let north_m = |place: GeoPoint| geodesic::inverse(origin, place).distance_m.round();
        let course =
            dataset.courses()[&0].iter().map(|fix| (fix.0, north_m(fix.1))).collect::<Vec<_>>();
        assert_eq!(course, expected, "{text}");
        assert!(dataset.report.is_empty(), "{text}{}", dataset.report);
    }
}

#[test]
fn orders_of_ns2_move_nodes_alike() {
    let start =
        "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n$node_(7) set X_ 50\n$node_(7) set Y_ 50\n";
    let walk =
        "$ns_ at 1 \"$node_(0) setdest 190 0 1.5\"\n$ns_ at 20.5 \"$node_(0) setdest 0 80 3\"\n";
    let states = same(&ns2::FORMAT, &format!("{start}{walk}"));
    let origin = GeoPoint::new(57.7, 11.9).unwrap();
    let walked_m = |tick: usize| geodesic::inverse(origin, states[tick]["node-0"].0).distance_m;
    assert!((walked_m(11) - 15.0).abs() < 1e-3, "{}", walked_m(11));
    // Jumps of CORE.
    let jumps: String = (1..6)
        .map(|second| format!("$ns_ at {second} \"$node_(7) setdest {} 0 0\"\n", second * 100))
        .collect();
    let states = same(&ns2::FORMAT, &format!("{start}{jumps}"));
    let apart_m = geodesic::inverse(origin, states[4]["node-7"].0).distance_m;
    assert!((apart_m - 400.0).abs() < 1e-3, "{apart_m}");
}
