//! Commands on roll-outs.

use bevy_ecs::prelude::*;
use groundwave_engine::{Id, Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::advance::{Step, command_id};
use super::plan::{FirmwareImage, NodeProgress, Rollout, RolloutNode, RolloutState, check_node};
use crate::config;
use crate::fleet::withdraw_command;

/// Stops a roll-out; commands that nodes have not fetched are withdrawn.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CancelRollout {
    /// Roll-out.
    pub rollout: Id<Rollout>,
    /// Takes its nodes back to the image before.
    pub roll_back: bool,
}
impl Command for CancelRollout {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = world.resource::<Index<Rollout>>().get(self.rollout)?;
        let rollout = world.get::<Rollout>(entity).expect("a roll-out has one");
        if rollout.state != RolloutState::Running {
            return Err(Refusal::conflict("this roll-out is over or rolling back"));
        }
        if self.roll_back && rollout.rollback_image.is_none() {
            return Err(Refusal::conflict("there is no image to roll back to"));
        }
        if !self.roll_back {
            let nodes: Vec<_> = rollout.nodes.iter().map(|one| one.node).collect();
            let retries = rollout.retries;
            for node in nodes {
                let id = command_id(self.rollout, retries, node, Step::Install);
                withdraw_command(world, node, id);
            }
        }
        let mut rollout = world.get_mut::<Rollout>(entity).expect("a roll-out has one");
        rollout.state = match self.roll_back {
            true => RolloutState::RollingBack,
            false => RolloutState::Cancelled,
        };
        Ok(())
    }
}
impl Recorded for CancelRollout {
    const NAME: &'static str = "rollout.cancel";
    type Reply = ();
}

/// Begins a roll-out that is over again, with the nodes that do not run its image; those that cannot
/// install it any more stay as they are.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryRollout {
    /// Roll-out.
    pub rollout: Id<Rollout>,
    /// Account that retries it.
    pub by: String,
}
impl Command for RetryRollout {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = world.resource::<Index<Rollout>>().get(self.rollout)?;
        let mut rollout = world.get::<Rollout>(entity).expect("a roll-out has one").clone();
        if rollout.state.is_open() {
            return Err(Refusal::conflict("this roll-out goes on"));
        }
        let image: Option<FirmwareImage> = config::find(world, rollout.image).cloned();
        let lacks = |what: &str| Refusal::conflict(format!("its {what} was removed"));
        let image = image.ok_or_else(|| lacks("firmware image"))?;
        if rollout.rollback_image.is_some_and(|id| config::find(world, id).is_none()) {
            return Err(lacks("image to roll back to"));
        }
        rollout.check_alone(self.rollout, world)?;
        let mut count = 0;
        for (at, one) in rollout.nodes.iter_mut().enumerate() {
            let is_missing = one.progress != NodeProgress::Healthy;
            if is_missing && check_node(world, &image, at, one.node).is_ok() {
                *one = RolloutNode::new(one.node, one.before.take());
                count += 1;
            }
        }
        if count == 0 {
            return Err(Refusal::conflict("no node of this roll-out can be retried"));
        }
        // Nodes that run the image are in the first stages already.
        rollout.nodes.sort_by_key(|one| one.progress != NodeProgress::Healthy);
        rollout.stage = 0;
        rollout.retries += 1;
        rollout.has_reasons = true;
        rollout.state = RolloutState::Running;
        rollout.by = self.by;
        world.entity_mut(entity).insert(rollout);
        Ok(())
    }
}
impl Recorded for RetryRollout {
    const NAME: &'static str = "rollout.retry";
    type Reply = ();
}
