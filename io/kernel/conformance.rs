//! Requirements for a kernel under a [`Shaper`](super::Shaper): one body of tests, for the model
//! and for running kernels with and without `netem`.
//!
//! The cases panic where a kernel does not conform, and leave the interface without disciplines.

use groundwave_impair::{
    Distribution, DivergenceItem, DivergenceKind, Extensions, Impairment, Latency, QueueUnit,
};

mod impairments;
mod incoming;
mod rules;

pub use impairments::{draw, examples};
pub use incoming::incoming_conforms;

use impairments::{queued, rated};

use super::stack::{LEAF, NETEM, UNDER_NETEM};
use super::{Handle, Kernel, KernelError, Netem, Options, Reading, Request, Shaper, Verb};

/// All extensions enabled, the operator's tables in `tables`.
#[must_use]
pub fn options(tables: &std::path::Path) -> Options {
    Options {
        extensions: Extensions { gilbert_elliott: true, paretonormal: true },
        tables: tables.to_owned(),
        take_over: false,
    }
}

/// Runs all cases on `interface` without disciplines; `other` is another program on the same
/// kernel.
///
/// # Panics
/// Where the kernel does not conform.
pub async fn conforms<K: Kernel>(kernel: K, mut other: K, interface: &str, options: Options) {
    let mut shaper = Shaper::start(kernel, options).await.unwrap();
    let bare = shaper.read(interface).await.unwrap();
    assert!(bare.is_bare(), "{bare:?}");
    for impairment in examples() {
        if possible(&shaper, &impairment) {
            round_trip(&mut shaper, interface, &impairment).await;
        }
    }
    impossible_changes_nothing(&mut shaper, interface).await;
    foreign_root_survives(&mut shaper, &mut other, interface).await;
    foreign_change_is_reported(&mut shaper, &mut other, interface).await;
    failure_is_rolled_back(&mut shaper, &mut other, interface).await;
    rules::conform(&mut shaper, &mut other, interface).await;
    let bare = shaper.clear(interface).await.unwrap();
    assert!(bare.is_bare(), "{bare:?}");
    assert_eq!(other_root(&mut other, interface).await, None, "nothing is left");
}

/// Support of `impairment` by the kernel under `shaper`.
#[must_use]
pub fn possible<K: Kernel>(shaper: &Shaper<K>, impairment: &Impairment) -> bool {
    let bare = Impairment {
        rate: impairment.rate,
        queue: impairment.queue,
        rules: impairment.rules.clone(),
        ..Impairment::default()
    };
    let capabilities = shaper.capabilities();
    let rules = impairment.rules.iter().flat_map(|rules| &rules.0);
    let mut of_rules = rules.filter_map(|rule| rule.impairment.as_ref());
    if impairment.rules.is_some() && !capabilities.rules
        || !of_rules.all(|own| possible(shaper, own))
    {
        return false;
    }
    (capabilities.netem || *impairment == bare) && (capabilities.tbf || impairment.rate.is_none())
}

/// Applies `impairment` and requires that it reads back unchanged, without divergence except for
/// unreported properties.
///
/// # Panics
/// When it does not.
pub async fn round_trip<K: Kernel>(
    shaper: &mut Shaper<K>,
    interface: &str,
    impairment: &Impairment,
) {
    impairment.validate().unwrap();
    let reading = shaper
        .apply(interface, impairment)
        .await
        .unwrap_or_else(|err| panic!("{impairment:?}: {err}"));
    assert_eq!(reading.impairment, canonical(impairment), "read back");
    assert_eq!(verifiable(&reading), [], "{impairment:?} reads back as it is");
    let again = shaper.read(interface).await.unwrap();
    assert_eq!(again, reading, "reading changes nothing");
}

/// Verifiable divergence of a reading.
#[must_use]
pub fn verifiable(reading: &Reading) -> Vec<DivergenceItem> {
    let messages = |item: &&DivergenceItem| item.kind != DivergenceKind::Unverifiable;
    reading.divergence.iter().filter(messages).cloned().collect()
}

/// `impairment` as read back: a latency without jitter is constant, a rate is whole bytes per
/// second.
#[must_use]
pub fn canonical(impairment: &Impairment) -> Impairment {
    let mut canonical = impairment.clone();
    if let Some(Latency::Stochastic { mean_ns, jitter_ns: 0, .. }) = canonical.latency {
        canonical.latency = Some(Latency::Constant { duration_ns: mean_ns });
    }
    if let Some(rate) = &mut canonical.rate {
        rate.bps = (rate.bps / 8 + u64::from(rate.bps % 8 >= 4)) * 8;
    }
    let rules = canonical.rules.iter_mut().flat_map(|rules| &mut rules.0);
    for rule in rules {
        rule.impairment = rule.impairment.as_ref().map(self::canonical);
    }
    canonical
}

async fn other_root<K: Kernel>(kernel: &mut K, interface: &str) -> Option<String> {
    let index = kernel.link(interface).await.unwrap().index;
    let root = kernel.get(index, Handle::ROOT).await.unwrap();
    root.map(|root| format!("{} {}", root.kind, root.handle))
}

async fn impossible_changes_nothing<K: Kernel>(shaper: &mut Shaper<K>, interface: &str) {
    let before = shaper.apply(interface, &rated()).await.unwrap();
    let delayed = Impairment { latency: Some(Latency::Constant { duration_ns: 1 }), ..rated() };
    let absent = Impairment {
        latency: Some(Latency::Stochastic {
            mean_ns: 1000,
            jitter_ns: 10,
            distribution: Distribution::Table { name: "there-is-none".to_owned() },
            correlation: None,
        }),
        ..rated()
    };
    let netem = shaper.capabilities().netem;
    let impossible = if netem { &absent } else { &delayed };
    let error = shaper.apply(interface, impossible).await.unwrap_err();
    match &error {
        KernelError::Table { name, .. } if netem => assert_eq!(name, "there-is-none"),
        KernelError::Unsupported { what, module } if !netem => {
            assert_eq!((what.as_str(), module.as_deref()), ("latency", Some("sch_netem")));
        }
        other => panic!("{other}"),
    }
    let after = shaper.read(interface).await.unwrap();
    assert_eq!(after.impairment, before.impairment, "what was stays");
    let kinds: Vec<_> = after.divergence.iter().map(|item| item.kind).collect();
    assert_eq!(kinds, [DivergenceKind::Unsupported]);
    assert!(shaper.clear(interface).await.unwrap().is_bare());
}

/// Roots of other programs: a queue, the `netem` of tutorials, and a discipline without classes under an own handle.
async fn foreign_root_survives<K: Kernel>(shaper: &mut Shaper<K>, other: &mut K, interface: &str) {
    let delay = Netem { latency_ns: 5_000_000, limit: 1000, ..Netem::default() };
    let queue = 77u32.to_ne_bytes().to_vec();
    let roots = [
        ("pfifo", Handle::new(0x10, 0), queue.clone()),
        ("netem", Handle::new(1, 0), delay.payload(None)),
        ("pfifo", NETEM, queue),
    ];
    for (kind, handle, options) in roots {
        if kind == "netem" && !shaper.capabilities().netem {
            continue;
        }
        let theirs = Request {
            verb: Verb::Create,
            index: other.link(interface).await.unwrap().index,
            handle,
            parent: Handle::ROOT,
            kind,
            options: Some(options),
        };
        other.send(&theirs).await.unwrap();
        let text = format!("{kind} {handle}");
        let error = shaper.apply(interface, &rated()).await.unwrap_err();
        assert!(
            matches!(&error, KernelError::Rejected { detail: Some(words), .. } if words.contains(&text)),
            "{error}"
        );
        for bare in [shaper.read(interface).await.unwrap(), shaper.clear(interface).await.unwrap()]
        {
            assert_eq!(bare.impairment, Impairment::default(), "{text}");
            let kinds: Vec<_> = bare.divergence.iter().map(|item| item.kind).collect();
            assert!(kinds.contains(&DivergenceKind::Foreign), "{text}: {kinds:?}");
        }
        assert_eq!(other_root(other, interface).await.as_ref(), Some(&text));
        let gone = Request { verb: Verb::Delete, options: None, ..theirs };
        other.send(&gone).await.unwrap();
    }
}

async fn foreign_change_is_reported<K: Kernel>(
    shaper: &mut Shaper<K>,
    other: &mut K,
    interface: &str,
) {
    let requested = queued(QueueUnit::Packets, 50);
    shaper.apply(interface, &requested).await.unwrap();
    let index = other.link(interface).await.unwrap().index;
    let parent = if shaper.capabilities().netem { UNDER_NETEM } else { Handle::ROOT };
    let theirs = Request {
        verb: Verb::Change,
        index,
        handle: LEAF,
        parent,
        kind: "pfifo",
        options: Some(51u32.to_ne_bytes().to_vec()),
    };
    other.send(&theirs).await.unwrap();
    let reading = shaper.read(interface).await.unwrap();
    assert_eq!(reading.impairment, queued(QueueUnit::Packets, 51));
    let messages: Vec<_> = reading.divergence.iter().map(|item| item.message.as_str()).collect();
    assert_eq!(messages, ["queue limit: asked for 50, the kernel holds 51"]);
    let reading = shaper.apply(interface, &requested).await.unwrap();
    assert_eq!((reading.impairment, reading.divergence), (requested, vec![]));
    shaper.clear(interface).await.unwrap();
}

/// The last of several requests fails, because another program occupies its parent.
async fn failure_is_rolled_back<K: Kernel>(shaper: &mut Shaper<K>, other: &mut K, interface: &str) {
    if !shaper.capabilities().netem {
        return;
    }
    let before = Impairment {
        latency: Some(Latency::Constant { duration_ns: 5_000_000 }),
        ..Impairment::default()
    };
    shaper.apply(interface, &before).await.unwrap();
    let theirs = Request {
        verb: Verb::Create,
        index: other.link(interface).await.unwrap().index,
        handle: Handle::new(0x20, 0),
        parent: UNDER_NETEM,
        kind: "pfifo",
        options: Some(9u32.to_ne_bytes().to_vec()),
    };
    other.send(&theirs).await.unwrap();
    let requested =
        Impairment { latency: Some(Latency::Constant { duration_ns: 9_000_000 }), ..rated() };
    let error = shaper.apply(interface, &requested).await.unwrap_err();
    assert!(matches!(error, KernelError::Rejected { errno: 17, .. }), "{error}");
    let after = shaper.read(interface).await.unwrap();
    assert_eq!(after.impairment, before, "the delay went back");
    let messages: Vec<_> =
        after.divergence.iter().map(|item| (item.kind, item.layer.as_str())).collect();
    assert_eq!(messages, [(DivergenceKind::Foreign, "tbf")]);
    shaper.clear(interface).await.unwrap();
}
