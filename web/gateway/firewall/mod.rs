//! Firewall endpoints: zones, rules, the ruleset in force.

pub mod rules;
pub mod ruleset;
pub mod zones;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;

use crate::access::{Access, rule_of};
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default().with(operations!(
        rule_of;
        zones::zones,
        zones::zone_create,
        zones::zone_fetch,
        zones::zone_replace,
        zones::zone_remove,
        rules::rules,
        rules::rule_create,
        rules::rule_fetch,
        rules::rule_replace,
        rules::rule_remove,
        ruleset::firewall_apply,
        ruleset::firewall_confirm,
        ruleset::firewall_ruleset,
    ))
}
