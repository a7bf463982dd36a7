//! Extremes of flows over a run: what the state at its end does not show.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundwave_gateway::Snapshot;
use groundwave_simulation::flow::{FlowId, FlowView};
use groundwave_text::bits_per_second;

/// Extremes of a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Extreme {
    /// Lowest rate of its route's bottleneck, bit/s, while it had a route.
    lowest_bps: f64,
    /// Time of that rate, ns.
    lowest_at_ns: u64,
    /// Time without a route, ns.
    unrouted_ns: u64,
}

/// Extremes of all flows of a run.
#[derive(Debug, Default)]
pub struct Extremes {
    by_flow: BTreeMap<FlowId, Extreme>,
    flows: Arc<Vec<FlowView>>,
    at_ns: u64,
}

impl Extremes {
    /// Notes the flows at the end of a tick.
    pub fn note(&mut self, snapshot: &Snapshot) {
        let step_ns = snapshot.now_ns.saturating_sub(self.at_ns);
        self.at_ns = snapshot.now_ns;
        for flow in self.flows.iter().filter(|flow| flow.route.is_none()) {
            if let Some(extreme) = self.by_flow.get_mut(&flow.id) {
                extreme.unrouted_ns += step_ns;
            }
        }
        if Arc::ptr_eq(&self.flows, &snapshot.flows) {
            return;
        }
        self.flows = Arc::clone(&snapshot.flows);
        for flow in self.flows.iter() {
            let extreme = self.by_flow.entry(flow.id).or_insert(Extreme {
                lowest_bps: f64::INFINITY,
                lowest_at_ns: snapshot.now_ns,
                unrouted_ns: 0,
            });
            let rate_bps = flow.route.as_ref().and_then(|route| route.bottleneck_rate_bps);
            if let Some(rate_bps) = rate_bps.filter(|rate_bps| *rate_bps < extreme.lowest_bps) {
                extreme.lowest_bps = rate_bps;
                extreme.lowest_at_ns = snapshot.now_ns;
            }
        }
    }

    /// Lines for the flows that were worse during the run than they are at its end.
    pub fn lines(&self) -> Vec<String> {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let line = |flow: &FlowView| {
            let extreme = self.by_flow.get(&flow.id)?;
            let route = flow.route.as_ref();
            let end_bps = route.and_then(|route| route.bottleneck_rate_bps);
            let mut parts = Vec::new();
            if end_bps.is_some_and(|end_bps| extreme.lowest_bps < end_bps) {
                let (rate, at_s) =
                    (bits_per_second(extreme.lowest_bps), seconds(extreme.lowest_at_ns));
                parts.push(format!("lowest bottleneck {rate} at {at_s} s"));
            }
            if extreme.unrouted_ns > 0 {
                parts.push(format!("{} s without a route", seconds(extreme.unrouted_ns)));
            }
            let has_parts = !parts.is_empty();
            has_parts.then(|| format!("{}: {}", flow.name, parts.join(", ")))
        };
        self.flows.iter().filter_map(line).collect()
    }
}
