//! Impairment endpoints: directions of the daemon, passed on to its socket, its leases, and playback of timelines.

pub mod leases;
pub mod playback;
pub mod ports;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;
use groundwave_impaird::wire::DirectionName;

use crate::access::{Access, rule_of};
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default()
        .schema::<DirectionName>()
        .with(operations!(
            rule_of;
            ports::impairment_system,
            ports::impairment_fetch,
            ports::impairment_replace,
            ports::impairment_clear,
            ports::impairment_stats,
            ports::impairment_baseline,
            leases::impairment_leases,
            leases::impairment_lease_begin,
            leases::impairment_lease_cancel,
            playback::playback_show,
            playback::playback_stop,
        ))
        .with(
            operations!(rule_of; playback::playback_start).body_limit(playback::TIMELINE_BYTES_MAX),
        )
}
