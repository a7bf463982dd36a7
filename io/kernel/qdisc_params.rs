//! Parameters of a stack for comparison, in the kernel's numbers, shown in the interface's units.

use groundwave_impair::{Fact, QueueUnit, Value};

use super::fifo::Fifo;
use super::netem_plan;
use super::stack::Stack;
use super::tbf::{Tbf, bytes};

/// Tolerance of the time to send the largest frame, ticks: one for each rounding.
const MTU_SLACK_TICKS: i128 = 2;

/// Parameters of `stack`. Bits that the kernel does not store are taken from `requested`.
#[must_use]
pub fn qdisc_params(stack: &Stack, requested: Option<&Stack>) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(netem) = &stack.netem {
        netem_plan::facts(netem, &mut facts);
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

fn tbf_facts(tbf: &Tbf, facts: &mut Vec<Fact>) {
    let mut add =
        |field, raw: i128, value| facts.push(fact("tbf", field, raw, Value::Whole(value)));
    add("rate.bps", tbf.rate.into(), tbf.rate.saturating_mul(8));
    add("limit", tbf.limit.into(), tbf.limit.into());
    if tbf.peak_rate != 0 {
        add("peak_rate.bps", tbf.peak_rate.into(), tbf.peak_rate.saturating_mul(8));
    }
    // Without a peak rate the kernel only stores it; `tc` rounds it to another tick.
    let mtu_bytes = bytes(tbf.mtu_ticks.into(), tbf.rate);
    facts.push(Fact {
        slack: MTU_SLACK_TICKS,
        ..fact("tbf", "mtu", tbf.mtu_ticks.into(), Value::Whole(mtu_bytes.into()))
    });
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
