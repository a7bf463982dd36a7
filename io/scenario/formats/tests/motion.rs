//! ns-2 motion in a world: positions, dialects, ends.

use groundwave_engine::{Engine, Execution};
use groundwave_gateway::{Snapshot, world};
use groundwave_model::sample::station;
use groundwave_model::terrain::{Flat, GeoPoint, geodesic};
use proptest::prelude::*;

use super::super::{Dataset, ReadOptions, Source, identify, ns2};
use super::count;
use crate::setdest::Dialect;

fn origin() -> GeoPoint {
    GeoPoint::new(57.7, 11.9).unwrap()
}

fn read(text: &str, dialect: Option<Dialect>) -> Dataset {
    let mut options = ReadOptions::new(station());
    (options.origin, options.dialect) = (Some(origin()), dialect);
    ns2::FORMAT.read(&Source::of(text.into()), &options).unwrap()
}

/// The position of a point of the trace.
fn at_m(x_m: f64, y_m: f64) -> GeoPoint {
    let azimuth_deg = x_m.atan2(y_m).to_degrees();
    geodesic::direct(origin(), azimuth_deg, x_m.hypot(y_m)).unwrap()
}

/// Positions of the only node, tick by tick.
fn track(recording: &Dataset) -> Vec<GeoPoint> {
    let script = recording.script(&ns2::FORMAT, &station()).unwrap();
    let mut builder = world(std::sync::Arc::new(Flat::default()));
    builder.execution(Execution::Serial);
    let mut engine: Engine<Snapshot> = builder.build(0, recording.step_ns()).unwrap();
    for (tick, name, body) in &script.commands {
        let command = engine.registry().from_bytes(name, body).unwrap();
        engine.script(*tick, command);
    }
    let tick = |_| {
        let ticked = engine.tick(None).unwrap();
        assert!(ticked.refused.is_empty(), "{:?}", ticked.refused);
        engine.view().nodes[0].position
    };
    (1..=script.last_tick).map(tick).collect()
}

fn apart_m(a: GeoPoint, b: GeoPoint) -> f64 {
    geodesic::inverse(a, b).distance_m
}

#[test]
fn a_recording_lasts_as_long_as_its_motion() {
    let start = "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n";
    let walk = format!("{start}$ns_ at 1 \"$node_(0) setdest 190 0 1\"\n");
    let recording = read(&walk, None);
    let walked = track(&recording);
    assert_eq!(walked.len(), 192);
    assert!(apart_m(walked[191], at_m(190.0, 0.0)) < 1e-6);
    // Told the same every second, it comes as far.
    let again: String = (1..=190)
        .map(|second| format!("$ns_ at {second} \"$node_(0) setdest 190 0 1\"\n"))
        .collect();
    for (one, other) in walked.iter().zip(track(&read(&format!("{start}{again}"), None))) {
        assert!(apart_m(*one, other) < 1e-6);
    }
    let stopped = read(&format!("{walk}$ns at 50 stop\n"), None);
    assert_eq!(track(&stopped).len(), 51);
    let longer = read(&format!("{walk}$ns_ at 300 \"$ns_ halt\"\n"), None);
    assert_eq!(track(&longer).len(), 301);
}

#[test]
fn the_positions_of_core_are_jumps() {
    let mut text = "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n".to_owned();
    for second in 1..=5 {
        let x_m = f64::from(second) * 40.0;
        text += &format!("$ns_ at {second}.0 \"$node_(0) setdest {x_m} 10 0\"\n");
    }
    let jumps = track(&read(&text, None));
    for (second, actual) in jumps.iter().enumerate().skip(1) {
        let expected = at_m(second as f64 * 40.0, 10.0);
        assert!(apart_m(*actual, expected) < 1e-6, "{second}");
    }
    let stops = track(&read(&text, Some(Dialect::Ns2)));
    assert!(stops.iter().all(|stop| apart_m(*stop, origin()) < 1e-6));
    // Where both are possible, the reader notes its choice.
    let mixed = format!("{text}$ns_ at 6 \"$node_(0) setdest 0 0 5\"\n");
    let doubtful = read(&mixed, None);
    assert_eq!(count(&doubtful.report, "--dialect core"), 5);
    let recording = read(&mixed, Some(Dialect::Core));
    assert_eq!(count(&recording.report, "--dialect core"), 0);
}

/// Positions of the only node after some ticks, m from the origin: statements of ns-3's helper.
#[test]
fn statements_of_ns3_are_read() {
    let start = "$node_(0) set X_ 1 # x\n$node_(0) set Y_ 2 ### y\n";
    let square = "$ns_ at 1.0 \"$node_(0) setdest 1.0e+2  0   1.0e+2\"\r\n\
                  $ns_ at 2.0 \" $node_(0)   setdest 100 1E2 100 \"\r\n";
    for (text, tick, expected_m, notes) in [
        ("# no Z_ and no end\n\n$node_(0) set X_ 1.0 # c\n$node_(0) set Y_ 2.0", 0, (1.0, 2.0), 0),
        ("$node_(0) set X_ 1\n$node_(0) set Y_ 2\n$node_(0) set Z_ 3\n", 0, (1.0, 2.0), 0),
        ("$ns_ at 1.0 \"$node_(0) setdest 25 0 5\"", 4, (15.0, 0.0), 1),
        (square, 2, (100.0, 0.0), 1),
        (square, 3, (100.0, 100.0), 1),
        (
            "$ns_ at 1 \"$node_(12) set X_ 10\"\n$ns_ at 1 \"$node_(12) set Z_ 9\"\n\
          $ns_ at 1 \"$node_(12) set Y_ 20\"",
            2,
            (10.0, 20.0),
            1,
        ),
        (
            &format!(
                "$node() set X_ 1\n$node # no\n{start}$ns_ at \"$node_(0) setdest 4 4 4\"\n\
          $ns_ at 1 \"$node_(0) setdest 2 2 1  \" # yes\n"
            ),
            2,
            (2.0, 2.0),
            3,
        ),
        (
            &format!(
                "{start}$node_(-22) set Y_ 3\n$node_(3.3) set Y_ 1\n$ns_ at s \"$node_(0) setdest 5 5 5\"\n\
          $ns_ at 1 \"$node_(0) setdest 2 2 1\"\n$ns_ at 1 \"$node_(0) setdest 9 2 -1\"\n\
          $ns_ at 1 \"$node_(0) setdest 23 2.. s2\"\n$ns_ at -12 \"$node_(0) setdest 11 22 33\""
            ),
            2,
            (2.0, 2.0),
            6,
        ),
        (
            "$node_(0) set X_ -1.0\n$node_(0) set Y_ 0\n$ns_ at 1.0 \"$node_(0) setdest 0 0 1\"\n\
          $ns_ at 2.0 \"$node_(0) setdest 0 -1 1\"\n",
            3,
            (0.0, -1.0),
            0,
        ),
    ] {
        let recording = read(text, None);
        assert_eq!(identify(&Source::of(text.into())), Ok(&ns2::FORMAT), "{text}");
        let walked = track(&recording);
        let end = walked[tick.min(walked.len() - 1)];
        assert!(apart_m(end, at_m(expected_m.0, expected_m.1)) < 1e-6, "{text}");
        let count: usize = recording.report.notes.iter().map(|note| note.count).sum();
        assert_eq!(count, notes, "{text}: {}", recording.report);
    }
}

#[test]
fn decimal_comma_gives_an_error_with_the_row() {
    let text =
        "$node_(0) set X_ 1\n$node_(0) set Y_ 2\n$ns_ at 1 \"$node_(0) setdest 10,5 20,0 1,5\"\n";
    let error = ns2::FORMAT.read(&Source::of(text.into()), &ReadOptions::new(station()));
    let message = error.unwrap_err().to_string();
    assert!(message.contains("line 3: found") && message.contains("decimal point"), "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The trace integrated leg by leg on the ellipsoid, without ticks.
    #[test]
    fn positions_equal_the_trace_integrated_directly(
        orders in prop::collection::vec(
            (1..2_500u32, -900.0..900.0f64, -900.0..900.0f64, 0.5..40.0f64), 1..25),
    ) {
        let mut text = "$node_(0) set X_ 10\n$node_(0) set Y_ 20\n".to_owned();
        let mut at_ms = 0;
        let mut legs = vec![(0.0, at_m(10.0, 20.0), at_m(10.0, 20.0), 1.0)];
        let position = |legs: &[(f64, GeoPoint, GeoPoint, f64)], at_s: f64| {
            let (since_s, from, to, speed_m_s) =
                *legs.iter().rev().find(|leg| leg.0 <= at_s).unwrap();
            let way = geodesic::inverse(from, to);
            let walked_m = (at_s - since_s) * speed_m_s;
            match walked_m >= way.distance_m {
                true => to,
                false => geodesic::direct(from, way.azimuth_deg, walked_m).unwrap(),
            }
        };
        for (pause_ms, x_m, y_m, speed_m_s) in orders {
            at_ms += pause_ms;
            let at_s = f64::from(at_ms) / 1e3;
            text += &format!("$ns_ at {at_s} \"$node_(0) setdest {x_m} {y_m} {speed_m_s}\"\n");
            let from = position(&legs, at_s);
            legs.push((at_s, from, at_m(x_m, y_m), speed_m_s));
        }
        for (second, actual) in track(&read(&text, None)).into_iter().enumerate() {
            let off_m = apart_m(actual, position(&legs, second as f64));
            prop_assert!(off_m <= 1e-6, "{off_m} m at {second} s:\n{text}");
        }
    }
}
