//! Commands on roll-outs.

use bevy_ecs::prelude::*;
use groundwave_engine::{Id, Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::advance::{Step, command_id};
use super::plan::{Rollout, RolloutState};
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
            for node in nodes {
                let id = command_id(self.rollout, node, Step::Install);
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
