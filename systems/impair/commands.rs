//! Commands on ports.

use bevy_ecs::prelude::*;
use groundwave_engine::{Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::observed::{Applied, Failure};
use super::ports::{Desired, Observed, Ports, provide};
use super::{Direction, Impairment};

/// Sets the desired impairment of a port. The reply is its generation; the port's view shows that
/// as `observed_generation` once the driver has reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetImpairment {
    /// Port.
    pub direction: Direction,
    /// Desired impairment; absent, the port is left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impairment: Option<Impairment>,
}
impl Command for SetImpairment {
    type Out = Result<u64, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        if let Some(impairment) = &self.impairment {
            impairment.validate()?;
        }
        let entity = provide(world, self.direction);
        let mut desired = world.get_mut::<Desired>(entity).expect("every port has a desired state");
        // An equal desired impairment counts as well: the kernel may have been changed meanwhile.
        desired.generation += 1;
        desired.impairment = self.impairment;
        Ok(desired.generation)
    }
}
impl Recorded for SetImpairment {
    const NAME: &'static str = "impairment.shape";
    type Reply = u64;
}

/// Reports the impairment in force, as read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObserveImpairment {
    /// Port.
    pub direction: Direction,
    /// The generation that was tried, or the last one that had been when the port was only read.
    pub generation: u64,
    /// Impairment in force; absent when it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
    /// Cause for which the desired impairment of this generation is not in force. A reading without
    /// an attempt leaves it absent, and does not clear the failure of an attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}
impl Command for ObserveImpairment {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let port = world.resource::<Ports>().entity(self.direction);
        let desired = port.and_then(|port| world.get::<Desired>(port));
        let desired = desired.map_or(0, |desired| desired.generation);
        let last = port.and_then(|port| world.get::<Observed>(port));
        let last = last.map_or(0, |observed| observed.generation);
        if !(last..=desired).contains(&self.generation) {
            let allowed = format!("{last} to {desired}");
            return Err(Refusal::invalid("generation", self.generation, allowed));
        }
        let entity = provide(world, self.direction);
        let mut observed =
            world.get_mut::<Observed>(entity).expect("every port has an observed state");
        if self.generation > last || self.failure.is_some() {
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
