//! Positions of nodes as Cursor on Target (MITRE MTR080042, event schema 2.0), which maps of field teams such as ATAK
//! and WinTAK show: one event a datagram, to addresses that the gateway is configured with.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use groundwave_files::wall::{monotonic_ns, wall_ns};
use groundwave_gateway::Snapshot;
use groundwave_gateway::fleet::{FleetNode, LocationSource};
use groundwave_http::time::rfc3339;
use groundwave_protocol::NodeState;
use maud::html;
use tokio::net::UdpSocket;

use super::meshviewer::public_nodes;
use crate::nodes::view::position;
use crate::state::Gateway;

/// Time between two events of a node.
const PERIOD: Duration = Duration::from_secs(10);
/// Periods after which a receiver that gets no further event of a node takes its position for old.
const PERIODS_OF_VALIDITY: u32 = 3;
/// Value of the schema for a height above the ellipsoid or an error that is not known, m. Heights of nodes are above
/// mean sea level, and the gateway has no geoid.
const UNKNOWN_M: &str = "9999999.0";
/// Type of the event: friendly equipment on the ground, sensor.
const TYPE: &str = "a-f-G-E-S";

/// Reads a receiver of events: an address with a port other than 0.
///
/// # Errors
/// A text for the user, with what is allowed.
pub fn receiver(text: &str) -> Result<SocketAddr, String> {
    let address: Option<SocketAddr> = text.parse().ok();
    address.filter(|address| address.port() != 0 && !address.ip().is_unspecified()).ok_or_else(
        || {
            format!(
                "found {text:?}, allowed ADDRESS:PORT, such as 239.2.3.1:6969, where ATAK listens"
            )
        },
    )
}

/// The event of a node at `wall_ns`, ns since the Unix epoch; none without a position.
fn event(node: &FleetNode, wall_ns: u64) -> Option<String> {
    let place = position(node)?;
    let how = match place.source {
        LocationSource::Gps => "m-g",
        _ => "h-e",
    };
    let validity_ns = (PERIOD * PERIODS_OF_VALIDITY).as_nanos() as u64;
    let heartbeat = node.last_heartbeat.as_deref().map(|received| received.wall_ns);
    let is_online = node.liveness.state == NodeState::Online;
    let state = node.liveness.state.word();
    let remarks = match heartbeat {
        Some(at_ns) => format!("{state}; last heartbeat {}", rfc3339(at_ns)),
        None => format!("{state}; no heartbeat yet"),
    };
    let markup = html! {
        event version="2.0" uid={ "groundwave-" (node.id.uuid()) } type=(TYPE) how=(how) time=(rfc3339(wall_ns))
            start=(rfc3339(wall_ns)) stale=(rfc3339(wall_ns + validity_ns)) {
            point lat=(place.lat) lon=(place.lon) hae=(UNKNOWN_M) ce=(UNKNOWN_M) le=(UNKNOWN_M) {}
            detail {
                contact callsign=(node.record.name) {}
                status readiness=(is_online) {}
                remarks { (remarks) }
            }
        }
    };
    Some(format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{}", markup.into_string()))
}

/// Events of the nodes that are public, in order of their ids.
fn events(view: &Snapshot, wall_ns: u64) -> Vec<String> {
    public_nodes(view).into_values().filter_map(|node| event(node, wall_ns)).collect()
}

/// Sends all events to a receiver.
async fn send(events: &[String], receiver: SocketAddr) -> std::io::Result<()> {
    let any: IpAddr = match receiver {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0)).await?;
    for event in events {
        socket.send_to(event.as_bytes(), receiver).await?;
    }
    Ok(())
}

/// Sends the positions of nodes each [`PERIOD`], until the gateway stops.
pub async fn feed(gateway: Gateway) {
    let receivers = gateway.settings.cot_receivers.clone();
    if receivers.is_empty() {
        return;
    }
    let mut due = tokio::time::interval(PERIOD);
    due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            _ = due.tick() => {}
        }
        let began_ns = monotonic_ns();
        let events = events(&gateway.world.view(), wall_ns());
        let mut failed = false;
        for receiver in &receivers {
            if let Err(err) = send(&events, *receiver).await {
                tracing::debug!(%receiver, %err, "positions of nodes could not be sent");
                failed = true;
            }
        }
        gateway.background_tasks.record("cot", monotonic_ns() - began_ns, 0, failed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receivers_have_an_address_and_a_port() {
        assert!(receiver("239.2.3.1:6969").is_ok() && receiver("[ff02::1]:6969").is_ok());
        for text in ["239.2.3.1", "239.2.3.1:0", "0.0.0.0:6969", "tak.example:6969", ""] {
            let error = receiver(text).unwrap_err();
            assert!(error.contains("allowed ADDRESS:PORT"), "{text}: {error}");
        }
    }
}
