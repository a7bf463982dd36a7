//! Changes of links for event streams. They have no ids, and only streams that name them get them: a large
//! mesh has many.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use axum::response::sse::Event;
use groundwave_files::wall::{monotonic_ns, wall_ns};
use groundwave_gateway::Snapshot;
use groundwave_gateway::fleet::EdgeStatus;
use groundwave_http::time::rfc3339;
use groundwave_simulation::site::NodeId;
use serde_json::{Value, json};

/// Type of the events.
pub(super) const TOPOLOGY: &str = "topology";
/// Time between two looks at the links.
pub(super) const LOOK: Duration = Duration::from_secs(1);

type Links = BTreeMap<(NodeId, NodeId), EdgeStatus>;

/// Links that a node reports, with their statuses.
fn measured(view: &Snapshot) -> Links {
    let edges = view.fleet.edges().filter(|edge| edge.at_a.is_some() || edge.at_b.is_some());
    edges.map(|edge| ((edge.a, edge.b), edge.status)).collect()
}

/// Links as a stream has shown them, and changes that it has not.
pub(super) struct LinkChanges {
    shown: Links,
    looked_ns: u64,
    waiting: VecDeque<Value>,
}

impl LinkChanges {
    /// Changes from now on.
    pub fn since(view: &Snapshot) -> Self {
        Self { shown: measured(view), looked_ns: monotonic_ns(), waiting: VecDeque::new() }
    }

    /// The next change.
    pub fn next(&mut self, view: &Snapshot) -> Option<Event> {
        let now_ns = monotonic_ns();
        let is_due = u128::from(now_ns.saturating_sub(self.looked_ns)) >= LOOK.as_nanos();
        if self.waiting.is_empty() && is_due {
            self.looked_ns = now_ns;
            self.compare(measured(view), &rfc3339(wall_ns()));
        }
        let change = self.waiting.pop_front()?;
        Some(Event::default().event(TOPOLOGY).data(change.to_string()))
    }

    /// Notes the changes to `present`. A link that is not reported any more is down.
    fn compare(&mut self, present: Links, ts: &str) {
        let before = std::mem::replace(&mut self.shown, present);
        let mut note = |(a, b): (NodeId, NodeId), from: Option<EdgeStatus>, to: EdgeStatus| {
            let change = json!({ "node_id": a, "peer_id": b, "from": from, "to": to, "ts": ts });
            self.waiting.push_back(change);
        };
        for (ends, status) in &self.shown {
            let earlier = before.get(ends).copied();
            if earlier != Some(*status) {
                note(*ends, earlier, *status);
            }
        }
        for (ends, status) in before {
            if !self.shown.contains_key(&ends) && status != EdgeStatus::Down {
                note(ends, Some(status), EdgeStatus::Down);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_come_change_and_go_are_changes() {
        use EdgeStatus::{Down, Stale, Up};
        let ends = |b: u128| (NodeId::from_u128(1), NodeId::from_u128(b));
        let mut changes = LinkChanges {
            shown: [(ends(2), Up), (ends(3), Up), (ends(4), Down)].into(),
            looked_ns: 0,
            waiting: VecDeque::new(),
        };
        changes.compare([(ends(2), Stale), (ends(5), Up)].into(), "now");
        let of = |change: &Value| (change["from"].clone(), change["to"].clone());
        let pairs: Vec<_> = changes.waiting.iter().map(of).collect();
        let expected = [
            (json!("up"), json!("stale")),
            (Value::Null, json!("up")),
            (json!("up"), json!("down")),
        ];
        assert_eq!(pairs, expected);
        assert_eq!(changes.waiting[2]["peer_id"], json!(NodeId::from_u128(3)));
        changes.waiting.clear();
        changes.compare([(ends(2), Stale), (ends(5), Up)].into(), "now");
        assert!(changes.waiting.is_empty());
    }
}
