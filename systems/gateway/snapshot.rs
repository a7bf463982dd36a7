//! Snapshot of the gateway's world: its consistent state at the end of a tick.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use bevy_ecs::world::World;
use groundwave_engine::log::Parts;
use groundwave_engine::{Clock, Section};
use groundwave_simulation::{WorldView, section};
use serde::Serialize;

use crate::account::Accounts;
use crate::automation::AutomationView;
use crate::configuration::Configuration;
use crate::firewall::Firewall;
use crate::fleet::{Fleet, FleetEvents};
use crate::onboarding::Onboarding;
use crate::outage::Outages;
use crate::peripheral::Peripherals;
use crate::power::LatestUps;

/// State of the world at the end of a tick. A section is replaced only when it changed, so
/// equal pointers mean equal content.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Snapshot {
    /// The simulated mesh, to which a snapshot dereferences.
    #[serde(flatten)]
    pub view: WorldView,
    /// Accounts of the gateway.
    #[serde(serialize_with = "section", skip_serializing_if = "nobody")]
    pub accounts: Arc<Accounts>,
    /// Registrations, leases and the policy of admission.
    #[serde(serialize_with = "section", skip_serializing_if = "no_requests")]
    pub onboarding: Arc<Onboarding>,
    /// Nodes of the running mesh, by their heartbeats.
    #[serde(serialize_with = "section", skip_serializing_if = "no_fleet")]
    pub fleet: Arc<Fleet>,
    /// Rulesets of the firewall.
    #[serde(serialize_with = "section", skip_serializing_if = "no_firewall")]
    pub firewall: Arc<Firewall>,
    /// Power supplies.
    #[serde(serialize_with = "section", skip_serializing_if = "no_power")]
    pub power: Arc<LatestUps>,
    /// Configuration objects.
    #[serde(skip_serializing_if = "Configuration::is_empty")]
    pub config: Configuration,
    /// Scanned buses, and readings of the gateway's own machine.
    #[serde(serialize_with = "section", skip_serializing_if = "unobserved")]
    pub peripherals: Arc<Peripherals>,
    /// Executions, deliveries and alerts of automation flows.
    #[serde(serialize_with = "section", skip_serializing_if = "no_automation")]
    pub automation: Arc<AutomationView>,
    /// Outages: nodes that are offline, by the node through which they were reached.
    #[serde(serialize_with = "section", skip_serializing_if = "no_outages")]
    pub outages: Arc<Outages>,
    /// Recent events; not part of the digest.
    #[serde(skip)]
    pub events: Arc<FleetEvents>,
}

fn nobody(accounts: &Arc<Accounts>) -> bool {
    accounts.is_empty()
}

fn no_requests(onboarding: &Arc<Onboarding>) -> bool {
    onboarding.is_untouched()
}

fn no_firewall(firewall: &Arc<Firewall>) -> bool {
    firewall.is_untouched()
}

fn no_power(power: &Arc<LatestUps>) -> bool {
    power.is_empty()
}

fn no_fleet(fleet: &Arc<Fleet>) -> bool {
    fleet.is_empty()
}

fn unobserved(peripherals: &Arc<Peripherals>) -> bool {
    peripherals.is_empty()
}

fn no_outages(outages: &Arc<Outages>) -> bool {
    outages.is_empty()
}

fn no_automation(automation: &Arc<AutomationView>) -> bool {
    automation.is_empty()
}

impl Deref for Snapshot {
    type Target = WorldView;

    fn deref(&self) -> &WorldView {
        &self.view
    }
}

impl AsRef<WorldView> for Snapshot {
    fn as_ref(&self) -> &WorldView {
        &self.view
    }
}

impl groundwave_engine::Snapshot for Snapshot {
    fn gather(world: &World, clock: Clock) -> Self {
        Self {
            view: WorldView::gather(world, clock),
            accounts: world.resource::<Section<_>>().share(),
            onboarding: world.resource::<Section<_>>().share(),
            fleet: world.resource::<Section<_>>().share(),
            firewall: world.resource::<Section<_>>().share(),
            power: world.resource::<Section<_>>().share(),
            config: Configuration::gather(world),
            peripherals: world.resource::<Section<_>>().share(),
            automation: world.resource::<Section<_>>().share(),
            outages: world.resource::<Section<_>>().share(),
            events: world.resource::<Section<_>>().share(),
        }
    }

    fn parts(&self) -> Parts {
        self.view.parts()
    }

    fn files(world: &World) -> BTreeMap<String, String> {
        WorldView::files(world)
    }

    fn file_digest(world: &World, name: &str) -> Option<String> {
        WorldView::file_digest(world, name)
    }

    fn label(&self, part: &str, place: usize) -> Option<String> {
        self.view.label(part, place)
    }
}
