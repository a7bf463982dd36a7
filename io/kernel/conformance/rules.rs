//! Rules: bands and filters of every structure, changes of others, and failures.

use groundwave_impair::{DivergenceKind, Impairment, Latency, QueueUnit, Rule, Rules, Selector};

use super::super::bands::{self, EXCLUDED};
use super::super::filter::RuleFilter;
use super::super::stack::{BANDS, Layout};
use super::super::{FilterRequest, Handle, Kernel, KernelError, Request, Shaper, Verb};
use super::impairments::{queued, rated};
use super::{other_root, possible, round_trip, verifiable};

fn rule(name: &str, conditions: &str, impairment: Impairment) -> Rule {
    let selector: Selector = conditions.parse().unwrap();
    Rule { name: name.to_owned(), selector, exclude: false, impairment: Some(impairment) }
}

fn excluded(name: &str, conditions: &str) -> Rule {
    Rule { exclude: true, impairment: None, ..rule(name, conditions, Impairment::default()) }
}

fn delayed(duration_ns: u64) -> Impairment {
    Impairment { latency: Some(Latency::Constant { duration_ns }), ..Impairment::default() }
}

fn ruled(rest: Impairment, rules: Vec<Rule>) -> Impairment {
    Impairment { rules: Some(Rules(rules)), ..rest }
}

/// Rules of every structure.
fn examples() -> Vec<Impairment> {
    let voip = "proto udp dport 5000-5100 dst 10.1.0.0/16";
    let both = Impairment { queue: queued(QueueUnit::Packets, 40).queue, ..rated() };
    vec![
        ruled(rated(), vec![excluded("ssh", "proto tcp dport 22"), rule("voip", voip, rated())]),
        ruled(Impairment::default(), vec![rule("voip", voip, Impairment::default())]),
        ruled(both.clone(), vec![rule("a", "dscp 46", both.clone()), rule("voip", voip, rated())]),
        ruled(
            queued(QueueUnit::Bytes, 9000),
            vec![
                rule(
                    "six",
                    "proto tcp src fd00::/64 sport 1-2 dport 443",
                    queued(QueueUnit::Bytes, 8000),
                ),
                excluded("ping", "proto icmp"),
                excluded("ping6", "proto icmpv6"),
                rule("any", "dst 0.0.0.0/0", queued(QueueUnit::Packets, 30)),
            ],
        ),
        ruled(
            delayed(5_000_000),
            vec![rule("voip", voip, Impairment { rate: rated().rate, ..delayed(9_000_000) })],
        ),
        ruled(rated(), vec![excluded("everything", "proto sctp sport 9")]),
        ruled(
            Impairment::default(),
            (0..14).map(|n| rule(&format!("r{n}"), &format!("dscp {n}"), rated())).collect(),
        ),
    ]
}

/// Runs the cases of rules.
pub async fn conform<K: Kernel>(shaper: &mut Shaper<K>, other: &mut K, interface: &str) {
    if !shaper.capabilities().rules {
        return lack(shaper, interface).await;
    }
    let plain = [Impairment::default(), rated()];
    let all: Vec<_> = examples().into_iter().filter(|one| possible(shaper, one)).collect();
    for from in &all {
        for to in all.iter().chain(&plain) {
            round_trip(shaper, interface, from).await;
            round_trip(shaper, interface, to).await;
        }
    }
    empty_rules_are_none(shaper, other, interface).await;
    changes_of_others_are_reported(shaper, other, interface).await;
    failure_is_rolled_back(shaper, other, interface).await;
    names_are_of_the_request(shaper, interface).await;
    shaper.clear(interface).await.unwrap();
    assert_eq!(other_root(other, interface).await, None, "no bands remain");
}

async fn lack<K: Kernel>(shaper: &mut Shaper<K>, interface: &str) {
    let before = shaper.apply(interface, &rated()).await.unwrap();
    let error = shaper.apply(interface, &examples()[1]).await.unwrap_err();
    let modules = ["sch_prio", "cls_flower"];
    match &error {
        KernelError::Unsupported { what, module: Some(module) } => {
            assert_eq!(what, "rules");
            assert!(modules.contains(&module.as_str()), "{module}");
        }
        other => panic!("{other}"),
    }
    let after = shaper.read(interface).await.unwrap();
    assert_eq!(after.impairment, before.impairment);
    shaper.clear(interface).await.unwrap();
}

async fn empty_rules_are_none<K: Kernel>(shaper: &mut Shaper<K>, other: &mut K, interface: &str) {
    let reading = shaper.apply(interface, &ruled(Impairment::default(), vec![])).await.unwrap();
    assert_eq!((reading.impairment, reading.divergence), (Impairment::default(), vec![]));
    assert_eq!(other_root(other, interface).await, None);
}

/// Another program changes the queue in a band, deletes a filter, adds one, and deletes the root.
async fn changes_of_others_are_reported<K: Kernel>(
    shaper: &mut Shaper<K>,
    other: &mut K,
    interface: &str,
) {
    let requested = ruled(
        Impairment::default(),
        vec![
            excluded("ssh", "proto tcp dport 22"),
            rule("voip", "proto udp", queued(QueueUnit::Packets, 50)),
        ],
    );
    let index = other.link(interface).await.unwrap().index;
    let band = Layout::band(EXCLUDED + 1);
    let limit = Request {
        verb: Verb::Change,
        index,
        handle: band.leaf(false),
        parent: band.parent,
        kind: "pfifo",
        options: Some(51_u32.to_ne_bytes().to_vec()),
    };
    let selector: Selector = "proto udp".parse().unwrap();
    let filters: Vec<_> = RuleFilter::of(2, band.parent, &selector).collect();
    let removal = FilterRequest {
        index,
        parent: bands::ROOT,
        preference: filters[1].preference(),
        handle: 1,
        protocol: filters[1].protocol(),
        kind: "flower",
        options: None,
    };
    let foreign = FilterRequest {
        preference: 1000,
        protocol: filters[0].protocol(),
        options: Some(filters[0].options()),
        ..removal.clone()
    };
    let root = Request {
        verb: Verb::Delete,
        index,
        handle: Handle::new(BANDS, 0),
        parent: Handle::ROOT,
        kind: "prio",
        options: None,
    };
    let expected: [(&str, DivergenceKind); 4] = [
        ("rule voip: queue limit: asked for 50, the kernel holds 51", DivergenceKind::Differs),
        (
            "rule voip match: asked for IPv6 proto udp to 675b:2, the kernel holds nothing",
            DivergenceKind::Differs,
        ),
        ("is left in place", DivergenceKind::Foreign),
        ("root kind: asked for prio 675b:, the kernel holds nothing", DivergenceKind::Differs),
    ];
    for (case, (message, kind)) in expected.into_iter().enumerate() {
        let reading = shaper.apply(interface, &requested).await.unwrap();
        assert_eq!((&reading.impairment, reading.divergence), (&requested, vec![]));
        match case {
            0 => other.send(&limit).await.unwrap(),
            1 => other.send_filters(std::slice::from_ref(&removal)).await.unwrap(),
            2 => other.send_filters(std::slice::from_ref(&foreign)).await.unwrap(),
            _ => other.send(&root).await.unwrap(),
        }
        let reading = shaper.read(interface).await.unwrap();
        let item = reading.divergence.iter().find(|item| item.message.contains(message));
        let item = item.unwrap_or_else(|| panic!("{message}: {:#?}", reading.divergence));
        assert_eq!(item.kind, kind);
        if case < 3 {
            assert_eq!(reading.divergence.len(), 1, "{:#?}", reading.divergence);
        }
        if case == 2 {
            let removal = FilterRequest { options: None, ..foreign.clone() };
            other.send_filters(&[removal]).await.unwrap();
        }
    }
    shaper.clear(interface).await.unwrap();
}

/// The last of several requests fails, because another program occupies the band.
async fn failure_is_rolled_back<K: Kernel>(shaper: &mut Shaper<K>, other: &mut K, interface: &str) {
    let before = ruled(rated(), vec![rule("a", "dscp 1", queued(QueueUnit::Packets, 50))]);
    shaper.apply(interface, &before).await.unwrap();
    let theirs = Request {
        verb: Verb::Create,
        index: other.link(interface).await.unwrap().index,
        handle: Handle::new(0x20, 0),
        parent: Layout::band(EXCLUDED + 2).parent,
        kind: "pfifo",
        options: Some(9_u32.to_ne_bytes().to_vec()),
    };
    other.send(&theirs).await.unwrap();
    let rules = vec![
        rule("a", "dscp 2", queued(QueueUnit::Packets, 60)),
        rule("b", "dscp 3", queued(QueueUnit::Packets, 70)),
    ];
    let error = shaper.apply(interface, &ruled(Impairment::default(), rules)).await.unwrap_err();
    assert!(matches!(error, KernelError::Rejected { errno: 17, .. }), "{error}");
    let after = shaper.read(interface).await.unwrap();
    assert_eq!(after.impairment, before, "all went back");
    let items: Vec<_> = after.divergence.iter().map(|item| (item.kind, &*item.layer)).collect();
    assert_eq!(items, [(DivergenceKind::Foreign, "band 3: band")]);
    shaper.clear(interface).await.unwrap();
}

/// A kernel has no names of rules: a restarted program reads them with numbers.
async fn names_are_of_the_request<K: Kernel>(shaper: &mut Shaper<K>, interface: &str) {
    for requested in [examples().remove(0), examples().remove(3)] {
        shaper.apply(interface, &requested).await.unwrap();
        shaper.forget();
        let reading = shaper.read(interface).await.unwrap();
        assert_eq!(verifiable(&reading), []);
        reading.impairment.validate().unwrap();
        let Rules(rules) = reading.impairment.rules.unwrap();
        let Rules(own) = requested.rules.unwrap();
        for ((rule, own), number) in rules.iter().zip(&own).zip(1..) {
            assert_eq!(rule.name, format!("rule{number}"));
            assert_eq!((rule.selector, rule.exclude), (own.selector, own.exclude));
            let of = |rule: &Rule| {
                let own = rule.impairment.clone().unwrap_or_default();
                (own.rate.map(|rate| rate.bps), own.queue)
            };
            assert_eq!(of(rule), of(own));
        }
    }
}
