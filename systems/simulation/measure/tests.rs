use std::sync::Arc;

use groundwave_engine::{Engine, Recorded};
use groundwave_model::radio::{Role, Station, presets};
use groundwave_model::sample::station;
use groundwave_model::terrain::{Flat, GeoPoint};

use super::*;
use crate::WorldView;
use crate::history::History;
use crate::link::Links;
use crate::site::{AddNode, AddUnplaced, MoveNode, NodeId, RemoveNode};
use crate::world;

fn id(name: &str) -> NodeId {
    NodeId::named(name)
}

fn pair() -> Engine<WorldView> {
    pair_of(&station())
}

fn pair_of(station: &Station) -> Engine<WorldView> {
    let engine = world(Arc::new(Flat::default())).build::<WorldView>(1, 1_000_000_000).unwrap();
    for (at, name) in ["a", "b"].into_iter().enumerate() {
        send(
            &engine,
            AddNode {
                node: id(name),
                name: name.to_owned(),
                role: Role::default(),
                position: GeoPoint::new(57.7, 11.9 + at as f64 * 0.02).unwrap(),
                station: station.clone(),
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
fn an_snr_of_lora_near_the_most_that_is_reported_is_a_bound() {
    let radio = presets::radio("lora_868_eu").unwrap().radio.clone();
    let mut engine = pair_of(&Station { radio, ..station() });
    engine.tick(None).unwrap();
    for (snr_db, is_bound) in [(-12.0, false), (7.0, false), (11.5, true)] {
        let mut observed = measured(0.0);
        observed.measurements[0].values = Measured { snr_db: Some(snr_db), ..Measured::default() };
        send(&engine, observed);
        engine.tick(None).unwrap();
        let now = engine.view();
        let level = now.measured.get((id("b"), id("a"))).unwrap();
        let (_, direction) = direction(&now.links, (id("b"), id("a"))).unwrap();
        let excess_db = direction.snr_db - snr_db;
        let exact = residual(&now.nodes, &now.links, level).map(|it| it.excess_loss_db);
        let at_most = excess_at_most_db(&now.nodes, &now.links, level);
        let expected = if is_bound { (None, Some(excess_db)) } else { (Some(excess_db), None) };
        assert_eq!((exact, at_most), expected, "{snr_db}");
    }
}

#[test]
fn levels_of_each_band_outlast_their_node_with_its_station() {
    let mut engine = pair();
    let mut history = History::default();
    engine.tick(None).unwrap();
    for (frequency_mhz, tx_power_dbm) in [(868.0, 24.0), (5580.0, 24.0), (5580.0, 34.0)] {
        let mut observed = measured(-60.0);
        let values = &mut observed.measurements[0].values;
        values.frequency_mhz = Some(frequency_mhz);
        values.tx_power_dbm = Some(tx_power_dbm);
        send(&engine, observed);
        engine.tick(None).unwrap();
        history.note(&engine.view(), false);
    }
    send(&engine, RemoveNode { node: id("b") });
    engine.tick(None).unwrap();
    history.note(&engine.view(), false);
    let levels = &history.levels;
    assert_eq!(levels.stations.get(&id("b")), Some(&station()));
    let places: Vec<_> = levels.ways[&(id("b"), id("a"))].places.values().collect();
    let [low, high] = places[..] else { panic!("{places:?}") };
    assert_eq!((low.frequency_mhz, high.frequency_mhz), (868.0, 5580.0));
    // 16.16 dB less of free space, and 10 dB more of power.
    let apart_db = low.link_margin_db - high.link_margin_db;
    assert!((apart_db - 6.16).abs() < 0.01, "{apart_db}");
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

/// A chain of nodes without a position, each measured from the one before, all on one spot.
fn unplaced(count: usize) -> Engine<WorldView> {
    let engine = world(Arc::new(Flat::default())).build::<WorldView>(1, 1_000_000_000).unwrap();
    let name = |number: usize| format!("n{number:03}");
    for number in 0..count {
        let add = AddNode {
            node: id(&name(number)),
            name: name(number),
            role: Role::default(),
            position: GeoPoint::new(0.0, 0.0).unwrap(),
            station: station(),
            deployment: None,
        };
        send(&engine, AddUnplaced(add));
    }
    let values = Measured { quality: Some(0.5), ..Measured::default() };
    let step = |number: usize| {
        let (from, to) = (id(&name(number - 1)), id(&name(number)));
        Measurement { from, to, values }
    };
    send(&engine, ObserveLinks { measurements: (1..count).map(step).collect() });
    engine
}

fn links(engine: &Engine<WorldView>) -> (usize, usize) {
    (engine.view().links.len(), engine.world().resource::<Links>().len())
}

#[test]
fn nodes_without_a_position_have_the_links_that_were_measured_and_no_others() {
    let mut engine = unplaced(200);
    engine.tick(None).unwrap();
    assert_eq!(links(&engine), (199, 199));
    assert_eq!(engine.view().measured.len(), 199);
    // A fresh world of the checkpoint has the same links.
    let checkpoint = engine.checkpoint().unwrap();
    let mut other = world(Arc::new(Flat::default())).build(1, 1_000_000_000).unwrap();
    other.take_up(&checkpoint).unwrap();
    assert_eq!(other.digest(), engine.digest());
    for engine in [&mut engine, &mut other] {
        engine.tick(None).unwrap();
        assert_eq!(links(engine), (199, 199));
    }
    assert_eq!(other.view().links, engine.view().links);
}

#[test]
fn a_node_that_gets_a_position_has_the_links_of_its_place() {
    let mut engine = unplaced(3);
    engine.tick(None).unwrap();
    let position = GeoPoint::new(57.7, 11.9).unwrap();
    send(&engine, MoveNode { node: id("n000"), position });
    engine.tick(None).unwrap();
    // What was measured of its link stays; the model has none of that length.
    assert_eq!((links(&engine), engine.view().measured.len()), ((1, 2), 2));
    send(&engine, MoveNode { node: id("n002"), position: GeoPoint::new(57.7, 11.91).unwrap() });
    engine.tick(None).unwrap();
    let view = engine.view();
    let ends: Vec<_> = view.links.iter().map(|link| [link.a, link.b]).collect();
    let mut expected = [id("n000"), id("n002")];
    expected.sort();
    assert_eq!(ends, [expected]);
    assert!((view.links[0].budget.distance_m - 596.0).abs() < 5.0);
}
