//! Decisions on many registrations at once.

use bevy_ecs::prelude::*;
use groundwave_engine::{Recorded, Refusal};
use serde::{Deserialize, Serialize};

pub use super::components::{RegistrationId, RegistrationState};
use super::decisions::ApproveRegistration;
use super::request::{decide, put};
use super::same_mac::SameMac;
use crate::fleet;
use crate::identity::find;
use groundwave_simulation::site::NodeId;

/// Registrations of one command at most.
pub const SELECTION_MAX: usize = 1_000;

/// States in which many registrations are decided on at once.
const UNDECIDED: [RegistrationState; 2] = [RegistrationState::Pending, RegistrationState::Expired];

fn check<T>(registrations: &[T]) -> Result<(), Refusal> {
    if registrations.len() > SELECTION_MAX {
        let allowed = format!("0 to {SELECTION_MAX} registrations");
        return Err(Refusal::invalid("registrations", registrations.len(), allowed));
    }
    Ok(())
}

/// Approves registrations, each as [`ApproveRegistration`] does: those that are refused stay as they are.
/// Those that are missing, or neither pending nor expired, have no result.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApproveRegistrations {
    /// Registrations, each with the id of its node, if it becomes a new one.
    pub registrations: Vec<(RegistrationId, NodeId)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_id: Option<String>,
    /// Deciding user.
    pub by: String,
}
impl Command for ApproveRegistrations {
    type Out = Result<Vec<(RegistrationId, Result<NodeId, Refusal>)>, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        check(&self.registrations)?;
        fleet::check_role(world, self.role_id.as_deref())?;
        let mut results = Vec::new();
        for (id, node) in self.registrations {
            let Ok((_, registration)) = find(world, id) else {
                continue;
            };
            if !UNDECIDED.contains(&registration.state) {
                continue;
            }
            let approval = ApproveRegistration {
                registration: id,
                node,
                same_mac: SameMac::SameNode,
                name: None,
                role_id: self.role_id.clone(),
                overlay_ip: None,
                by: self.by.clone(),
                revision: None,
            };
            results.push((id, approval.apply(world)));
        }
        Ok(results)
    }
}
impl Recorded for ApproveRegistrations {
    const NAME: &'static str = "onboarding.approve_many";
    type Reply = Vec<(RegistrationId, Result<NodeId, Refusal>)>;
}

/// Rejects registrations. Those that are missing, or neither pending nor expired, stay as they are.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RejectRegistrations {
    pub registrations: Vec<RegistrationId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `true` for registrations that can never be reset.
    #[serde(default)]
    pub block: bool,
    /// Deciding user.
    pub by: String,
}
impl Command for RejectRegistrations {
    type Out = Result<Vec<RegistrationId>, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        check(&self.registrations)?;
        let mut rejected = Vec::new();
        for id in self.registrations {
            let Ok((_, mut registration)) = find(world, id) else {
                continue;
            };
            if !UNDECIDED.contains(&registration.state) {
                continue;
            }
            registration.state = RegistrationState::Rejected;
            registration.blocked = self.block;
            registration.decision = Some(decide(world, &self.by, self.reason.clone()));
            fleet::rejected(world, id, &registration);
            put(world, id, registration);
            rejected.push(id);
        }
        Ok(rejected)
    }
}
impl Recorded for RejectRegistrations {
    const NAME: &'static str = "onboarding.reject_many";
    type Reply = Vec<RegistrationId>;
}

/// Deletes registrations; their keys may request again. Those that are missing, approved or belong to a
/// node stay.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForgetRegistrations {
    pub registrations: Vec<RegistrationId>,
}
impl Command for ForgetRegistrations {
    type Out = Result<Vec<RegistrationId>, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        check(&self.registrations)?;
        let mut deleted = Vec::new();
        for id in self.registrations {
            let Ok((entity, registration)) = find(world, id) else {
                continue;
            };
            if registration.state == RegistrationState::Approved || registration.node.is_some() {
                continue;
            }
            world.despawn(entity);
            deleted.push(id);
        }
        Ok(deleted)
    }
}
impl Recorded for ForgetRegistrations {
    const NAME: &'static str = "onboarding.forget";
    type Reply = Vec<RegistrationId>;
}
