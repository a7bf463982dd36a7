//! Whether a node still speaks: one small machine, fed with beats and with time.

use std::collections::VecDeque;

use bevy_ecs::prelude::Resource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a node is seen.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NodeState {
    /// Registered, or let in, and never heard.
    #[default]
    Joining,
    /// Heard within three periods.
    Online,
    /// Not heard for three periods, or heard once after it was away.
    Stale,
    /// Not heard for twelve periods.
    Offline,
}

impl NodeState {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Joining => "joining",
            Self::Online => "online",
            Self::Stale => "stale",
            Self::Offline => "offline",
        }
    }
}

/// What silence means. Set by `fleet.begin`.
#[derive(Resource, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LivenessRules {
    /// Time between two beats, ns.
    pub period_ns: u64,
    /// The gateway's clock when it began, ns.
    pub begun_ns: u64,
}

impl Default for LivenessRules {
    fn default() -> Self {
        Self {
            period_ns: 5_000_000_000,
            begun_ns: 0,
        }
    }
}

/// Periods of silence until a node is stale.
const STALE_PERIODS: u64 = 3;
/// Periods of silence until it is offline. As many again has it after a restart of the gateway.
const OFFLINE_PERIODS: u64 = 12;
/// Periods until one that never spoke is offline: five minutes of the usual ones.
const JOINING_PERIODS: u64 = 60;
/// Beats until one that was away is online: one may be the last gasp of a bad link.
const HEARTBEATS_TO_RETURN: u32 = 2;
/// Changes remembered of each node.
const CHANGES_KEPT: usize = 64;
/// Gaps between beats remembered of each node.
const GAPS_KEPT: usize = 32;

/// A change of state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateChange {
    /// When, ns since the Unix epoch.
    pub at_ns: u64,
    /// From.
    pub from: NodeState,
    /// To.
    pub to: NodeState,
    /// Why.
    pub reason: String,
}

/// What is known of a node's speaking.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Liveness {
    /// How it is seen.
    pub state: NodeState,
    /// The gateway's clock when it was last heard, or when its time to speak began, ns.
    pub since_ns: u64,
    /// Beats in a row since it was away.
    #[serde(rename = "beats")]
    pub consecutive_heartbeats: u32,
    /// Beats that did not come, in all.
    #[serde(rename = "missed")]
    pub missed_heartbeats: u64,
    /// What was missed of the silence under way, already counted in `missed`.
    #[serde(rename = "missing")]
    missed_in_silence: u64,
    /// Its last changes, oldest first.
    pub changes: VecDeque<StateChange>,
    /// Its last gaps between beats, ms, oldest first.
    pub gaps_ms: VecDeque<u32>,
}

impl Liveness {
    /// Of a node that may speak from `now_ns` on.
    #[must_use]
    pub fn new(now_ns: u64) -> Self {
        Self {
            since_ns: now_ns,
            ..Self::default()
        }
    }

    fn transition(&mut self, to: NodeState, wall_ns: u64, reason: &str) -> Option<StateChange> {
        if self.state == to {
            return None;
        }
        let change = StateChange {
            at_ns: wall_ns,
            from: self.state,
            to,
            reason: reason.to_owned(),
        };
        self.state = to;
        if self.changes.len() == CHANGES_KEPT {
            self.changes.pop_front();
        }
        self.changes.push_back(change.clone());
        Some(change)
    }

    /// It was heard at `now_ns` of the gateway's clock.
    pub fn record_heartbeat(&mut self, now_ns: u64, wall_ns: u64) -> Option<StateChange> {
        let first = self.state == NodeState::Joining;
        if !first {
            let gap_ms = now_ns.saturating_sub(self.since_ns) / 1_000_000;
            if self.gaps_ms.len() == GAPS_KEPT {
                self.gaps_ms.pop_front();
            }
            self.gaps_ms
                .push_back(u32::try_from(gap_ms).unwrap_or(u32::MAX));
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

    /// It is `now_ns` by the gateway's clock.
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

    /// The gateway began anew at `now_ns` of a new clock: nobody is to blame for what it did not
    /// hear.
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

    /// Whether [`Self::expire`] would change something now.
    #[must_use]
    pub fn is_due(&self, rules: LivenessRules, now_ns: u64) -> bool {
        let periods = now_ns.saturating_sub(self.since_ns) / rules.period_ns.max(1);
        let speaks = matches!(self.state, NodeState::Online | NodeState::Stale);
        now_ns > self.due_ns(rules) || speaks && periods.saturating_sub(1) > self.missed_in_silence
    }

    /// When something changes by itself next, by the gateway's clock, ns.
    #[must_use]
    pub fn due_ns(&self, rules: LivenessRules) -> u64 {
        let periods = match self.state {
            NodeState::Joining => JOINING_PERIODS,
            NodeState::Online => STALE_PERIODS,
            NodeState::Stale => OFFLINE_PERIODS,
            NodeState::Offline => return u64::MAX,
        };
        self.since_ns.saturating_add(periods * rules.period_ns)
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
    fn a_node_falls_silent_and_returns_with_its_second_beat() {
        let mut node = Liveness::new(0);
        assert_eq!(node.state, Joining);
        assert_eq!(node.record_heartbeat(S, 1).unwrap().to, Online);
        assert!(node.expire(rules(), 16 * S, 2).is_none());
        assert_eq!(node.expire(rules(), 16 * S + 1, 2).unwrap().to, Stale);
        assert!(node.expire(rules(), 61 * S, 3).is_none());
        let gone = node.expire(rules(), 61 * S + 1, 3).unwrap();
        assert_eq!(
            (gone.to, gone.reason.as_str()),
            (Offline, "not heard for 60 s")
        );
        assert_eq!(node.record_heartbeat(100 * S, 4).unwrap().to, Stale);
        assert_eq!(node.record_heartbeat(105 * S, 5).unwrap().to, Online);
        assert_eq!(node.changes.len(), 5);
    }

    #[test]
    fn a_single_beat_now_and_then_is_not_online() {
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
    fn a_restart_makes_nobody_offline_before_its_time() {
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
    fn one_that_never_spoke_is_given_five_minutes() {
        let mut node = Liveness::new(10 * S);
        assert!(node.expire(rules(), 310 * S, 0).is_none());
        assert_eq!(
            node.expire(rules(), 310 * S + 1, 0).unwrap().reason,
            "never heard"
        );
    }

    #[test]
    fn missed_beats_are_counted_once() {
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
    fn what_is_due_is_when_it_turns() {
        let mut node = Liveness::new(0);
        for _ in 0..3 {
            let due_ns = node.due_ns(rules());
            assert!(
                node.expire(rules(), due_ns, 0).is_none(),
                "{:?}",
                node.state
            );
            if node.expire(rules(), due_ns + 1, 0).is_none() {
                assert_eq!(due_ns, u64::MAX);
            }
            node.record_heartbeat(due_ns.min(1 << 50), 0);
        }
    }
}
