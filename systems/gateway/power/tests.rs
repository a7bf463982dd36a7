use groundwave_engine::{Engine, Recorded, Refusal};

use super::*;
use crate::Snapshot;
use crate::test_world::{does_at, engine};

const NOW_NS: u64 = 1_000_000_000_000;

fn does<C: Recorded>(engine: &mut Engine<Snapshot>, command: C) -> Result<C::Reply, Refusal> {
    does_at(engine, NOW_NS, command)
}

fn record(samples: Vec<UpsSample>) -> RecordUpsSamples {
    RecordUpsSamples {
        ups_id: "rack".to_owned(),
        source: UpsSource::Nut,
        node: None,
        description: None,
        model: None,
        samples,
    }
}

fn at(ts_ms: u64, status: &[UpsStatus]) -> UpsSample {
    UpsSample {
        ts_ms,
        status: status.to_vec(),
        battery_charge_pct: Some(50.0),
        ..UpsSample::default()
    }
}

fn alerts(engine: &Engine<Snapshot>) -> Vec<String> {
    let view = engine.view();
    view.events.iter().filter_map(|event| event.data.get("about").cloned()).collect()
}

#[test]
fn battery_states_give_alerts() {
    use UpsStatus::{Lb, Ob, Ol};
    let mut engine = engine();
    for (ts_ms, status) in [
        (1, vec![Ol]),
        (2, vec![Ob]),
        (3, vec![Ob]),
        (4, vec![Ob, Lb]),
        (5, vec![Ob, Lb]),
        (6, vec![Ol]),
    ] {
        does(&mut engine, record(vec![at(ts_ms, &status)])).unwrap();
    }
    let events = alerts(&engine);
    let expected = ["ups-on-battery", "ups-low-battery", "ups-on-line", "ups-battery-recovered"];
    assert_eq!(events, expected);
}

#[test]
fn a_status_that_was_not_read_changes_none() {
    use UpsStatus::{Lb, Ob, Ol};
    let mut engine = engine();
    does(&mut engine, record(vec![at(1, &[Ob, Lb])])).unwrap();
    does(&mut engine, record(vec![at(2, &[])])).unwrap();
    let latest = engine.view().power.get("rack").unwrap().latest.clone();
    assert_eq!((latest.ts_ms, latest.status), (2, vec![Ob, Lb]));
    assert_eq!(alerts(&engine), ["ups-on-battery", "ups-low-battery"]);
    does(&mut engine, record(vec![at(4, &[]), at(3, &[Ol])])).unwrap();
    assert_eq!(alerts(&engine)[2..], ["ups-on-line", "ups-battery-recovered"]);
    let names = |sample: UpsSample| sample.metrics().into_iter().map(|one| one.metric);
    assert!(!names(at(5, &[])).any(|name| name == "ups.on_battery"));
    assert!(names(at(5, &[Ol])).any(|name| name == "ups.on_battery"));
}

#[test]
fn the_newest_sample_stays_and_a_silent_source_is_stale() {
    let mut engine = engine();
    does(&mut engine, record(vec![at(7, &[]), at(9, &[]), at(8, &[])])).unwrap();
    does(&mut engine, record(vec![at(3, &[UpsStatus::Ob])])).unwrap();
    let latest = |engine: &Engine<Snapshot>| engine.view().power.get("rack").unwrap().clone();
    assert_eq!((latest(&engine).latest.ts_ms, latest(&engine).is_stale), (9, false));
    does(&mut engine, record(vec![])).unwrap();
    assert!(latest(&engine).is_stale);
    assert_eq!(alerts(&engine), ["ups-stale"]);
    does(&mut engine, record(vec![at(10, &[])])).unwrap();
    assert!(!latest(&engine).is_stale);
}

#[test]
fn a_supply_has_one_source_and_sound_values() {
    let mut engine = engine();
    does(&mut engine, record(vec![at(1, &[])])).unwrap();
    let other = RecordUpsSamples { source: UpsSource::Agent, ..record(vec![at(2, &[])]) };
    assert!(matches!(does(&mut engine, other), Err(Refusal::Conflict { .. })));
    let mut odd = at(2, &[]);
    odd.battery_charge_pct = Some(101.0);
    let refusal = does(&mut engine, record(vec![odd])).unwrap_err();
    let expected = Refusal::invalid("samples[0].battery_charge_pct", "101", "[0, 100]");
    assert_eq!(refusal, expected);
    let named = RecordUpsSamples { ups_id: "a b".to_owned(), ..record(vec![]) };
    assert!(matches!(does(&mut engine, named), Err(Refusal::Invalid { .. })));
    let remove = RemoveUps { ups_id: "rack".to_owned() };
    does(&mut engine, remove.clone()).unwrap();
    assert!(engine.view().power.is_empty());
    assert!(matches!(does(&mut engine, remove), Err(Refusal::NotFound { .. })));
}

#[test]
fn a_supply_without_data_from_the_start_is_listed() {
    let mut engine = engine();
    does(&mut engine, record(vec![])).unwrap();
    let ups = engine.view().power.get("rack").unwrap().clone();
    assert_eq!((ups.sample(), ups.is_stale), (None, true));
    assert_eq!(alerts(&engine), ["ups-stale"]);
    does(&mut engine, record(vec![at(7, &[])])).unwrap();
    let ups = engine.view().power.get("rack").unwrap().clone();
    assert_eq!((ups.sample().map(|sample| sample.ts_ms), ups.is_stale), (Some(7), false));
}

#[test]
fn a_forced_shutdown_an_alarm_and_an_overload_give_alerts() {
    use UpsStatus::{Alarm, Fsd, Ol, Over};
    let mut engine = engine();
    for (ts_ms, status) in [(1, vec![Ol]), (2, vec![Ol, Alarm, Over]), (3, vec![Ol, Alarm, Fsd])] {
        does(&mut engine, record(vec![at(ts_ms, &status)])).unwrap();
    }
    assert_eq!(alerts(&engine), ["ups-alarm", "ups-overload", "ups-forced-shutdown"]);
}
