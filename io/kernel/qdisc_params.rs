//! Parameters of a stack for comparison, in the kernel's numbers, shown in the interface's units.

use groundwave_impair::{Fact, QueueUnit, Value};

use super::fifo::Fifo;
use super::netem::{Netem, fraction};
use super::stack::Stack;
use super::tbf::{Tbf, bytes};

/// Parameters of `stack`. Bits that the kernel does not store are taken from `requested`.
#[must_use]
pub fn qdisc_params(stack: &Stack, requested: Option<&Stack>) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(netem) = &stack.netem {
        netem_facts(netem, &mut facts);
    }
    if let Some(tbf) = &stack.tbf {
        let requested = requested.and_then(|requested| requested.tbf);
        tbf_facts(&requested.map_or(*tbf, |requested| tbf.unwrapped(&requested)), &mut facts);
    }
    if let Some(leaf) = &stack.leaf {
        leaf_facts(leaf, &mut facts);
    }
    facts
}

fn fact(layer: &'static str, field: &'static str, raw: i128, value: Value) -> Fact {
    Fact { layer, field, raw, slack: 0, value }
}

fn netem_facts(netem: &Netem, facts: &mut Vec<Fact>) {
    let mut add = |field, raw: i128, value| facts.push(fact("netem", field, raw, value));
    let time = |ns: i64| Value::Whole(u64::try_from(ns).unwrap_or(0));
    add("kind", 0, Value::Text("netem".to_owned()));
    add("latency.mean", netem.latency_ns.into(), time(netem.latency_ns));
    add("latency.jitter", netem.jitter_ns.into(), time(netem.jitter_ns));
    add("limit", netem.limit.into(), Value::Whole(netem.limit.into()));
    add("reordering.gap", netem.gap.into(), Value::Whole(netem.gap.into()));
    for (field, raw) in [
        ("loss.pct", netem.loss),
        ("duplication.pct", netem.duplicate),
        ("reordering.pct", netem.reorder),
        ("corruption.pct", netem.corrupt),
    ] {
        add(field, raw.into(), Value::Real(fraction(raw, 100.0)));
    }
    for (field, raw) in [
        ("latency.correlation", netem.delay_corr),
        ("loss.correlation", netem.loss_corr),
        ("duplication.correlation", netem.dup_corr),
        ("reordering.correlation", netem.reorder_corr),
        ("corruption.correlation", netem.corrupt_corr),
    ] {
        add(field, raw.into(), Value::Real(fraction(raw, 1.0)));
    }
    if let Some([p, r, h, lost_in_good]) = netem.gemodel {
        add("loss.model", 1, Value::Text("gilbert-elliott".to_owned()));
        for (field, raw) in [
            ("loss.p", p),
            ("loss.r", r),
            ("loss.one_minus_h", lost_in_good),
            ("loss.one_minus_k", u32::MAX - h),
        ] {
            add(field, raw.into(), Value::Real(fraction(raw, 1.0)));
        }
    }
    let unsupported = &netem.unsupported;
    for (field, set) in [
        ("rate", unsupported.rate != 0),
        ("ecn", unsupported.ecn),
        ("slot", unsupported.slots),
        ("loss.model", unsupported.four_states),
    ] {
        if set {
            add(field, -1, Value::Text("set by another program".to_owned()));
        }
    }
}

fn tbf_facts(tbf: &Tbf, facts: &mut Vec<Fact>) {
    let mut add =
        |field, raw: i128, value| facts.push(fact("tbf", field, raw, Value::Whole(value)));
    add("rate.bps", tbf.rate.into(), tbf.rate.saturating_mul(8));
    add("limit", tbf.limit.into(), tbf.limit.into());
    add("mtu", tbf.mtu_ticks.into(), bytes(tbf.mtu_ticks.into(), tbf.rate).into());
    if tbf.peak_rate != 0 {
        add("peak_rate.bps", tbf.peak_rate.into(), tbf.peak_rate.saturating_mul(8));
    }
    let burst = bytes(tbf.buffer_ticks, tbf.rate);
    facts.push(Fact {
        slack: tbf.slack_ticks().into(),
        ..fact("tbf", "rate.burst_bytes", tbf.buffer_ticks.into(), Value::Whole(burst.into()))
    });
    facts.push(fact("tbf", "kind", 0, Value::Text("tbf".to_owned())));
}

fn leaf_facts(leaf: &Fifo, facts: &mut Vec<Fact>) {
    let unit = i128::from(leaf.unit == QueueUnit::Bytes);
    facts.push(fact("queue", "kind", unit, Value::Text(leaf.kind().to_owned())));
    facts.push(fact("queue", "limit", leaf.limit.into(), Value::Whole(leaf.limit.into())));
}
