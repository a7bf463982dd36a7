//! Liveness of a node: a state machine driven by heartbeats and by the gateway clock.

use std::collections::VecDeque;

use bevy_ecs::prelude::Resource;
use groundwave_protocol::NodeState;
use serde::{Deserialize, Serialize};

/// Timing of liveness. Written by `fleet.begin`.
#[derive(Resource, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LivenessRules {
    /// Heartbeat period, ns.
    pub period_ns: u64,
    /// Gateway clock at its start, ns.
    pub begun_ns: u64,
}

impl Default for LivenessRules {
    fn default() -> Self {
        Self { period_ns: 5_000_000_000, begun_ns: 0 }
    }
}

/// Silence until a node is stale, periods.
const STALE_PERIODS: u64 = 3;
/// Silence until a node is offline, periods; counted from the restart after a restart of the gateway.
pub(crate) const OFFLINE_PERIODS: u64 = 12;
/// Silence until a node without any heartbeat is offline, periods: five minutes at 5 s.
const JOINING_PERIODS: u64 = 60;
/// Consecutive heartbeats until a node that was stale or offline is online: a single one may come
/// over a link about to fail.
const HEARTBEATS_TO_RETURN: u32 = 2;
/// State changes kept for each node.
const CHANGES_KEPT: usize = 64;
/// Gaps between heartbeats kept for each node.
const GAPS_KEPT: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateChange {
    /// Time of the change, ns since the Unix epoch.
    pub at_ns: u64,
    /// State before.
    pub from: NodeState,
    /// State after.
    pub to: NodeState,
    /// Cause, for display.
    pub reason: String,
}

/// Liveness of a node.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Liveness {
    pub state: NodeState,
    /// Gateway clock at the last heartbeat, or at the start of the first period, ns.
    pub since_ns: u64,
    /// Consecutive heartbeats since the last absence.
    #[serde(rename = "beats")]
    pub consecutive_heartbeats: u32,
    /// Heartbeats missed in total.
    #[serde(rename = "missed")]
    pub missed_heartbeats: u64,
    /// Heartbeats missed in the current silence, included in the total.
    #[serde(rename = "missing")]
    pub missed_in_silence: u64,
    /// Last state changes, oldest first.
    pub changes: VecDeque<StateChange>,
    /// Last gaps between heartbeats, ms, oldest first.
    pub gaps_ms: VecDeque<u32>,
}

impl Liveness {
    /// Liveness of a node whose first period starts at `now_ns`.
    #[must_use]
    pub fn new(now_ns: u64) -> Self {
        Self { since_ns: now_ns, ..Self::default() }
    }

    fn transition(&mut self, to: NodeState, wall_ns: u64, reason: &str) -> Option<StateChange> {
        if self.state == to {
            return None;
        }
        let change =
            StateChange { at_ns: wall_ns, from: self.state, to, reason: reason.to_owned() };
        self.state = to;
        if self.changes.len() == CHANGES_KEPT {
            self.changes.pop_front();
        }
        self.changes.push_back(change.clone());
        Some(change)
    }

    /// Records a heartbeat received at gateway time `now_ns`.
    pub fn record_heartbeat(&mut self, now_ns: u64, wall_ns: u64) -> Option<StateChange> {
        let first = self.state == NodeState::Joining;
        if !first {
            let gap_ms = now_ns.saturating_sub(self.since_ns) / 1_000_000;
            if self.gaps_ms.len() == GAPS_KEPT {
                self.gaps_ms.pop_front();
            }
            self.gaps_ms.push_back(u32::try_from(gap_ms).unwrap_or(u32::MAX));
        }
        self.since_ns = now_ns;
        self.missed_in_silence = 0;
        self.consecutive_heartbeats = self.consecutive_heartbeats.saturating_add(1);
        match self.state {
            NodeState::Joining => self.transition(NodeState::Online, wall_ns, "first heartbeat"),
            NodeState::Online => None,
            NodeState::Stale | NodeState::Offline
                if self.consecutive_heartbeats >= HEARTBEATS_TO_RETURN =>
            {
                self.transition(NodeState::Online, wall_ns, "heard again")
            }
            NodeState::Stale => None,
            NodeState::Offline => self.transition(NodeState::Stale, wall_ns, "heard once"),
        }
    }

    /// Applies the silence up to gateway time `now_ns`.
    pub fn expire(
        &mut self,
        rules: LivenessRules,
        now_ns: u64,
        wall_ns: u64,
    ) -> Option<StateChange> {
        let silence = now_ns.saturating_sub(self.since_ns);
        let periods = silence / rules.period_ns.max(1);
        if self.state == NodeState::Joining {
            let late = silence > JOINING_PERIODS * rules.period_ns;
            return late
                .then(|| self.transition(NodeState::Offline, wall_ns, "never heard"))
                .flatten();
        }
        if self.state != NodeState::Offline {
            let missing = periods.saturating_sub(1);
            self.missed_heartbeats += missing.saturating_sub(self.missed_in_silence);
            self.missed_in_silence = missing.max(self.missed_in_silence);
        }
        let to = if silence > OFFLINE_PERIODS * rules.period_ns {
            NodeState::Offline
        } else if silence > STALE_PERIODS * rules.period_ns {
            NodeState::Stale
        } else {
            return None;
        };
        if to > self.state {
            self.consecutive_heartbeats = 0;
            let reason = format!("not heard for {} s", silence / 1_000_000_000);
            return self.transition(to, wall_ns, &reason);
        }
        None
    }

    /// Restarts at `now_ns` of a new gateway clock; silence before is not counted.
    pub fn restart(&mut self, now_ns: u64, wall_ns: u64) -> Option<StateChange> {
        self.since_ns = now_ns;
        self.consecutive_heartbeats = 0;
        self.missed_in_silence = 0;
        match self.state {
            NodeState::Online => {
                self.transition(NodeState::Stale, wall_ns, "the gateway restarted")
            }
            _ => None,
        }
    }

    /// First gateway time at which [`Self::expire`] changes something; `None` for a node that is
    /// offline already.
    #[must_use]
    pub fn next_deadline_ns(&self, rules: LivenessRules) -> Option<u64> {
        let after = |periods: u64| periods.saturating_mul(rules.period_ns);
        let transition_ns = |periods| self.since_ns.saturating_add(after(periods) + 1);
        let missed_ns =
            self.since_ns.saturating_add(after(self.missed_in_silence.saturating_add(2)));
        match self.state {
            NodeState::Joining => Some(transition_ns(JOINING_PERIODS)),
            NodeState::Online => Some(transition_ns(STALE_PERIODS).min(missed_ns)),
            NodeState::Stale => Some(transition_ns(OFFLINE_PERIODS).min(missed_ns)),
            NodeState::Offline => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use NodeState::{Joining, Offline, Online, Stale};

    const S: u64 = 1_000_000_000;

    fn rules() -> LivenessRules {
        LivenessRules::default()
    }

    #[test]
    fn a_silent_node_is_online_again_with_its_second_heartbeat() {
        let mut node = Liveness::new(0);
        assert_eq!(node.state, Joining);
        assert_eq!(node.record_heartbeat(S, 1).unwrap().to, Online);
        assert!(node.expire(rules(), 16 * S, 2).is_none());
        assert_eq!(node.expire(rules(), 16 * S + 1, 2).unwrap().to, Stale);
        assert!(node.expire(rules(), 61 * S, 3).is_none());
        let transition = node.expire(rules(), 61 * S + 1, 3).unwrap();
        assert_eq!((transition.to, transition.reason.as_str()), (Offline, "not heard for 60 s"));
        assert_eq!(node.record_heartbeat(100 * S, 4).unwrap().to, Stale);
        assert_eq!(node.record_heartbeat(105 * S, 5).unwrap().to, Online);
        assert_eq!(node.changes.len(), 5);
    }

    #[test]
    fn a_single_heartbeat_now_and_then_is_not_online() {
        let mut node = Liveness::new(0);
        node.record_heartbeat(0, 0);
        for turn in 1..5 {
            node.expire(rules(), turn * 70 * S - S, 0);
            assert_eq!(node.state, Offline);
            node.record_heartbeat(turn * 70 * S, 0);
            assert_eq!(node.state, Stale);
        }
    }

    #[test]
    fn after_a_restart_silence_counts_from_the_restart() {
        let mut node = Liveness::new(0);
        node.record_heartbeat(1_000 * S, 0);
        assert_eq!(node.restart(0, 9).unwrap().to, Stale);
        assert!(node.expire(rules(), 60 * S, 9).is_none());
        assert_eq!(node.expire(rules(), 60 * S + 1, 9).unwrap().to, Offline);
        let mut quick = Liveness::new(0);
        quick.record_heartbeat(1_000 * S, 0);
        quick.restart(0, 9);
        quick.record_heartbeat(3 * S, 9);
        assert_eq!(quick.record_heartbeat(8 * S, 9).unwrap().to, Online);
    }

    #[test]
    fn a_node_without_heartbeat_is_offline_after_five_minutes() {
        let mut node = Liveness::new(10 * S);
        assert!(node.expire(rules(), 310 * S, 0).is_none());
        assert_eq!(node.expire(rules(), 310 * S + 1, 0).unwrap().reason, "never heard");
    }

    #[test]
    fn missed_heartbeats_are_counted_once() {
        let mut node = Liveness::new(0);
        node.record_heartbeat(0, 0);
        for second in 0..=31 {
            node.expire(rules(), second * S, 0);
        }
        assert_eq!(node.missed_heartbeats, 5);
        node.record_heartbeat(32 * S, 0);
        node.expire(rules(), 33 * S, 0);
        assert_eq!(node.missed_heartbeats, 5);
    }

    #[test]
    fn the_deadline_is_the_first_moment_of_a_change() {
        let rules = LivenessRules { period_ns: 100, begun_ns: 0 };
        let mut node = Liveness::new(7);
        for heartbeat in [false, true, false] {
            if heartbeat {
                node.record_heartbeat(9_000, 0);
            }
            while let Some(deadline_ns) = node.next_deadline_ns(rules) {
                let mut before = node.clone();
                before.expire(rules, deadline_ns - 1, 0);
                assert_eq!(before, node);
                node.expire(rules, deadline_ns, 0);
                assert_ne!(before, node);
            }
            assert_eq!(node.state, Offline);
        }
    }
}
