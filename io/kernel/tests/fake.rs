//! Shaping over the model: conformance, and failures that a running kernel cannot be forced into.

use std::path::Path;

use groundwave_impair::{
    DivergenceKind, FailureKind, Impairment, Latency, Loss, Queue, QueueLimit, QueueUnit, Rate,
};

use super::super::conformance::{
    conforms, examples, incoming_conforms, options, round_trip, verifiable,
};
use super::super::netem::Netem;
use super::super::stack::{NETEM, UNDER_NETEM};
use super::super::{
    Counters, Fake, Handle, Kernel, KernelError, Options, Qdisc, Request, Shaper, Verb,
};
use super::random::block_on;

fn everything() -> Options {
    options(Path::new("/nowhere"))
}

async fn shaper(fake: &Fake) -> Shaper<Fake> {
    Shaper::start(fake.clone(), everything()).await.unwrap()
}

fn delayed(duration_ns: u64) -> Impairment {
    Impairment { latency: Some(Latency::Constant { duration_ns }), ..Impairment::default() }
}

#[test]
fn the_model_conforms_with_and_without_netem() {
    block_on(async {
        let whole = Fake::new(&["eth0"]);
        conforms(whole.clone(), whole, "eth0", everything()).await;
        let bare = Fake::new(&["eth0"]).without("netem");
        conforms(bare.clone(), bare, "eth0", everything()).await;
    });
}

#[test]
fn incoming_traffic_that_cannot_be_redirected_leaves_no_device() {
    block_on(async {
        let mut fake = Fake::new(&["eth0"]);
        let mut shaper = shaper(&fake).await;
        fake.fail_at(1, 95);
        let error = shaper.apply("incoming:eth0", &delayed(1)).await.unwrap_err();
        assert!(error.to_string().contains("redirect incoming:eth0"), "{error}");
        assert_eq!(fake.link("incoming:eth0").await.unwrap().index, 0, "no device is left");
        let reading = shaper.apply("incoming:eth0", &delayed(1)).await.unwrap();
        assert_eq!(reading.impairment, delayed(1));
    });
}

#[test]
fn incoming_traffic_of_the_model_conforms_with_and_without_ifb() {
    block_on(async {
        let whole = Fake::new(&["eth0"]);
        let disturb = |state| whole.break_redirection("incoming:eth0", state);
        incoming_conforms(whole.clone(), whole.clone(), "eth0", disturb, everything()).await;
        let bare = Fake::new(&["eth0"]).without("ifb");
        incoming_conforms(bare.clone(), bare, "eth0", |_| (), everything()).await;
    });
}

#[test]
fn every_structure_leads_to_every_other() {
    block_on(async {
        for from in examples() {
            for to in examples() {
                let fake = Fake::new(&["eth0"]);
                let mut shaper = shaper(&fake).await;
                round_trip(&mut shaper, "eth0", &from).await;
                round_trip(&mut shaper, "eth0", &to).await;
            }
        }
    });
}

#[test]
fn an_update_changes_in_place_and_sends_the_queue_after_the_shaper() {
    block_on(async {
        let fake = Fake::new(&["eth0"]);
        let mut shaper = shaper(&fake).await;
        let requested = |bps, value| Impairment {
            rate: Some(Rate { bps, burst_bytes: 9000 }),
            queue: Some(Queue { limit: QueueLimit { unit: QueueUnit::Packets, value } }),
            ..delayed(bps)
        };
        shaper.apply("eth0", &requested(1_000_000, 20)).await.unwrap();
        let sent = |fake: &Fake| -> Vec<_> {
            fake.take_sent().iter().map(|request| (request.verb, request.kind)).collect()
        };
        let _ = sent(&fake);
        shaper.apply("eth0", &requested(2_000_000, 20)).await.unwrap();
        let change = Verb::Change;
        assert_eq!(sent(&fake), [(change, "netem"), (change, "tbf"), (change, "pfifo")]);
        shaper.apply("eth0", &requested(2_000_000, 30)).await.unwrap();
        assert_eq!(sent(&fake), [(change, "pfifo")], "a shaper that stays keeps its tokens");
        shaper.apply("eth0", &requested(2_000_000, 30)).await.unwrap();
        assert_eq!(sent(&fake), []);
    });
}

#[test]
fn a_distribution_does_not_outlive_its_request() {
    block_on(async {
        let fake = Fake::new(&["eth0"]);
        let mut shaper = shaper(&fake).await;
        let [normal, uniform] = ["normal", "uniform"].map(|kind| {
            let text = format!(
                r#"{{"latency":{{"kind":"stochastic","mean":9,"jitter":3,"distribution":{{"kind":"{kind}"}}}}}}"#
            );
            serde_json::from_str::<Impairment>(&text).unwrap()
        });
        shaper.apply("eth0", &normal).await.unwrap();
        assert_eq!(fake.table("eth0").unwrap()[2048], 0, "a median of normal");
        let reading = shaper.apply("eth0", &normal).await.unwrap();
        let kinds: Vec<_> = reading.divergence.iter().map(|item| item.kind).collect();
        assert_eq!(kinds, [DivergenceKind::Unverifiable]);
        let reading = shaper.apply("eth0", &uniform).await.unwrap();
        let table = fake.table("eth0").unwrap();
        let steps = table.windows(2).all(|pair| pair[1] - pair[0] == 4);
        assert!(steps, "evenly, although the kernel keeps a table it was given");
        assert_eq!(reading.divergence, []);
    });
}

#[test]
fn a_restarted_shaper_reads_the_state_of_the_kernel() {
    block_on(async {
        let fake = Fake::new(&["eth0"]);
        for requested in examples() {
            let mut first = shaper(&fake).await;
            let reading = first.apply("eth0", &requested).await.unwrap();
            // A restarted daemon finds the state of the previous one without a request.
            let found = shaper(&fake).await.read("eth0").await.unwrap();
            assert_eq!(verifiable(&found), []);
            assert_eq!(found.impairment.loss, reading.impairment.loss);
            assert_eq!(found.impairment.queue, reading.impairment.queue, "{requested:?}");
            let rate = |reading: &super::super::Reading| reading.impairment.rate.map(|r| r.bps);
            assert_eq!(rate(&found), rate(&reading));
        }
    });
}

#[test]
fn a_jitter_beyond_31_bits_is_a_divergence() {
    block_on(async {
        let mut shaper = shaper(&Fake::new(&["eth0"])).await;
        let requested = Impairment {
            latency: Some(Latency::Stochastic {
                mean_ns: 6_000_000_000,
                jitter_ns: 5_000_000_000,
                distribution: Default::default(),
                correlation: None,
            }),
            ..Impairment::default()
        };
        let reading = shaper.apply("eth0", &requested).await.unwrap();
        let messages: Vec<_> =
            reading.divergence.iter().map(|item| item.message.as_str()).collect();
        let cut = "netem latency.jitter: asked for 5000000000, the kernel holds 2147483647";
        assert_eq!(messages, [cut]);
        assert_eq!(reading.impairment.latency.unwrap().jitter_ns(), 2_147_483_647);
    });
}

#[test]
fn disabled_extensions_are_a_divergence_until_the_next_request() {
    block_on(async {
        let mut shaper = Shaper::start(Fake::new(&["eth0"]), Options::default()).await.unwrap();
        shaper.apply("eth0", &delayed(7)).await.unwrap();
        let two_states = Impairment {
            loss: Some(Loss::GilbertElliott { p: 0.1, r: 0.2, one_minus_h: 0.0, one_minus_k: 1.0 }),
            ..Impairment::default()
        };
        let err = shaper.apply("eth0", &two_states).await.unwrap_err();
        assert_eq!(err.to_string(), "loss of the model gilbert-elliott is not supported");
        assert_eq!(err.failure().kind, FailureKind::Unsupported);
        let reading = shaper.read("eth0").await.unwrap();
        assert_eq!(reading.impairment, delayed(7));
        let item = &reading.divergence[..];
        assert!(
            matches!(item, [item] if item.kind == DivergenceKind::Unsupported && item.field == "loss")
        );
        let reading = shaper.apply("eth0", &delayed(8)).await.unwrap();
        assert_eq!(reading.divergence, []);
    });
}

#[test]
fn two_state_loss_of_another_program_is_a_divergence() {
    block_on(async {
        let fake = Fake::new(&["eth0"]);
        let mut shaper = Shaper::start(fake.clone(), Options::default()).await.unwrap();
        shaper.apply("eth0", &delayed(7)).await.unwrap();
        let netem =
            Netem { latency_ns: 7, limit: 1000, gemodel: Some([1, 2, 3, 4]), ..Netem::default() };
        let theirs = Request {
            verb: Verb::Change,
            index: 0,
            handle: NETEM,
            parent: Handle::ROOT,
            kind: "netem",
            options: Some(netem.payload(None)),
        };
        fake.send_foreign("eth0", &theirs).unwrap();
        let reading = shaper.read("eth0").await.unwrap();
        let last = reading.divergence.last().unwrap();
        assert_eq!((last.field.as_str(), last.kind), ("loss.model", DivergenceKind::Unsupported));
    });
}

#[test]
fn missing_permission_and_interface_are_reported() {
    block_on(async {
        let fake = Fake::new(&["eth0"]);
        fake.set_denied(true);
        let mut denied = Shaper::start(fake.clone(), everything()).await.unwrap();
        assert!(!denied.capabilities().netem, "nothing can be done");
        for requested in [delayed(1), Impairment::default()] {
            let err = denied.apply("eth0", &requested).await.unwrap_err();
            assert!(matches!(err, KernelError::Permission { .. }), "{err}");
        }
        fake.set_denied(false);
        denied.apply("eth0", &delayed(1)).await.unwrap();
        denied.clear("eth0").await.unwrap();
        let mut shaper = shaper(&fake).await;
        fake.set_denied(true);
        let err = shaper.apply("eth0", &delayed(1)).await.unwrap_err();
        assert_eq!(err.failure().kind, FailureKind::Denied);
        assert!(shaper.read("eth0").await.unwrap().is_bare());
        fake.remove_interface("eth0");
        let err = shaper.read("eth0").await.unwrap_err();
        assert_eq!(err.to_string(), "there is no interface eth0");
    });
}

/// A root discipline of another program.
fn foreign_root(kind: &str, major: u16) -> Qdisc {
    let handle = Handle::new(major, 0);
    Qdisc { kind: kind.to_owned(), handle, parent: Handle::ROOT, ..Qdisc::default() }
}

#[test]
fn root_of_another_program_is_replaced_on_request_alone() {
    block_on(async {
        let fake = Fake::new(&["eth0"]);
        let tutorial = foreign_root("netem", 1);
        fake.insert_foreign("eth0", tutorial);
        let error = shaper(&fake).await.apply("eth0", &delayed(1)).await.unwrap_err();
        assert!(error.to_string().contains("netem 1: of another program has the root"), "{error}");
        assert!(error.to_string().contains("--take-over"), "{error}");
        let options = Options { take_over: true, ..everything() };
        let mut shaper = Shaper::start(fake.clone(), options).await.unwrap();
        let reading = shaper.clear("eth0").await.unwrap();
        assert_eq!(fake.qdiscs("eth0")[0].handle, Handle::new(1, 0), "{reading:?}");
        let counters =
            Counters { packets: 40, drops: 3, backlog_packets: 2, ..Counters::default() };
        fake.set_counters("eth0", "netem", counters);
        let reading = shaper.apply("eth0", &delayed(1)).await.unwrap();
        let [warning] = reading.warnings.as_slice() else { panic!("{:?}", reading.warnings) };
        assert_eq!(warning.code, "root_replaced");
        for lost in [
            "netem 1: of another program",
            "filters",
            "40 packets, 3 dropped",
            "2 packets that waited",
        ] {
            assert!(warning.message.contains(lost), "{lost}: {}", warning.message);
        }
        assert_eq!((reading.impairment, reading.divergence), (delayed(1), vec![]));
        assert_eq!(fake.qdiscs("eth0")[0].handle, NETEM);
        let reading = shaper.apply("eth0", &delayed(2)).await.unwrap();
        assert_eq!(reading.warnings, [], "told once");
    });
}

#[test]
fn queue_of_another_program_below_an_own_class_is_replaced_on_request_alone() {
    block_on(async {
        let fake = Fake::new(&["eth0"]);
        let mut modest = shaper(&fake).await;
        modest.apply("eth0", &delayed(1)).await.unwrap();
        let below = Qdisc { parent: UNDER_NETEM, ..foreign_root("fq_codel", 0x99) };
        fake.insert_foreign("eth0", below);
        let rate = Some(Rate { bps: 8_000_000, burst_bytes: 9000 });
        let requested = Impairment { rate, ..delayed(2) };
        let error = modest.apply("eth0", &requested).await.unwrap_err().to_string();
        for part in
            ["fq_codel 99: of another program is below 6757:1", "impair clear", "--take-over"]
        {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert_eq!(modest.read("eth0").await.unwrap().impairment, delayed(1));
        let options = Options { take_over: true, ..everything() };
        let mut shaper = Shaper::start(fake.clone(), options).await.unwrap();
        let reading = shaper.apply("eth0", &requested).await.unwrap();
        let codes: Vec<_> = reading.warnings.iter().map(|warning| warning.code.as_str()).collect();
        assert!(codes.contains(&"queue_replaced"), "{codes:?}");
        assert_eq!((reading.impairment, reading.divergence), (requested, vec![]));
    });
}

#[test]
fn change_after_a_restart_differs_from_the_request_before_it() {
    block_on(async {
        let fake = Fake::new(&["eth0"]);
        let requested = delayed(5_000_000);
        shaper(&fake).await.apply("eth0", &requested).await.unwrap();
        let mut restarted = shaper(&fake).await;
        restarted.remember("eth0", vec![delayed(7), requested.clone()]);
        let reading = restarted.read("eth0").await.unwrap();
        assert_eq!((reading.impairment, reading.divergence), (requested, vec![]));
        let root = fake.qdiscs("eth0")[0].clone();
        let removal = Request {
            verb: Verb::Delete,
            index: 0,
            handle: root.handle,
            parent: Handle::ROOT,
            kind: "netem",
            options: None,
        };
        fake.send_foreign("eth0", &removal).unwrap();
        let reading = restarted.read("eth0").await.unwrap();
        let kinds: Vec<_> = reading.divergence.iter().map(|item| item.kind).collect();
        assert_eq!(kinds, [DivergenceKind::Differs], "{reading:?}");
        // What was in force before is no request where another state was found.
        let mut other = shaper(&fake).await;
        other.remember("eth0", vec![delayed(7)]);
        assert!(other.read("eth0").await.unwrap().is_bare());
    });
}

#[test]
fn rounded_numbers_give_warnings() {
    block_on(async {
        let mut shaper = shaper(&Fake::new(&["eth0"])).await;
        let requested = Impairment {
            loss: Some(Loss::Bernoulli { pct: 1e-10, correlation: None }),
            rate: Some(Rate { bps: 80_001, burst_bytes: 9000 }),
            ..Impairment::default()
        };
        let reading = shaper.apply("eth0", &requested).await.unwrap();
        let codes: Vec<_> = reading.warnings.iter().map(|warning| warning.code.as_str()).collect();
        for code in ["share_below_resolution", "rate_rounded"] {
            assert!(codes.contains(&code), "{code}: {codes:?}");
        }
    });
}

#[test]
fn disciplines_of_other_programs_are_left_alone() {
    block_on(async {
        let fake = Fake::new(&["eth0"]);
        let mut shaper = shaper(&fake).await;
        let theirs = foreign_root("fq_codel", 0x8001);
        fake.insert_foreign("eth0", theirs);
        shaper.clear("eth0").await.unwrap();
        assert!(shaper.apply("eth0", &delayed(1)).await.is_err());
        assert_eq!(fake.qdiscs("eth0")[0].kind, "fq_codel");
        // netem of another program has another handle.
        let theirs = foreign_root("netem", 0x10);
        fake.insert_foreign("eth0", theirs);
        let reading = shaper.clear("eth0").await.unwrap();
        let item = reading.divergence.iter().find(|item| item.kind == DivergenceKind::Foreign);
        assert_eq!(item.unwrap().message, "netem 10: of another program is left in place");
        assert_eq!(fake.qdiscs("eth0").len(), 1);
    });
}

#[test]
fn counters_are_read() {
    block_on(async {
        let fake = Fake::new(&["eth0"]);
        let mut shaper = shaper(&fake).await;
        shaper.apply("eth0", &delayed(1)).await.unwrap();
        let counters = Counters { packets: 5, bytes: 500, drops: 2, ..Counters::default() };
        fake.set_counters("eth0", "netem", counters);
        let stats = shaper.stats("eth0").await.unwrap();
        let found = (stats.packets_total, stats.bytes_total, stats.impairment_drops_total);
        assert_eq!(found, (5, 500, 2));
    });
}

#[test]
fn refusal_while_a_delay_line_empties_restores_the_delay() {
    block_on(async {
        // The request that opens the line, then the one that deletes it.
        for refused in [1, 2] {
            let fake = Fake::new(&["eth0"]);
            let mut shaper = shaper(&fake).await;
            shaper.apply("eth0", &delayed(20_000_000)).await.unwrap();
            let counters = Counters { backlog_packets: 3, ..Counters::default() };
            fake.set_counters("eth0", "netem", counters);
            fake.fail_at(refused, 12);
            shaper.clear("eth0").await.unwrap_err();
            let reading = shaper.read("eth0").await.unwrap();
            assert_eq!(reading.impairment, delayed(20_000_000), "request {refused}");
            assert_eq!(reading.divergence, [], "request {refused}");
        }
    });
}

/// Packets that wait in a band go with the root, and are counted.
#[test]
fn removed_bands_give_a_warning_with_the_packets_in_them() {
    block_on(async {
        let fake = Fake::new(&["eth0"]);
        let mut shaper = shaper(&fake).await;
        let text = r#"{"rules":[{"name":"a","match":{"dscp":1},
            "impairment":{"queue":{"limit":{"unit":"packets","value":9}}}}]}"#;
        shaper.apply("eth0", &serde_json::from_str(text).unwrap()).await.unwrap();
        let waiting = Counters { backlog_packets: 3, ..Counters::default() };
        fake.set_counters("eth0", "pfifo", waiting);
        let stats = shaper.stats("eth0").await.unwrap();
        assert_eq!(stats.rules.len(), 1);
        assert_eq!(
            (stats.rules[0].names.clone(), stats.rules[0].backlog_packets),
            (vec!["a".to_owned()], 3)
        );
        let reading = shaper.clear("eth0").await.unwrap();
        let codes: Vec<_> = reading.warnings.iter().map(|warning| warning.code.as_str()).collect();
        assert_eq!(codes, ["packets_discarded"]);
        // Those of the rule and of the band of the rest.
        assert!(reading.warnings[0].message.starts_with("6 packets"), "{:?}", reading.warnings);
        assert_eq!(shaper.stats("eth0").await.unwrap().queue_drops_total, 6);
    });
}
