//! What can be done to ports.

use bevy_ecs::prelude::*;
use groundwave_engine::{Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::observed::{Applied, Failure};
use super::ports::{Desired, Observed, Ports};
use super::{Direction, Impairment};

/// Says what a port should do to traffic. The reply is the generation of this wish; the port's
/// view shows it, once the outside has answered, as `observed_generation`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetImpairment {
    /// Which port.
    pub direction: Direction,
    /// What it should do; absent, it is to be left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impairment: Option<Impairment>,
}
impl Command for SetImpairment {
    type Out = Result<u64, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        if let Some(impairment) = &self.impairment {
            impairment.validate()?;
        }
        let entity = world.resource::<Ports>().entity(self.direction);
        let mut desired = world
            .get_mut::<Desired>(entity)
            .expect("every port has its wish");
        // Equal wishes count as well: somebody may have changed the kernel meanwhile.
        desired.generation += 1;
        desired.impairment = self.impairment;
        Ok(desired.generation)
    }
}
impl Recorded for SetImpairment {
    const NAME: &'static str = "impairment.shape";
    type Reply = u64;
}

/// Reports what the outside holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObserveImpairment {
    /// Which port.
    pub direction: Direction,
    /// The generation that was tried, or the last one that had been when the port was only read.
    pub generation: u64,
    /// What the port holds; absent when it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
    /// Why the wish of this generation is not in force. A reading alone says nothing here, and
    /// does not take back what an attempt said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}
impl Command for ObserveImpairment {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = world.resource::<Ports>().entity(self.direction);
        let port = world.entity(entity);
        let wished = port
            .get::<Desired>()
            .expect("every port has its wish")
            .generation;
        let seen = port
            .get::<Observed>()
            .expect("every port was seen")
            .generation;
        if !(seen..=wished).contains(&self.generation) {
            let allowed = format!("{seen} to {wished}");
            return Err(Refusal::invalid("generation", self.generation, allowed));
        }
        let mut observed = world
            .get_mut::<Observed>(entity)
            .expect("every port was seen");
        if self.generation > seen || self.failure.is_some() {
            observed.failure = self.failure;
        }
        observed.generation = self.generation;
        observed.applied = self.applied;
        Ok(())
    }
}
impl Recorded for ObserveImpairment {
    const NAME: &'static str = "impairment.observe";
    type Reply = ();
}
