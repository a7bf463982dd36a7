//! Values of link directions as read from their queueing disciplines.

use groundwave_impair::QueueLimit;
use groundwave_kernel::Qdisc;
use groundwave_kernel::netem::{Netem, fraction};
use groundwave_simulation::testbed::Reading;

use super::veth_qdiscs::{QdiscLayout, ROOT_QDISC, VethQdiscs};

/// Values of a direction whose disciplines are at `layout` among all disciplines of its interface; `None` where
/// one cannot be decoded.
#[must_use]
pub fn reading(qdiscs: &[Qdisc], layout: &QdiscLayout) -> Option<Reading> {
    let own = VethQdiscs::read(qdiscs, layout).ok()?;
    let places = [ROOT_QDISC, layout.broadcast, layout.unicast, layout.shaper, layout.queue];
    let of_direction =
        qdiscs.iter().filter(|qdisc| layout.exclusive || places.contains(&qdisc.handle));
    let share = |prob: u32| fraction(prob, 1.0);
    let ns = |ns: i64| u64::try_from(ns).unwrap_or_default();
    let states = |netem: &Netem| netem.gemodel.map(|[p, r, ..]| [share(p), share(r)]);
    let single = |netem: &Netem| netem.gemodel.is_none().then(|| share(netem.loss.prob));
    Some(Reading {
        loss_prob: own.unicast.as_ref().and_then(single),
        loss_state_probs: own.unicast.as_ref().and_then(states),
        broadcast_loss_prob: own.broadcast.as_ref().and_then(single),
        rate_bps: own.shaper.map(|shaper| shaper.rate.saturating_mul(8)),
        delay_ns: own.unicast.map(|netem| ns(netem.latency_ns)),
        jitter_ns: own.unicast.map(|netem| ns(netem.jitter_ns)),
        queue: own.queue.map(|queue| QueueLimit { unit: queue.unit, value: queue.limit }),
        disciplines: of_direction.map(|qdisc| format!("{} {}", qdisc.kind, qdisc.handle)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use groundwave_impair::QueueUnit;
    use groundwave_kernel::Handle;
    use groundwave_simulation::testbed::{Means, Shape};

    use super::*;

    #[test]
    fn a_reading_has_what_the_kernel_holds_and_nothing_else() {
        let shape = Shape {
            loss_prob: 0.015,
            broadcast_loss_prob: 0.2,
            rate_bps: 8_000_000,
            delay_ns: 2_000_000,
            ..Shape { up: true, ..Shape::DOWN }
        };
        let goal = VethQdiscs::of(&shape, Means::Full);
        let layout = QdiscLayout::VETH;
        let steps = VethQdiscs::default().steps(&goal, &layout, 7, shape.burst_bytes());
        let qdiscs: Vec<Qdisc> = steps
            .into_iter()
            .map(|step| Qdisc {
                kind: step.kind.to_owned(),
                handle: step.handle,
                parent: step.parent,
                options: step.options.unwrap_or_default(),
                ..Qdisc::default()
            })
            .collect();
        let limit = goal.queue.unwrap().limit;
        let all = Reading {
            loss_prob: Some(0.015),
            loss_state_probs: None,
            broadcast_loss_prob: Some(0.2),
            rate_bps: Some(8_000_000),
            delay_ns: Some(2_000_000),
            jitter_ns: Some(0),
            queue: Some(QueueLimit { unit: QueueUnit::Bytes, value: limit }),
            disciplines: ["prio 1:", "netem 11:", "netem 12:", "tbf 22:", "bfifo 32:"]
                .map(str::to_owned)
                .into(),
        };
        assert_eq!(reading(&qdiscs, &layout), Some(all.clone()));
        // Without the shaper there is no rate, whatever is desired.
        let bare: Vec<Qdisc> = qdiscs[..3].to_vec();
        let rest = Reading {
            rate_bps: None,
            queue: None,
            disciplines: all.disciplines[..3].to_vec(),
            ..all
        };
        assert_eq!(reading(&bare, &layout), Some(rest));
        let foreign = Qdisc {
            kind: "fq".to_owned(),
            handle: Handle::new(7, 0),
            parent: Handle::ROOT,
            ..Qdisc::default()
        };
        let of_others = Reading { disciplines: vec!["fq 7:".to_owned()], ..Reading::default() };
        assert_eq!(reading(&[foreign], &layout), Some(of_others));
        let two_states = Shape { loss_burst_packets: Some(4.0), loss_prob: 0.2, ..shape };
        let netem = VethQdiscs::of(&two_states, Means::Full).unicast.unwrap();
        let line = Qdisc {
            kind: "netem".to_owned(),
            handle: layout.unicast,
            options: netem.payload(None),
            ..Qdisc::default()
        };
        let in_runs = reading(&[line], &layout).unwrap();
        assert_eq!((in_runs.loss_prob, in_runs.loss_state_probs), (None, Some([0.0625, 0.25])));
    }
}
