//! Shapes, ranges, and the way of a desired impairment through a world.

use bevy_ecs::world::World;
use groundwave_engine::{Effects, Engine, Refusal, State};

use super::*;

fn engine() -> Engine<Snapshot> {
    world().build(1, 1_000_000).unwrap()
}

fn impairment(text: &str) -> Impairment {
    serde_json::from_str(text).unwrap()
}

fn delayed(duration_ns: u64) -> Impairment {
    Impairment { latency: Some(Latency::Constant { duration_ns }), ..Impairment::default() }
}

const EVERYTHING: &str = r#"{"latency":{"kind":"stochastic","mean":50,"jitter":10,"distribution":{"kind":"table","name":"lte_1"},"correlation":0.25},"loss":{"model":"gilbert-elliott","p":0.1,"r":0.2,"one_minus_h":0.0,"one_minus_k":1.0},"rate":{"bps":8000,"burst_bytes":1514},"queue":{"limit":{"unit":"packets","value":9}},"duplication":{"pct":1.5},"reordering":{"pct":25.0,"gap":5,"correlation":0.5},"corruption":{"pct":0.01}}"#;

#[test]
fn document_of_every_field_reads_back() {
    let all = impairment(EVERYTHING);
    all.validate().unwrap();
    assert_eq!(serde_json::to_string(&all).unwrap(), EVERYTHING);
    assert_eq!(impairment("{}"), Impairment::default());
    let uniform = impairment(r#"{"latency":{"kind":"stochastic","mean":1,"jitter":1}}"#);
    assert!(matches!(
        uniform.latency,
        Some(Latency::Stochastic { distribution: Distribution::Uniform {}, .. })
    ));
}

#[test]
fn another_shape_is_refused() {
    for text in [
        r#"{"delay":1}"#,
        r#"{"latency":{"kind":"constant"}}"#,
        r#"{"latency":{"kind":"constant","duration":-1}}"#,
        r#"{"latency":{"kind":"constant","duration":1,"jitter":1}}"#,
        r#"{"latency":{"kind":"stochastic","mean":1,"jitter":1,"distribution":{"kind":"uniform","name":"x"}}}"#,
        r#"{"loss":{"model":"bernoulli"}}"#,
        r#"{"loss":{"model":"gilbert_elliott","p":0,"r":0,"one_minus_h":0,"one_minus_k":0}}"#,
        r#"{"rate":{"bps":1000}}"#,
        r#"{"queue":{"limit":{"unit":"frames","value":1}}}"#,
        r#"{"queue":{"limit":{"unit":"bytes","value":4294967296}}}"#,
        r#"{"reordering":{"pct":1,"gap":0}}"#,
        r#"{"reordering":{"pct":1}}"#,
    ] {
        assert!(serde_json::from_str::<Impairment>(text).is_err(), "{text}");
    }
}

#[test]
fn ranges_are_refused_by_key() {
    let check = |text: &str, key: &str| match impairment(text).validate() {
        Err(Refusal::Invalid { key: invalid, .. }) => assert_eq!(invalid, key, "{text}"),
        other => panic!("{text}: {other:?}"),
    };
    check(r#"{"latency":{"kind":"constant","duration":9223372036854775808}}"#, "latency.duration");
    check(r#"{"loss":{"model":"bernoulli","pct":100.1}}"#, "loss.pct");
    check(r#"{"loss":{"model":"bernoulli","pct":1,"correlation":-0.1}}"#, "loss.correlation");
    check(
        r#"{"loss":{"model":"gilbert-elliott","p":0,"r":0,"one_minus_h":0,"one_minus_k":1.1}}"#,
        "loss.one_minus_k",
    );
    check(r#"{"rate":{"bps":7,"burst_bytes":1}}"#, "rate.bps");
    check(r#"{"rate":{"bps":8,"burst_bytes":0}}"#, "rate.burst_bytes");
    check(r#"{"duplication":{"pct":-1}}"#, "duplication.pct");
    check(r#"{"reordering":{"pct":101,"gap":1}}"#, "reordering.pct");
    check(r#"{"corruption":{"pct":1,"correlation":2}}"#, "corruption.correlation");
    for name in ["", "Upper", "dot.", "../up", &"a".repeat(65)] {
        let text = format!(
            r#"{{"latency":{{"kind":"stochastic","mean":1,"jitter":1,"distribution":{{"kind":"table","name":"{name}"}}}}}}"#
        );
        check(&text, "latency.distribution.name");
    }
}

#[test]
fn names_of_directions_read_back_and_others_are_refused() {
    assert_eq!("port2".parse(), Ok(Direction::PORT2));
    assert_eq!(Direction::BOTH.map(|direction| direction.to_string()), ["port1", "port2"]);
    let all: Vec<_> = Direction::first(usize::MAX).collect();
    assert_eq!(all.len(), Direction::COUNT_MAX);
    for (index, direction) in all.into_iter().enumerate() {
        assert_eq!(
            (direction.index(), direction.to_string()),
            (index, format!("port{}", index + 1))
        );
        let text = serde_json::to_string(&direction).unwrap();
        assert_eq!(serde_json::from_str::<Direction>(&text).unwrap(), direction);
    }
    for name in ["port0", "port33", "port01", "PORT1", "port", "1", ""] {
        assert!(matches!(name.parse::<Direction>(), Err(Refusal::Invalid { .. })), "{name}");
    }
}

#[test]
fn further_ports_appear_with_their_first_command() {
    let mut engine = engine();
    let mut effects: Effects<ShapePort> = engine.effects();
    let handle = engine.handle();
    engine.tick(None).unwrap();
    assert_eq!(handle.view().impairments.0.len(), 2);
    let port5: Direction = "port5".parse().unwrap();
    let early = ObserveImpairment { direction: port5, generation: 1, applied: None, failure: None };
    let early = handle.submit(early).unwrap();
    engine.tick(None).unwrap();
    assert!(matches!(early.wait(), Err(Refusal::Invalid { .. })));
    assert_eq!(handle.view().impairments.0.len(), 2, "a refused command makes no port");
    let set = SetImpairment { direction: port5, impairment: Some(delayed(7)) };
    let reply = handle.submit(set).unwrap();
    engine.tick(None).unwrap();
    assert_eq!(reply.wait(), Ok(1));
    let effect = effects.try_next().unwrap();
    assert_eq!((effect.direction, effect.impairment), (port5, Some(delayed(7))));
    let view = handle.view();
    let names: Vec<_> = view.impairments.0.iter().map(|port| port.direction.name()).collect();
    assert_eq!(names, ["port1", "port2", "port3", "port4", "port5"]);
    assert_eq!(view.impairments.port(port5).generation, 1);
    let port9: Direction = "port9".parse().unwrap();
    assert_eq!(view.impairments.port(port9).direction, port9);
}

#[test]
fn further_ports_survive_a_checkpoint() {
    let bare = || {
        let mut world = World::new();
        let ports = Ports::spawn(&mut world);
        world.insert_resource(ports);
        world
    };
    let (mut world, mut fresh) = (bare(), bare());
    let port4: Direction = "port4".parse().unwrap();
    let entity = ports::provide(&mut world, port4);
    let desired = Desired { generation: 3, impairment: Some(delayed(9)) };
    world.entity_mut(entity).insert(desired.clone());
    state::PortStates::save(&world).restore(&mut fresh).unwrap();
    let entity = fresh.resource::<Ports>().entity(port4).unwrap();
    assert_eq!(fresh.get::<Desired>(entity), Some(&desired));
    assert_eq!(fresh.resource::<Ports>().all().len(), 4);
}

#[test]
fn desired_impairment_leaves_as_effect_and_returns_as_observation() {
    let mut engine = engine();
    let mut effects: Effects<ShapePort> = engine.effects();
    let handle = engine.handle();
    engine.tick(None).unwrap();
    assert_eq!(effects.try_next(), None, "no impairment was desired");
    assert!(handle.view().impairments.is_untouched());
    let set = |duration_ns| SetImpairment {
        direction: Direction::PORT2,
        impairment: Some(delayed(duration_ns)),
    };
    let first = handle.submit(set(1)).unwrap();
    engine.tick(None).unwrap();
    assert_eq!(first.wait(), Ok(1));
    // The driver is slow: only the latest desired impairment is left for it.
    let second = handle.submit(set(2)).unwrap();
    engine.tick(None).unwrap();
    assert_eq!(second.wait(), Ok(2));
    let effect = effects.try_next().unwrap();
    assert_eq!((effect.generation, effect.impairment), (2, Some(delayed(2))));
    assert_eq!(effects.try_next(), None);
    let port = |handle: &groundwave_engine::Handle<Snapshot>| {
        handle.view().impairments.port(Direction::PORT2).clone()
    };
    assert_eq!((port(&handle).generation, port(&handle).observed_generation), (2, 0));
    let observation = |generation, failure: Option<Failure>| ObserveImpairment {
        direction: Direction::PORT2,
        generation,
        applied: Some(Applied { impairment: delayed(2), ..Applied::default() }),
        failure,
    };
    let failure = Failure { kind: FailureKind::Rejected, message: "no".to_owned() };
    handle.submit(observation(2, Some(failure.clone()))).unwrap();
    // A reading afterwards does not take back what the attempt said.
    handle.submit(observation(2, None)).unwrap();
    let ahead = handle.submit(observation(3, None)).unwrap();
    let behind = handle.submit(observation(1, None)).unwrap();
    engine.tick(None).unwrap();
    assert!(matches!(ahead.wait(), Err(Refusal::Invalid { .. })));
    assert!(matches!(behind.wait(), Err(Refusal::Invalid { .. })));
    let view = port(&handle);
    assert_eq!((view.observed_generation, view.failure), (2, Some(failure)));
    assert_eq!(view.applied.unwrap().impairment, delayed(2));
    assert_eq!(effects.try_next(), None, "an observation emits no effect");
}

#[test]
fn impairment_out_of_range_changes_nothing() {
    let mut engine = engine();
    let handle = engine.handle();
    let reply = handle
        .submit(SetImpairment {
            direction: Direction::PORT1,
            impairment: Some(impairment(r#"{"duplication":{"pct":200}}"#)),
        })
        .unwrap();
    engine.tick(None).unwrap();
    assert!(matches!(reply.wait(), Err(Refusal::Invalid { .. })));
    assert!(handle.view().impairments.is_untouched());
}

#[test]
fn each_field_and_missing_layer_gives_one_divergence() {
    let fact = |layer, field, raw: i128, slack| Fact {
        layer,
        field,
        raw,
        slack,
        value: Value::Whole(raw.unsigned_abs() as u64),
    };
    let requested = [
        fact("tbf", "kind", 0, 0),
        fact("tbf", "rate.bps", 8, 0),
        fact("tbf", "rate.burst_bytes", 100, 2),
        fact("queue", "kind", 0, 0),
        fact("queue", "limit", 5, 0),
    ];
    let observed = [
        fact("tbf", "kind", 0, 0),
        fact("tbf", "rate.bps", 16, 0),
        fact("tbf", "rate.burst_bytes", 98, 0),
        fact("tbf", "peak_rate.bps", 1, 0),
    ];
    assert_eq!(compare(&requested, &requested), []);
    let messages: Vec<_> =
        compare(&requested, &observed).into_iter().map(|item| item.message).collect();
    assert_eq!(
        messages,
        [
            "tbf rate.bps: asked for 8, the kernel holds 16",
            "queue kind: asked for 0, the kernel holds nothing",
            "tbf peak_rate.bps: asked for nothing, the kernel holds 1",
        ]
    );
}
