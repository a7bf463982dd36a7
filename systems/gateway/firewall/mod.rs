//! Firewall of the gateway: zones and rules as configured, and the ruleset that is in force.
//!
//! Zones and rules are configuration objects: a change of them is staged. [`ApplyRuleset`] records
//! the desired ruleset that was compiled from them, before the kernel gets it; unless it is
//! confirmed in time, the one confirmed before is desired again. [`ObserveRuleset`] records what was
//! read back.

mod commands;
mod rule;
mod state;
#[cfg(test)]
mod tests;
mod zone;

use groundwave_engine::{Builder, ComponentDocument, Phase};

pub use commands::{ApplyRuleset, ConfirmRuleset, ObserveRuleset, RevertRuleset};
pub use groundwave_values::PortRange;
pub use rule::{Chain, FirewallRule, Protocol};
pub use state::{Firewall, FirewallId, FirewallKind, Observed, Pending, Ruleset};
pub use zone::{Verdict, Zone};

/// Rulesets of the firewall; zones and rules are registered with the configuration.
pub fn firewall(engine: &mut Builder) {
    engine
        .kind::<FirewallKind>()
        .section::<Firewall>()
        .command::<ApplyRuleset>()
        .command::<ConfirmRuleset>()
        .command::<RevertRuleset>()
        .command::<ObserveRuleset>()
        .document::<ComponentDocument<Firewall>>()
        .systems(Phase::Publish, state::publish_firewall);
}
