//! Commands on the ruleset in force.

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::state::{self, Observed, Pending, Ruleset};
use crate::fleet;

/// Differences of an observation at most: those beyond are not kept.
const DIVERGENCE_MAX: usize = 64;

/// Makes a ruleset the desired one, until it is confirmed or reverted.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplyRuleset {
    pub ruleset: Ruleset,
    /// SHA-256 of the token that confirms it.
    pub token_sha256: [u8; 32],
    /// Deadline of the confirmation, ns since the Unix epoch.
    pub confirm_by_ns: u64,
}
impl Command for ApplyRuleset {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let mut firewall = state::get(world);
        if firewall.pending.is_some() {
            return Err(Refusal::conflict("another ruleset awaits confirmation"));
        }
        firewall.pending = Some(Pending {
            ruleset: self.ruleset,
            token_sha256: self.token_sha256,
            confirm_by_ns: self.confirm_by_ns,
        });
        state::put(world, firewall);
        Ok(())
    }
}
impl Recorded for ApplyRuleset {
    const NAME: &'static str = "firewall.apply";
    type Reply = ();
}

/// Confirms the ruleset that awaits confirmation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfirmRuleset {
    /// SHA-256 of the token.
    pub token_sha256: [u8; 32],
}
impl Command for ConfirmRuleset {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let mut firewall = state::get(world);
        let awaited = |pending: &mut Pending| pending.token_sha256 == self.token_sha256;
        match firewall.pending.take_if(awaited) {
            Some(pending) => {
                firewall.confirmed = Some(pending.ruleset);
                state::put(world, firewall);
                Ok(())
            }
            None if firewall.reverted == Some(self.token_sha256) => {
                Err(Refusal::outdated("the ruleset was reverted already"))
            }
            None => Err(Refusal::NotFound {
                kind: "ruleset that awaits confirmation",
                id: "of this token".to_owned(),
            }),
        }
    }
}
impl Recorded for ConfirmRuleset {
    const NAME: &'static str = "firewall.confirm";
    type Reply = ();
}

/// Makes the ruleset confirmed before the desired one again; `None` if none was.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevertRuleset {
    /// SHA-256 of the token of the ruleset to revert.
    pub token_sha256: [u8; 32],
    /// Reason: `not confirmed`, or the error of the kernel.
    pub reason: String,
}
impl Command for RevertRuleset {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let mut firewall = state::get(world);
        let awaited = |pending: &mut Pending| pending.token_sha256 == self.token_sha256;
        if firewall.pending.take_if(awaited).is_none() {
            return Err(Refusal::conflict("that ruleset awaits no confirmation"));
        }
        firewall.reverted = Some(self.token_sha256);
        state::put(world, firewall);
        fleet::alert(world, "firewall-reverted", &[("reason", self.reason)]);
        Ok(())
    }
}
impl Recorded for RevertRuleset {
    const NAME: &'static str = "firewall.revert";
    type Reply = ();
}

/// Records how the kernel differs from the desired ruleset.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObserveRuleset {
    /// Pointers to the differences; none if the desired ruleset is in force.
    pub divergence: Vec<String>,
}
impl Command for ObserveRuleset {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let mut firewall = state::get(world);
        let mut divergence = self.divergence;
        divergence.truncate(DIVERGENCE_MAX);
        let before = firewall.observed.as_ref();
        if before.is_some_and(|before| before.divergence == divergence) {
            return Ok(());
        }
        let first = divergence.first().cloned();
        let count = divergence.len();
        firewall.observed =
            Some(Observed { since_ns: world.resource::<Clock>().wall_ns, divergence });
        state::put(world, firewall);
        if let Some(first) = first {
            let data = [("first", first), ("count", count.to_string())];
            fleet::alert(world, "firewall-divergence", &data);
        }
        Ok(())
    }
}
impl Recorded for ObserveRuleset {
    const NAME: &'static str = "firewall.observe";
    type Reply = ();
}
