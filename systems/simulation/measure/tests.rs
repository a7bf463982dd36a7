use std::sync::Arc;

use groundwave_engine::{Engine, Recorded};
use groundwave_model::radio::Role;
use groundwave_model::sample::station;
use groundwave_model::terrain::{Flat, GeoPoint};

use super::*;
use crate::WorldView;
use crate::history::History;
use crate::site::{AddNode, NodeId, RemoveNode};
use crate::world;

fn id(name: &str) -> NodeId {
    NodeId::named(name)
}

fn pair() -> Engine<WorldView> {
    let engine = world(Arc::new(Flat::default())).build::<WorldView>(1, 1_000_000_000).unwrap();
    for (at, name) in ["a", "b"].into_iter().enumerate() {
        send(
            &engine,
            AddNode {
                node: id(name),
                name: name.to_owned(),
                role: Role::default(),
                position: GeoPoint::new(57.7, 11.9 + at as f64 * 0.02).unwrap(),
                station: station(),
                deployment: None,
            },
        );
    }
    engine
}

fn send<C: Recorded>(engine: &Engine<WorldView>, command: C) {
    drop(engine.handle().submit(command).unwrap());
}

fn measured(rx_power_dbm: f64) -> ObserveLinks {
    let values = Measured { rx_power_dbm: Some(rx_power_dbm), ..Measured::default() };
    let (from, to) = (id("b"), id("a"));
    ObserveLinks { measurements: vec![Measurement { from, to, values }] }
}

#[test]
fn a_measurement_stands_beside_the_prediction_and_changes_nothing_else() {
    let mut engine = pair();
    engine.tick(None).unwrap();
    let before = engine.view();
    send(&engine, measured(-60.0));
    engine.tick(None).unwrap();
    let now = engine.view();
    assert!(Arc::ptr_eq(&before.links, &now.links) && Arc::ptr_eq(&before.flows, &now.flows));
    let level = now.measured.get((id("b"), id("a"))).unwrap();
    assert_eq!((level.at_ns, now.measured.len()), (1_000_000_000, 1));
    let difference = residual(&now.nodes, &now.links, level).unwrap();
    let link = &now.links[0];
    let direction = match link.a == id("b") {
        true => link.budget.forward,
        false => link.budget.backward,
    };
    assert_eq!(difference.quantity, Quantity::RxPower);
    assert_eq!(difference.predicted, direction.rx_power_dbm);
    assert_eq!(difference.excess_loss_db, direction.rx_power_dbm + 60.0);
    // A transmitter that was turned down by 3 dB is no loss of the path.
    let mut quiet = *level;
    let tx_power_dbm = now.node(id("b")).unwrap().station.radio.tx_power_dbm;
    quiet.values.tx_power_dbm = Some(tx_power_dbm - 3.0);
    let quiet = residual(&now.nodes, &now.links, &quiet).unwrap();
    assert!((quiet.excess_loss_db - (difference.excess_loss_db - 3.0)).abs() < 1e-9);
    // Nor is one at twice the frequency: 6 dB more of free space.
    let mut high = *level;
    let frequency_mhz = now.node(id("b")).unwrap().station.radio.frequency_mhz;
    high.values.frequency_mhz = Some(2.0 * frequency_mhz);
    let high = residual(&now.nodes, &now.links, &high).unwrap();
    assert!((high.excess_loss_db - (difference.excess_loss_db - 6.0206)).abs() < 1e-4);
}

#[test]
fn measurements_go_with_their_node_and_impossible_ones_are_refused() {
    let mut engine = pair();
    send(&engine, measured(-60.0));
    engine.tick(None).unwrap();
    let mut wrong = measured(-60.0);
    wrong.measurements[0].values.delivery_prob = Some(1.5);
    send(&engine, wrong);
    let mut nothing = measured(-60.0);
    nothing.measurements[0].values = Measured::default();
    send(&engine, nothing);
    let mut itself = measured(-60.0);
    itself.measurements[0].to = id("b");
    send(&engine, itself);
    let ticked = engine.tick(None).unwrap();
    assert_eq!(ticked.refused.len(), 3, "{:?}", ticked.refused);
    send(&engine, RemoveNode { node: id("a") });
    engine.tick(None).unwrap();
    assert!(engine.view().measured.is_empty());
}

#[test]
fn a_fade_is_found_by_its_depth_below_the_median() {
    let mut engine = pair();
    let mut history = History::default();
    engine.tick(None).unwrap();
    history.note(&engine.view(), false);
    for second in 1..=60 {
        let fades = (20..25).contains(&second);
        send(&engine, measured(if fades { -76.0 } else { -60.0 }));
        engine.tick(None).unwrap();
        history.note(&engine.view(), false);
    }
    let levels = &history.levels;
    let past = &levels.ways[&(id("b"), id("a"))];
    assert_eq!((past.levels.median_db(), past.count), (Some(-60.0), 60));
    assert_eq!(past.levels.minimum().map(|one| one.at_s), Some(20.0));
    assert_eq!(past.excess.count(), 60);
    assert_eq!(levels.faded(15.0, 0.0, 100.0), 1);
    assert_eq!(levels.faded(16.0, 0.0, 100.0), 0);
    assert_eq!(levels.faded(15.0, 0.0, 20.0), 0);
    let (begin_s, links) = levels.worst(15.0, 8.0).unwrap();
    assert!((12.0..=24.0).contains(&begin_s) && links == 1, "{begin_s}");
}

#[test]
fn a_long_series_keeps_its_extremes_and_its_median_in_bounded_memory() {
    let mut series = Series::default();
    for at in 0..100_000_u32 {
        let level = if at == 54_321 { -99.9 } else { -50.0 - f64::from(at % 11) };
        series.push(f64::from(at), level);
    }
    assert!(series.buckets().len() <= 4096);
    assert_eq!((series.count(), series.median_db()), (100_000, Some(-55.0)));
    let minimum = series.minimum().unwrap();
    assert_eq!(minimum.min_db, -99.9);
    assert!((54_321.0 - f64::from(minimum.count)..=54_321.0).contains(&minimum.at_s));
    let all: u64 = series.buckets().iter().map(|one| u64::from(one.count)).sum();
    assert_eq!(all, 100_000);
    assert_eq!(Series::default().median_db(), None);
}
