//! The scheduler: hands tasks to executors that ask for them.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::utils::default_session_builder;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use tokio::net::TcpListener;

use super::function::function;
use super::job::MESSAGE_MAX_BYTES;

/// Time without a request of an executor after which its tasks go to others, s. Executors ask at least
/// every 5 s.
pub const EXECUTOR_TIMEOUT_S: u64 = 20;

/// Seconds between two looks for executors that do not ask any more.
const EXPIRE_INTERVAL_S: u64 = 3;

/// True for an address that only this machine or a private network reaches: RFC 1918, RFC 4193,
/// RFC 6598 and link-local addresses. The ports of a cluster have no authentication.
#[must_use]
pub fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [first, second, ..] = v4.octets();
            let is_shared = first == 100 && second & 0xc0 == 64;
            v4.is_loopback() || v4.is_private() || v4.is_link_local() || is_shared
        }
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}

fn session(config: SessionConfig) -> datafusion::common::Result<SessionState> {
    let mut state = default_session_builder(config)?;
    state.register_udf(function(None))?;
    Ok(state)
}

/// Serves at `address` until the process ends; `ready` hears the address once it listens.
///
/// # Errors
/// When the address cannot be had.
pub async fn serve(
    address: SocketAddr,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), BallistaError> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let config = SchedulerConfig {
        bind_host: address.ip().to_string(),
        bind_port: address.port(),
        external_host: address.ip().to_string(),
        // Executors ask: one that joins late takes work at once, and after a restart of the scheduler
        // all go on.
        scheduling_policy: TaskSchedulingPolicy::PullStaged,
        executor_timeout_seconds: EXECUTOR_TIMEOUT_S,
        expire_dead_executor_interval_seconds: EXPIRE_INTERVAL_S,
        // A driver asks again for what is missing; it should hear soon that nobody works.
        no_executors_grace_period_seconds: EXECUTOR_TIMEOUT_S,
        enable_embedded_flight_proxy: true,
        grpc_server_max_decoding_message_size: MESSAGE_MAX_BYTES,
        grpc_server_max_encoding_message_size: MESSAGE_MAX_BYTES,
        grpc_client_max_message_size: MESSAGE_MAX_BYTES,
        override_session_builder: Some(Arc::new(session)),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    let scheduler =
        create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(config)).await?;
    ready(address);
    start_grpc_service_with_listener(listener, scheduler).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_private_networks_are_told_from_public_ones() {
        let is_private = |text: &str| is_private(text.parse().unwrap());
        for text in [
            "127.0.0.1",
            "::1",
            "10.1.2.3",
            "172.31.0.1",
            "192.168.0.1",
            "100.64.0.1",
            "fd00::1",
            "fe80::1",
        ] {
            assert!(is_private(text), "{text}");
        }
        for text in ["0.0.0.0", "::", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2001:db8::1"] {
            assert!(!is_private(text), "{text}");
        }
    }
}
