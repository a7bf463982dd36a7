//! Steps of roll-outs: what their nodes report, and the clock, decide.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Id, Index};
use groundwave_protocol::NodeState;
use groundwave_simulation::site::{NodeId, NodeKind};
use uuid::Uuid;

use super::plan::{FIRMWARE, FirmwareImage, NodeProgress, Rollout, RolloutNode, RolloutState};
use crate::fleet::{
    CommandState, EnqueueCommand, LivenessState, NodeCommands, NodeRecord, alert, withdraw_command,
};

/// Step of a node that a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Install,
    Revert,
}

/// Id of the command for a step of a node: the same in every replay, another in each retry.
pub(super) fn command_id(rollout: Id<Rollout>, retries: u32, node: NodeId, step: Step) -> Uuid {
    let step = match step {
        Step::Install => "install",
        Step::Revert => "revert",
    };
    let retry = match retries {
        0 => String::new(),
        number => format!("/{number}"),
    };
    Id::<Rollout>::named(&format!("{rollout}/{node}/{step}{retry}")).uuid()
}

/// Action that follows from a step.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Action {
    Command(NodeId, Step),
    Withdraw(NodeId),
    Alert(&'static str),
}

/// State of a node for a roll-out.
#[derive(Debug, Default)]
struct Seen {
    version: Option<String>,
    is_online: bool,
    install: Option<CommandState>,
    revert: Option<CommandState>,
    output: Option<String>,
}

/// A roll-out with the versions of its images and the states of its nodes.
struct Advance<'a> {
    version: &'a str,
    before: Option<&'a str>,
    now_ns: u64,
    states: &'a BTreeMap<NodeId, Seen>,
    /// Nodes may begin to install.
    may_begin: bool,
    actions: Vec<Action>,
}

fn failed(reason: impl Into<String>) -> NodeProgress {
    NodeProgress::Failed { reason: reason.into() }
}

fn stuck(reason: impl Into<String>) -> NodeProgress {
    NodeProgress::Stuck { reason: reason.into() }
}

const fn seconds(count: u32) -> u64 {
    count as u64 * 1_000_000_000
}

impl Advance<'_> {
    /// Takes the steps that are due.
    fn run(&mut self, rollout: &mut Rollout) {
        match rollout.state {
            RolloutState::Running => self.forward(rollout),
            RolloutState::RollingBack => self.back(rollout),
            _ => {}
        }
    }

    fn forward(&mut self, rollout: &mut Rollout) {
        let begun = rollout.begun();
        let (within_s, healthy_s) = (rollout.install_within_s, rollout.healthy_s);
        self.may_begin = rollout.is_in_window(self.now_ns);
        let has_reasons = rollout.has_reasons;
        for one in &mut rollout.nodes[..begun] {
            one.progress = self.installed(one, seconds(within_s), seconds(healthy_s));
            if let (true, NodeProgress::Failed { reason }) = (has_reasons, &one.progress) {
                one.failure = Some(reason.clone());
            }
        }
        let failed = rollout.failed();
        if failed * 100 > usize::from(rollout.failures_max_percent) * begun {
            self.stop(rollout);
            return;
        }
        let is_over = |one: &RolloutNode| {
            matches!(one.progress, NodeProgress::Healthy | NodeProgress::Failed { .. })
        };
        if !rollout.nodes[..begun].iter().all(is_over) {
            return;
        }
        if rollout.stage as usize + 1 < rollout.stages.len() {
            rollout.stage += 1;
        } else {
            rollout.state = RolloutState::Done;
            self.actions.push(Action::Alert("rollout-done"));
        }
    }

    /// Too many failures: back, if there is a way back.
    fn stop(&mut self, rollout: &mut Rollout) {
        if self.before.is_some() {
            rollout.state = RolloutState::RollingBack;
            self.actions.push(Action::Alert("rollout-rolling-back"));
            self.back(rollout);
            return;
        }
        let waiting = rollout.nodes.iter().map(|one| Action::Withdraw(one.node));
        self.actions.extend(waiting);
        rollout.state = RolloutState::Stopped;
        self.actions.push(Action::Alert("rollout-stopped"));
    }

    /// Progress of a node of a begun stage.
    fn installed(&mut self, one: &RolloutNode, within_ns: u64, healthy_s: u64) -> NodeProgress {
        let now_ns = self.now_ns;
        let Some(state) = self.states.get(&one.node) else {
            return match &one.progress {
                NodeProgress::Failed { .. } => one.progress.clone(),
                _ => failed("left the fleet"),
            };
        };
        let has = state.version.as_deref() == Some(self.version);
        let is_late = |since_ns: u64| now_ns.saturating_sub(since_ns) > within_ns;
        let watched = |since_ns: u64, healthy_ns: u64| {
            let healthy_ns = match (state.is_online, healthy_ns) {
                (false, _) => 0,
                (true, 0) => now_ns,
                // A clock that was set back leaves times that are to come.
                (true, since_ns) => since_ns.min(now_ns),
            };
            match healthy_ns {
                0 if is_late(since_ns) => failed("not online with the version in time"),
                _ if healthy_ns > 0 && now_ns - healthy_ns >= healthy_s => NodeProgress::Healthy,
                _ => NodeProgress::Watched { since_ns: since_ns.min(now_ns), healthy_ns },
            }
        };
        match &one.progress {
            NodeProgress::Waiting if has => watched(now_ns, 0),
            NodeProgress::Waiting if !self.may_begin => NodeProgress::Waiting,
            NodeProgress::Waiting => {
                self.actions.push(Action::Command(one.node, Step::Install));
                NodeProgress::Installing { since_ns: now_ns }
            }
            NodeProgress::Installing { since_ns } if has => watched(*since_ns, 0),
            NodeProgress::Installing { since_ns } => match state.install {
                Some(CommandState::Failed) => failed(state.output.clone().unwrap_or_default()),
                Some(CommandState::Expired) => {
                    failed("the command was not fetched or finished in time")
                }
                None => failed("the command was refused"),
                Some(_) if is_late(*since_ns) => failed("the version was not reported in time"),
                Some(_) => NodeProgress::Installing { since_ns: (*since_ns).min(now_ns) },
            },
            NodeProgress::Watched { .. } | NodeProgress::Healthy if !has => failed(format!(
                "reports version {} again",
                state.version.as_deref().unwrap_or("none")
            )),
            NodeProgress::Watched { since_ns, healthy_ns } => watched(*since_ns, *healthy_ns),
            other => other.clone(),
        }
    }

    fn back(&mut self, rollout: &mut Rollout) {
        for one in &mut rollout.nodes {
            one.progress = self.reverted(one);
        }
        let goes_on = |one: &RolloutNode| matches!(one.progress, NodeProgress::Reverting { .. });
        if !rollout.nodes.iter().any(goes_on) {
            rollout.state = RolloutState::RolledBack;
            self.actions.push(Action::Alert("rollout-rolled-back"));
        }
    }

    /// Progress of a node that is taken back.
    fn reverted(&mut self, one: &RolloutNode) -> NodeProgress {
        let before = self.before.unwrap_or_default();
        let Some(state) = self.states.get(&one.node) else {
            return match one.progress {
                NodeProgress::Waiting => NodeProgress::Waiting,
                _ => stuck("left the fleet"),
            };
        };
        let is_back = state.version.as_deref() == Some(before);
        match &one.progress {
            NodeProgress::Waiting | NodeProgress::Reverted | NodeProgress::Stuck { .. } => {
                one.progress.clone()
            }
            NodeProgress::Reverting { .. } => match state.revert {
                Some(CommandState::Queued | CommandState::Sent) => one.progress.clone(),
                // Installed; the machine may still have to restart.
                Some(CommandState::Done) if !(is_back && state.is_online) => {
                    self.unless_late(one, "the version before was not reported in time")
                }
                _ if is_back => NodeProgress::Reverted,
                Some(CommandState::Failed) => stuck(state.output.clone().unwrap_or_default()),
                Some(_) => stuck("the command was not fetched or finished in time"),
                None => stuck("the command was refused"),
            },
            _ if state.install == Some(CommandState::Queued) => {
                self.actions.push(Action::Withdraw(one.node));
                NodeProgress::Waiting
            }
            // An installation that goes on may end after this moment.
            _ if is_back && state.install != Some(CommandState::Sent) => NodeProgress::Reverted,
            _ => {
                self.actions.push(Action::Command(one.node, Step::Revert));
                NodeProgress::Reverting { since_ns: self.now_ns }
            }
        }
    }

    fn unless_late(&self, one: &RolloutNode, reason: &str) -> NodeProgress {
        match one.progress {
            NodeProgress::Reverting { since_ns }
                if self.now_ns.saturating_sub(since_ns) > LATE_NS =>
            {
                stuck(reason)
            }
            NodeProgress::Reverting { since_ns } => {
                NodeProgress::Reverting { since_ns: since_ns.min(self.now_ns) }
            }
            _ => one.progress.clone(),
        }
    }
}

/// Time for a node to report the version before, ns: an hour.
const LATE_NS: u64 = 3_600 * 1_000_000_000;

type Parts = (&'static NodeRecord, &'static LivenessState, &'static NodeCommands);

fn look(
    (id, retries): (Id<Rollout>, u32),
    node: NodeId,
    parts: (&NodeRecord, &LivenessState, &NodeCommands),
    now_ns: u64,
) -> Seen {
    let (record, liveness, commands) = parts;
    let find = |step: Step| {
        let id = command_id(id, retries, node, step);
        commands.0.iter().find(|command| command.id == id)
    };
    let (install, revert) = (find(Step::Install), find(Step::Revert));
    Seen {
        version: record.0.firmware.get(FIRMWARE).cloned(),
        is_online: liveness.0.state == NodeState::Online,
        install: install.map(|command| command.state_at(now_ns)),
        revert: revert.map(|command| command.state_at(now_ns)),
        output: revert.or(install).and_then(|command| command.output.clone()),
    }
}

/// Advances roll-outs that go on.
pub(super) fn advance_rollouts(
    clock: Res<Clock>,
    mut rollouts: Query<(&Id<Rollout>, &mut Rollout)>,
    images: (Res<Index<FirmwareImage>>, Query<&FirmwareImage>),
    nodes: (Res<Index<NodeKind>>, Query<Parts>),
    mut commands: Commands,
) {
    let now_ns = clock.wall_ns;
    let mut open: Vec<_> =
        rollouts.iter_mut().filter(|(_, rollout)| rollout.state.is_open()).collect();
    open.sort_by_key(|(id, _)| **id);
    for (id, mut rollout) in open {
        let image = |id: Id<FirmwareImage>| {
            images.0.get(id).ok().and_then(|entity| images.1.get(entity).ok())
        };
        let Some(own) = image(rollout.image) else {
            continue;
        };
        let before = rollout.rollback_image.and_then(image);
        let states = rollout.nodes.iter().filter_map(|one| {
            let parts = nodes.1.get(nodes.0.get(one.node).ok()?).ok()?;
            Some((one.node, look((*id, rollout.retries), one.node, parts, now_ns)))
        });
        let states: BTreeMap<_, _> = states.collect();
        let mut advance = Advance {
            version: &own.version,
            before: before.map(|image| image.version.as_str()),
            now_ns,
            states: &states,
            may_begin: false,
            actions: Vec::new(),
        };
        let mut after = rollout.clone();
        advance.run(&mut after);
        for action in advance.actions {
            act(&mut commands, *id, &after, (own, before), action);
        }
        rollout.set_if_neq(after);
    }
}

fn act(
    commands: &mut Commands,
    id: Id<Rollout>,
    rollout: &Rollout,
    (own, before): (&FirmwareImage, Option<&FirmwareImage>),
    action: Action,
) {
    match action {
        Action::Command(node, step) => {
            let (image_id, image) = match (step, rollout.rollback_image, before) {
                (Step::Revert, Some(id), Some(image)) => (id, image),
                _ => (rollout.image, own),
            };
            let args = [
                ("image_id", image_id.to_string()),
                ("version", image.version.clone()),
                ("sha256", image.sha256.clone()),
                ("size_bytes", image.size_bytes.to_string()),
            ];
            let command = EnqueueCommand {
                node,
                id: command_id(id, rollout.retries, node, step),
                kind: FIRMWARE.to_owned(),
                args: args.map(|(key, value)| (key.to_owned(), value)).into(),
                expires_s: rollout.install_within_s,
                by: rollout.by.clone(),
            };
            commands.queue(move |world: &mut World| {
                // A refused command is missing, which fails the node.
                let _ = command.apply(world);
            });
        }
        Action::Withdraw(node) => {
            let command = command_id(id, rollout.retries, node, Step::Install);
            commands.queue(move |world: &mut World| {
                withdraw_command(world, node, command);
            });
        }
        Action::Alert(about) => {
            let data = [
                ("rollout_id", id.to_string()),
                ("version", own.version.clone()),
                ("failed", rollout.failed().to_string()),
            ];
            commands.queue(move |world: &mut World| alert(world, about, &data));
        }
    }
}
