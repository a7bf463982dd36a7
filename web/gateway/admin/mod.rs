//! Administration endpoints: registrations, users, audit log, backup.

pub mod audit;
pub mod backup;
pub mod registrations;
pub mod registrations_bulk;
mod selection;
pub mod users;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;
use groundwave_protocol::RegistrationState;

use crate::access::{Access, rule_of};
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default().schema::<RegistrationState>().with(operations!(
        rule_of;
        registrations::registrations,
        registrations::registration_fetch,
        registrations::registration_approve,
        registrations::registration_reject,
        registrations::registration_revoke,
        registrations::registration_reset,
        registrations_bulk::registrations_approve,
        registrations_bulk::registrations_reject,
        registrations_bulk::registrations_delete,
        registrations_bulk::registration_delete,
        users::users,
        users::user_create,
        users::user_patch,
        users::user_delete,
        users::user_revoke_tokens,
        audit::audit,
        backup::backup,
    ))
}
