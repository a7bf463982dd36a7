//! Trust endpoints: enrolment policy, trust secret, trusted MAC addresses.

pub mod enrolment;
pub mod join_keys;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;

use crate::access::{Access, rule_of};
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default().with(operations!(
        rule_of;
        enrolment::trust,
        enrolment::trust_policy_put,
        enrolment::trust_secret,
        enrolment::trust_secret_rotate,
        enrolment::trust_macs,
        enrolment::trust_mac_add,
        enrolment::trust_mac_fetch,
        enrolment::trust_mac_delete,
        enrolment::trust_macs_import,
        join_keys::join_keys,
        join_keys::join_key_create,
        join_keys::join_key_remove,
    ))
}
