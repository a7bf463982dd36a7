//! Power endpoints: samples of power supplies, latest and past.

pub mod samples;
pub mod ups;

use groundwave_gateway::power::UpsStatus;
use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;

use crate::access::{Access, rule_of};
use crate::services::limits::BATCH_BYTES_MAX;
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default()
        .schema::<UpsStatus>()
        .with(operations!(rule_of; samples::ups_samples_post).body_limit(BATCH_BYTES_MAX))
        .with(operations!(
            rule_of;
            ups::ups_list,
            ups::ups_fetch,
            ups::ups_samples,
            ups::ups_delete,
        ))
}
