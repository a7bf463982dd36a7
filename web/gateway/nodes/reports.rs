//! Node report endpoints.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::State;
use groundwave_http::page::{Page, Paging};
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query};
use groundwave_protocol::{Interface, NodeState, RadioReport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Viewer;
use crate::services::world::World;
use crate::settings::Settings;

/// Radios of a node.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Radios {
    /// Radios as last reported.
    pub radios: Vec<RadioReport>,
}

/// List radios of a node
#[utoipa::path(get, path = "/v1/nodes/{node_id}/radio", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id")),
    responses((status = 200, description = "As last reported"),
        (status = 404, description = "No such node")))]
pub async fn node_radio(
    _: Viewer,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<Json<Radios>, Problem> {
    let node = world.node(id)?;
    let received = node.last_heartbeat.as_deref();
    let radios = received.map_or_else(Vec::new, |received| received.heartbeat.radios.clone());
    Ok(Json(Radios { radios }))
}

/// Heartbeat jitter, ms.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Jitter {
    /// 50th percentile.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
}

/// Health of a node.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodeHealth {
    /// Liveness state.
    pub state: NodeState,
    /// 0 to 100.
    pub score: u8,
    /// Reasons of the score.
    pub reasons: Vec<String>,
    /// Heartbeats that did not come, in all.
    pub missed_heartbeats: u64,
    /// Jitter of the last 32 heartbeats; absent before the second.
    pub heartbeat_jitter_ms: Option<Jitter>,
    /// Clock offset to the gateway, ms; positive ahead.
    pub clock_offset_ms: Option<i64>,
}

/// A clock further off than this makes logs of two machines hard to read together, ms.
const CLOCK_OFF_MS: i64 = 2_000;

/// Get the health of a node
#[utoipa::path(get, path = "/v1/nodes/{node_id}/health", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id")),
    responses((status = 200, description = "Health and its reasons"),
        (status = 404, description = "No such node")))]
pub async fn node_health(
    _: Viewer,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    Path(id): Path<Uuid>,
) -> Result<Json<NodeHealth>, Problem> {
    let node = world.node(id)?;
    let liveness = &node.liveness;
    let received = node.last_heartbeat.as_deref();
    let period_ms = settings.heartbeat.as_secs_f64() * 1e3;
    let mut off: Vec<f64> =
        liveness.gaps_ms.iter().map(|gap_ms| (f64::from(*gap_ms) - period_ms).abs()).collect();
    off.sort_by(f64::total_cmp);
    let quantile = |share: f64| off[((off.len() - 1) as f64 * share).round() as usize];
    let heartbeat_jitter_ms =
        (!off.is_empty()).then(|| Jitter { p50: quantile(0.5), p99: quantile(0.99) });
    let clock_offset_ms = received.and_then(|received| received.clock_offset_ms);
    let mut score: i32 = 100;
    let mut reasons = Vec::new();
    let mut mark = |down: i32, reason: String| {
        score -= down;
        reasons.push(reason);
    };
    match liveness.state {
        NodeState::Online => {}
        NodeState::Joining => mark(50, "no heartbeat yet".to_owned()),
        NodeState::Stale => mark(40, "its heartbeat is overdue".to_owned()),
        NodeState::Offline => mark(100, "its heartbeats have stopped".to_owned()),
    }
    if let Some(jitter) = heartbeat_jitter_ms.as_ref().filter(|jitter| jitter.p50 > 0.3 * period_ms)
    {
        mark(15, format!("its heartbeats are {:.0} ms off", jitter.p50));
    }
    if let Some(offset_ms) = clock_offset_ms.filter(|offset_ms| offset_ms.abs() > CLOCK_OFF_MS) {
        mark(10, format!("its clock is {offset_ms} ms off"));
    }
    let clone = received.and_then(|received| received.node_clone.as_ref());
    if let Some(clone) = clone.filter(|clone| clone.is_running()) {
        mark(50, clone.reason());
    }
    let alone = received.is_some_and(|received| received.heartbeat.mesh.neighbor_count == 0);
    if alone {
        mark(20, "it has no neighbour".to_owned());
    }
    Ok(Json(NodeHealth {
        state: liveness.state,
        score: score.clamp(0, 100) as u8,
        reasons,
        missed_heartbeats: liveness.missed_heartbeats,
        heartbeat_jitter_ms,
        clock_offset_ms,
    }))
}

/// Interfaces.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct InterfaceList(pub Vec<Interface>);

/// List interfaces of a node
#[utoipa::path(get, path = "/v1/nodes/{node_id}/interfaces", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id")),
    responses((status = 200, description = "As last reported"),
        (status = 404, description = "No such node")))]
pub async fn node_interfaces(
    _: Viewer,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<Json<InterfaceList>, Problem> {
    let node = world.node(id)?;
    let received = node.last_heartbeat.as_deref();
    let interfaces =
        received.map_or_else(Vec::new, |received| received.heartbeat.interfaces.clone());
    Ok(Json(InterfaceList(interfaces)))
}

/// Kind of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndpointKind {
    /// Through the tunnel.
    Overlay,
    /// Through the mesh.
    Underlay,
}

/// A way to a node.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Endpoint {
    /// Kind.
    pub kind: EndpointKind,
    /// Address.
    pub url: String,
    /// Over which of its ways out.
    pub transport: Option<String>,
    /// Round trip as the node measured it, ms.
    pub rtt_ms: Option<f64>,
    /// Liveness state.
    pub reachable: bool,
}

/// URL of an address; one of IPv6 is in brackets (RFC 3986).
fn address_url(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => format!("ip://{ip}"),
        IpAddr::V6(ip) => format!("ip://[{ip}]"),
    }
}

/// List endpoints of a node
#[utoipa::path(get, path = "/v1/nodes/{node_id}/endpoints", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id")),
    responses((status = 200, description = "URL"),
        (status = 404, description = "No such node")))]
pub async fn node_endpoints(
    _: Viewer,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<Json<Vec<Endpoint>>, Problem> {
    let node = world.node(id)?;
    let reachable = node.liveness.state == NodeState::Online;
    let mut endpoints = Vec::new();
    if let Some(ip) = node.record.overlay_ip {
        endpoints.push(Endpoint {
            kind: EndpointKind::Overlay,
            url: format!("ip://{ip}"),
            transport: Some("wireguard".to_owned()),
            rtt_ms: None,
            reachable,
        });
    }
    if let Some(received) = node.last_heartbeat.as_deref() {
        let mut addresses = Vec::new();
        for way in received.heartbeat.transports.iter().filter(|way| way.up) {
            let Some(ip) = way.ip else { continue };
            addresses.push(ip);
            endpoints.push(Endpoint {
                kind: EndpointKind::Underlay,
                url: address_url(ip),
                transport: Some(way.name.clone()),
                rtt_ms: way.rtt_ms,
                reachable,
            });
        }
        if let Some(ip) = received.heartbeat.underlay_ip.filter(|ip| !addresses.contains(ip)) {
            endpoints.push(Endpoint {
                kind: EndpointKind::Underlay,
                url: address_url(ip),
                transport: None,
                rtt_ms: None,
                reachable,
            });
        }
    }
    Ok(Json(endpoints))
}

/// A change of a node's state.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodeEvent {
    /// Time, RFC 3339.
    pub ts: String,
    /// From.
    pub from: NodeState,
    /// To.
    pub to: NodeState,
    /// Why.
    pub reason: String,
}

/// List state changes of a node
#[utoipa::path(get, path = "/v1/nodes/{node_id}/events", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id"), Paging),
    responses((status = 200, description = "Last 64 state changes, oldest first"),
        (status = 404, description = "No such node")))]
pub async fn node_events(
    _: Viewer,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<NodeEvent>>, Problem> {
    let node = world.node(id)?;
    let all = node
        .liveness
        .changes
        .iter()
        .enumerate()
        .map(|(place, change)| (format!("{:020}-{place:02}", change.at_ns), change));
    let show = |change: &groundwave_gateway::fleet::StateChange| NodeEvent {
        ts: rfc3339(change.at_ns),
        from: change.from,
        to: change.to,
        reason: change.reason.clone(),
    };
    Ok(Json(paging.of(all, show)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_ipv6_is_in_brackets() {
        for (ip, url) in [("::1", "ip://[::1]"), ("10.41.0.7", "ip://10.41.0.7")] {
            assert_eq!(address_url(ip.parse().unwrap()), url);
        }
    }
}
