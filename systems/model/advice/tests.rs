use groundwave_values::Seed;

use super::protocols::PROTOCOLS;
use super::score::{Evidence, rank};
use super::*;
use crate::id::NodeId;
use crate::radio::presets::radio;
use crate::radio::{Environment, Station};
use crate::sample::station;
use crate::terrain::{Flat, GeoPoint, geodesic};

fn id(n: u128) -> NodeId {
    NodeId::from_u128(n + 1)
}

fn advice(members: &[Member<'_>], packet_bytes: u32) -> Advice {
    let environment = Environment::default();
    let inputs = Inputs {
        terrain: &Flat::default(),
        environment: &environment,
        packet_bytes,
        spacing_m: None,
    };
    advise(&inputs, members).unwrap()
}

/// Members strewn over a square of this side, km.
fn strewn<'a>(station: &'a Station, nodes: u128, side_km: f64, seed: u64) -> Vec<Member<'a>> {
    let mut chance = Seed(seed).stream("advice", 0, 0);
    let corner = GeoPoint::new(57.2, 11.2).unwrap();
    let mut member = |n| {
        let [north, east] = [(); 2].map(|()| chance.between(0.0, side_km * 1e3));
        let north = geodesic::direct(corner, 0.0, north).unwrap();
        Member { id: id(n), position: geodesic::direct(north, 90.0, east).unwrap(), station }
    };
    (0..nodes).map(&mut member).collect()
}

fn lora() -> Station {
    Station { radio: radio("lora_868_eu").unwrap().radio.clone(), ..station() }
}

fn of(advice: &Advice, id: ProtocolId) -> &Recommendation {
    advice.protocols.iter().find(|one| one.id == id).unwrap()
}

fn points(one: &Recommendation, id: CriterionId) -> f64 {
    one.criteria.iter().find(|criterion| criterion.id == id).unwrap().points
}

/// Checks the invariants of all advice.
fn check(advice: &Advice) {
    assert_eq!(advice.protocols.len(), PROTOCOLS.len());
    assert!(advice.protocols.is_sorted_by(|a, b| a.score >= b.score));
    for one in &advice.protocols {
        assert!((0.0..=100.0).contains(&one.score), "{one:?}");
        let sum: f64 = one.criteria.iter().map(|criterion| criterion.points).sum();
        assert!((sum - one.score).abs() < 1e-9, "{one:?}");
        let most: f64 = one.criteria.iter().map(|criterion| criterion.points_max).sum();
        assert_eq!(most, 100.0);
        let texts = one.reasons.iter().chain(&one.tradeoffs);
        let counted = texts.filter(|text| text.contains(|c: char| c.is_ascii_digit()));
        // Overhead always has a text, and so has scale or simplicity.
        assert!(counted.count() >= 2, "{one:?}");
    }
}

#[test]
fn nobody_and_one_node_and_two_are_fine() {
    let station = station();
    for nodes in 0..3 {
        let advice = advice(&strewn(&station, nodes, 0.5, 1), 1500);
        check(&advice);
        assert_eq!(advice.sampling.pairs, usize::from(nodes == 2));
        assert_eq!(advice.protocols[0].id, ProtocolId::Static, "nothing to choose");
        let links = usize::from(nodes == 2);
        assert_eq!((advice.links.usable, advice.connectivity.links), (links, links));
        assert_eq!(advice.connectivity.bridges.len(), links);
        assert_eq!(advice.links.snr_db.is_some(), nodes == 2);
        assert_eq!(advice.connectivity.components, usize::from(nodes > 0));
    }
}

#[test]
fn a_large_mesh_of_unequal_links_wants_a_metric() {
    let station = station();
    let advice = advice(&strewn(&station, 90, 60.0, 2), 1500);
    check(&advice);
    assert!(advice.links.fragile_prob > 0.5, "{:?}", advice.links);
    assert!(advice.connectivity.largest_component_nodes > 80);
    let score = |id| of(&advice, id).score;
    for good in [ProtocolId::BatmanAdv, ProtocolId::Babel] {
        for poor in [ProtocolId::Aodv, ProtocolId::Static] {
            assert!(score(good) > score(poor), "{good:?} {poor:?}: {:#?}", advice.protocols);
        }
    }
    let usable = format!("of {} usable links", advice.links.usable);
    let reasons = &of(&advice, ProtocolId::Babel).reasons;
    assert!(reasons.iter().any(|reason| reason.contains(&usable)), "{reasons:?}");
}

#[test]
fn slow_radios_pay_for_protocols_that_talk() {
    let (wifi, lora) = (station(), lora());
    let fast = advice(&strewn(&wifi, 20, 6.0, 3), 200);
    let slow = advice(&strewn(&lora, 20, 6.0, 3), 200);
    check(&slow);
    assert!(slow.links.usable > 100, "{:?}", slow.links);
    for talker in [ProtocolId::BatmanAdv, ProtocolId::Babel, ProtocolId::Olsrv2] {
        let [on_wifi, on_lora] = [&fast, &slow].map(|advice| of(advice, talker));
        let [before, after] = [on_wifi, on_lora].map(|one| points(one, CriterionId::Overhead));
        assert!(after < 1.0 && before > 10.0, "{talker:?}: {before} to {after}");
        assert_eq!(on_lora.overhead_class, Class::High);
        assert!(on_lora.overhead_share > Some(1.0), "it does not fit the channel");
        let aodv = of(&slow, ProtocolId::Aodv);
        assert!(points(aodv, CriterionId::Overhead) > after);
        assert!(aodv.score > on_lora.score, "{:#?}", slow.protocols);
    }
    let hwmp = of(&slow, ProtocolId::Hwmp);
    assert_eq!(hwmp.score, 0.0, "there is no 802.11 on LoRa");
    assert!(hwmp.tradeoffs[0].contains("20 of 20 nodes"), "{:?}", hwmp.tradeoffs);
}

#[test]
fn unequal_ends_make_asymmetric_links() {
    let (strong, mut weak) = (station(), station());
    weak.radio.tx_power_dbm = 14.0;
    let mut members = strewn(&strong, 12, 4.0, 4);
    for member in members.iter_mut().step_by(2) {
        member.station = &weak;
    }
    let unequal = advice(&members, 1500);
    check(&unequal);
    // 36 of the 66 pairs join a strong and a weak station.
    let mixed = unequal.links.asymmetric_prob * unequal.links.usable as f64;
    assert!((30.0..=36.0).contains(&mixed.round()), "{:?}", unequal.links);
    let equal = advice(&strewn(&strong, 12, 4.0, 4), 1500);
    for id in [ProtocolId::Aodv, ProtocolId::Hwmp] {
        let [worse, better] =
            [&unequal, &equal].map(|advice| points(of(advice, id), CriterionId::Asymmetry));
        assert!(worse < better, "{id:?}");
    }
    let texts = &of(&unequal, ProtocolId::Aodv).tradeoffs;
    let percent = format!("{:.0} % of usable links differ", unequal.links.asymmetric_prob * 100.0);
    assert!(texts.iter().any(|text| text.contains(&percent)), "{texts:?}");
}

#[test]
fn scores_move_as_their_evidence_does() {
    let evidence = Evidence {
        nodes: 30,
        ofdm_nodes: 30,
        sampled: 90,
        links: 90,
        bridges: 9,
        diameter_hops: 5,
        mean_degree: 6.0,
        fragile_prob: 0.4,
        lossy_prob: 0.1,
        one_way_prob: 0.1,
        asymmetric_prob: 0.2,
        rates_bps: Some((4e6, 40e6)),
    };
    let points_of = |evidence: &Evidence, id| -> Vec<(ProtocolId, f64)> {
        let mut all: Vec<_> = rank(evidence).iter().map(|one| (one.id, points(one, id))).collect();
        all.sort_by_key(|(protocol, _)| *protocol);
        all
    };
    let falls = |less: &Evidence, more: &Evidence, id| {
        let (before, after) = (points_of(less, id), points_of(more, id));
        let pairs = before.iter().zip(&after);
        assert!(pairs.clone().all(|(before, after)| before.1 >= after.1), "{id:?}");
        assert!(pairs.clone().any(|(before, after)| before.1 > after.1), "{id:?}");
    };
    let with = |change: fn(&mut Evidence)| {
        let mut changed = evidence.clone();
        change(&mut changed);
        changed
    };
    let slower = with(|e| e.rates_bps = Some((4e3, 40e3)));
    falls(&evidence, &slower, CriterionId::Overhead);
    let denser = with(|e| e.mean_degree = 20.0);
    falls(&evidence, &denser, CriterionId::Overhead);
    let larger = with(|e| (e.nodes, e.ofdm_nodes) = (45, 45));
    falls(&evidence, &larger, CriterionId::Overhead);
    falls(&evidence, &larger, CriterionId::Scale);
    falls(&larger, &evidence, CriterionId::Simplicity);
    let fading = with(|e| e.fragile_prob = 1.0);
    falls(&evidence, &fading, CriterionId::LinkQuality);
    let meshed = with(|e| e.bridges = 0);
    falls(&evidence, &meshed, CriterionId::Convergence);
    let one_way = with(|e| e.one_way_prob = 0.5);
    falls(&evidence, &one_way, CriterionId::Asymmetry);
}

#[test]
fn order_does_not_matter_and_a_dense_deployment_is_sampled() {
    let station = station();
    let mut members = strewn(&station, 260, 8.0, 5);
    let once = advice(&members, 1500);
    check(&once);
    members.reverse();
    assert_eq!(once, advice(&members, 1500));
    let sampling = &once.sampling;
    assert_eq!((sampling.pairs, sampling.complete), (33_670, false));
    assert_eq!(sampling.pairs_sampled, PAIRS_SAMPLED_MAX);
    assert!(sampling.pairs_in_reach > PAIRS_SAMPLED_MAX && sampling.pairs_for_connectivity > 100);
    assert_eq!(once.connectivity.components, 1);

    // The sample tells what all pairs would.
    let environment = Environment::default();
    let inputs = Inputs {
        terrain: &Flat::default(),
        environment: &environment,
        packet_bytes: 1500,
        spacing_m: None,
    };
    let all = crate::mesh::mesh(&inputs, &members).unwrap();
    assert_eq!(all.links.len(), sampling.pairs_in_reach);
    let all = LinkStatistics::of(&all.links);
    let share = |usable: usize, of: usize| usable as f64 / of as f64;
    let [sampled, whole] = [
        share(once.links.usable, sampling.pairs_sampled),
        share(all.usable, sampling.pairs_in_reach),
    ];
    assert!((sampled - whole).abs() < 0.007, "{sampled} {whole}");
    assert!((once.links.fragile_prob - all.fragile_prob).abs() < 0.007);
    let [sampled, whole] = [&once.links, &all].map(|links| links.snr_db.unwrap().p50);
    assert!((sampled - whole).abs() < 0.3, "{sampled} {whole}");
}

#[test]
fn quantiles_are_values_of_the_sample() {
    assert_eq!(Quantiles::of(Vec::new()), None);
    let one = Quantiles::of(vec![3.0]).unwrap();
    assert_eq!((one.min, one.p10, one.p90, one.max), (3.0, 3.0, 3.0, 3.0));
    let ten = Quantiles::of((1..=10).rev().map(f64::from).collect()).unwrap();
    assert_eq!([ten.min, ten.p10, ten.p50, ten.p90, ten.max], [1.0, 1.0, 5.0, 9.0, 10.0]);
}

#[test]
fn advice_is_a_document_with_a_schema() {
    let station = station();
    let document = serde_json::to_value(advice(&strewn(&station, 5, 2.0, 6), 1500)).unwrap();
    let first = &document["protocols"][0];
    assert!(first["score"].is_number() && first["reasons"].is_array());
    assert!(first["tradeoffs"].is_array() && first["overhead_class"] == "low");
    let ids = document["protocols"].as_array().unwrap();
    let ids: Vec<_> = ids.iter().map(|one| one["id"].as_str().unwrap()).collect();
    for id in ["static", "batman_adv", "babel", "olsrv2", "hwmp", "aodv"] {
        assert!(ids.contains(&id), "{id}");
    }
    let schema = schemars::schema_for!(Advice).as_value().to_string();
    assert!(schema.contains("articulation_points") && schema.contains("pairs_sampled"));
}
