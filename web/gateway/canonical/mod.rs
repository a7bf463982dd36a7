//! Canonical model endpoints: networks, underlay domains, node roles, interfaces.

pub mod domains;
pub mod interfaces;
pub mod networks;
pub mod roles;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;

use crate::access::{Access, rule_of};
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default().with(operations!(
        rule_of;
        networks::networks,
        networks::network_create,
        networks::network_fetch,
        networks::network_replace,
        networks::network_remove,
        domains::domains,
        domains::domain_create,
        domains::domain_fetch,
        domains::domain_replace,
        domains::domain_remove,
        roles::roles,
        roles::role_create,
        roles::role_replace,
        roles::role_remove,
        interfaces::interfaces,
        interfaces::interface_put,
    ))
}
