//! Probes: whether a node answers, and how fast.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_io::gateway::random;
use groundwave_io::readings::ReadingError;
use groundwave_io::readings::echo::{Echoes, Pinger};
use groundwave_systems::fleet::FleetNode;
use groundwave_systems::onboarding::Mac;
use groundwave_systems::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::gateway::access::{Operator, Viewer};
use crate::gateway::services::kernel::unread;
use crate::gateway::state::Gateway;
use crate::gateway::state::missing;
use crate::http::json_body::StrictJson;
use crate::http::problem::{FieldCode, ProblemKind};
use crate::http::time::rfc3339;
use crate::http::{Json, Path, Problem, id};

/// Probes remembered; the oldest is forgotten first.
const REMEMBERED: usize = 256;
/// Probes at the same time.
const RUNNING: usize = 8;

/// What is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbeKind {
    /// Whether echo requests are answered.
    Ping,
    /// The way there; not offered.
    Traceroute,
    /// How much gets there; not offered.
    Throughput,
}

/// Which of a node's addresses is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// That in the tunnel.
    Overlay,
    /// That in the mesh.
    Underlay,
}

/// A probe wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProbe {
    /// The node: its id or its hardware address.
    #[schemars(length(min = 1, max = 64))]
    pub target: String,
    /// What to probe: `ping`.
    pub kind: ProbeKind,
    /// For how long, s; 3 if absent.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10))]
    pub duration_s: Option<u32>,
    /// Which of its addresses; if absent that in the mesh, or where it has none that in the tunnel.
    #[serde(default)]
    pub via: Option<Via>,
}

/// How far a probe is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbeState {
    /// It has not begun.
    Queued,
    /// It runs.
    Running,
    /// It is over.
    Done,
    /// It could not be made.
    Failed,
}

/// Times there and back, ms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundTrips {
    /// The shortest.
    pub min: f64,
    /// The mean.
    pub avg: f64,
    /// The longest.
    pub max: f64,
}

/// A probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Its id.
    pub probe_id: Uuid,
    /// The node.
    pub node_id: Uuid,
    /// The address.
    pub address: Ipv4Addr,
    /// What is probed.
    pub kind: ProbeKind,
    /// How far it is.
    pub state: ProbeState,
    /// When it was asked for, RFC 3339.
    pub created_at: String,
    /// Requests sent.
    pub sent: u32,
    /// Requests answered.
    pub received: u32,
    /// Times there and back, of those answered.
    pub rtt_ms: Option<RoundTrips>,
    /// Share of requests that were not answered, %.
    pub loss_pct: Option<f64>,
    /// Why it could not be made.
    pub error: Option<String>,
}

/// Which probe it is.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProbeId {
    /// Its id.
    pub probe_id: Uuid,
}

/// Probes of late, by id, which are in the order of time.
#[derive(Debug, Default)]
pub struct Probes(Mutex<BTreeMap<Uuid, Probe>>);

impl Probes {
    fn add(&self, probe: Probe) -> Result<(), Problem> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at_work =
            |probe: &&Probe| matches!(probe.state, ProbeState::Queued | ProbeState::Running);
        if held.values().filter(at_work).count() >= RUNNING {
            let detail = format!("{RUNNING} probes run already");
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, detail);
            return Err(problem.of_kind(ProblemKind::RateLimited).retry_after(5));
        }
        held.insert(probe.probe_id, probe);
        while held.len() > REMEMBERED {
            held.pop_first();
        }
        Ok(())
    }

    fn change(&self, id: Uuid, change: impl FnOnce(&mut Probe)) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(probe) = held.get_mut(&id) {
            change(probe);
        }
    }
}

impl Probe {
    fn finish(&mut self, found: Result<Echoes, ReadingError>) {
        let found = match found {
            Ok(found) => found,
            Err(err) => {
                self.state = ProbeState::Failed;
                self.error = Some(err.to_string());
                return;
            }
        };
        self.state = ProbeState::Done;
        self.sent = found.sent;
        self.received = u32::try_from(found.rtts_ms.len()).unwrap_or(u32::MAX);
        let lost = found.sent.saturating_sub(self.received);
        self.loss_pct = (found.sent > 0).then(|| f64::from(lost) / f64::from(found.sent) * 100.0);
        let all = &found.rtts_ms;
        let sum: f64 = all.iter().sum();
        self.rtt_ms = (!all.is_empty()).then(|| RoundTrips {
            min: all.iter().copied().fold(f64::INFINITY, f64::min),
            avg: sum / all.len() as f64,
            max: all.iter().copied().fold(0.0, f64::max),
        });
    }
}

/// The node that a target names.
fn node_of(gateway: &Gateway, target: &str) -> Result<NodeId, Problem> {
    if let Ok(mac) = target.parse::<Mac>() {
        let found = gateway.world.view().fleet.with_mac(mac);
        return found.ok_or_else(|| missing("node", mac));
    }
    let id: Uuid = target.parse().map_err(|_| {
        let message = "it is neither a node's id nor a hardware address";
        Problem::field("/target", FieldCode::NotAllowed, message)
    })?;
    Ok(gateway.node(id)?.id)
}

/// The address to probe. What a node says of itself is only believed within the underlay: nobody
/// makes the gateway send packets anywhere else.
fn address_of(gateway: &Gateway, node: &FleetNode, via: Option<Via>) -> Result<Ipv4Addr, Problem> {
    let received = node.last_heartbeat.as_deref();
    let claimed = received.and_then(|received| received.heartbeat.underlay_ip);
    let underlay = match claimed {
        Some(IpAddr::V4(ip)) if gateway.settings.underlay.holds(ip) => Some(ip),
        _ => None,
    };
    let overlay = node.record.overlay_ip;
    let found = match via {
        Some(Via::Overlay) => overlay,
        Some(Via::Underlay) => underlay,
        None => underlay.or(overlay),
    };
    found.ok_or_else(|| {
        let message = "the node has no such address yet";
        Problem::field("/target", FieldCode::NoAddress, message)
    })
}

/// Probe a node
#[utoipa::path(post, path = "/v1/mesh/probes", tag = "mesh",
    responses((status = 202, description = "It begins; ask for it by its id"),
        (status = 404, description = "No such node"),
        (status = 429, description = "So many run already")))]
pub async fn probe_create(
    _: Operator,
    State(gateway): State<Gateway>,
    StrictJson(new): StrictJson<NewProbe>,
) -> Result<(StatusCode, Json<ProbeId>), Problem> {
    if new.kind != ProbeKind::Ping {
        let message = "only `ping` is offered: ways are at /v1/mesh/batman/originators, \
                       throughputs at /v1/mesh/batman/neighbors and /v1/mesh/plinks";
        return Err(Problem::field("/kind", FieldCode::NotOffered, message));
    }
    let duration_s = new.duration_s.unwrap_or(3);
    if !(1..=10).contains(&duration_s) {
        let message = format!("{duration_s} is not allowed; allowed: 1 to 10");
        return Err(Problem::field(
            "/duration_s",
            FieldCode::NotAllowed,
            message,
        ));
    }
    let node = gateway.node(node_of(&gateway, &new.target)?.uuid())?;
    let address = address_of(&gateway, &node, new.via)?;
    let mark = random().map_err(|err| Problem::internal(err.to_string()))?;
    let pinger = Pinger::open(address, mark).map_err(unread)?;
    let probe_id = id::mint();
    gateway.probes.add(Probe {
        probe_id,
        node_id: node.id.uuid(),
        address,
        kind: new.kind,
        state: ProbeState::Queued,
        created_at: rfc3339(gateway.now_s() * 1_000_000_000),
        sent: 0,
        received: 0,
        rtt_ms: None,
        loss_pct: None,
        error: None,
    })?;
    let held = gateway.clone();
    tokio::task::spawn_blocking(move || {
        held.probes
            .change(probe_id, |probe| probe.state = ProbeState::Running);
        let time = Duration::from_secs(u64::from(duration_s));
        let found = pinger.ping(time, || held.stop.is_cancelled());
        held.probes.change(probe_id, |probe| probe.finish(found));
    });
    Ok((StatusCode::ACCEPTED, Json(ProbeId { probe_id })))
}

/// A probe
#[utoipa::path(get, path = "/v1/mesh/probes/{probe_id}", tag = "mesh",
    params(("probe_id" = Uuid, Path, description = "Which probe")),
    responses((status = 200, description = "As far as it is"),
        (status = 404, description = "No such probe, or long ago")))]
pub async fn probe_fetch(
    _: Viewer,
    State(gateway): State<Gateway>,
    Path(probe_id): Path<Uuid>,
) -> Result<Json<Probe>, Problem> {
    let held = gateway
        .probes
        .0
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let found = held.get(&probe_id).cloned();
    found.map(Json).ok_or_else(|| missing("probe", probe_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(number: u128) -> Probe {
        Probe {
            probe_id: Uuid::from_u128(number),
            node_id: Uuid::nil(),
            address: Ipv4Addr::LOCALHOST,
            kind: ProbeKind::Ping,
            state: ProbeState::Queued,
            created_at: String::new(),
            sent: 0,
            received: 0,
            rtt_ms: None,
            loss_pct: None,
            error: None,
        }
    }

    #[test]
    fn probes_are_bounded_and_the_oldest_goes() {
        let probes = Probes::default();
        for number in 0..RUNNING as u128 {
            probes.add(probe(number)).unwrap();
        }
        assert_eq!(probes.add(probe(900)).unwrap_err().status, 429);
        for number in 0..300 {
            probes.change(Uuid::from_u128(number), |probe| {
                probe.finish(Ok(Echoes::default()))
            });
            probes.add(probe(1000 + number)).unwrap();
            probes.change(Uuid::from_u128(1000 + number), |probe| {
                probe.state = ProbeState::Done;
            });
        }
        let held = probes.0.lock().unwrap();
        assert_eq!(held.len(), REMEMBERED);
        assert!(!held.contains_key(&Uuid::from_u128(0)));
        assert!(held.contains_key(&Uuid::from_u128(1299)));
    }

    #[test]
    fn answers_are_summed_up() {
        let mut one = probe(1);
        one.finish(Ok(Echoes {
            sent: 4,
            rtts_ms: vec![3.0, 1.0, 2.0],
        }));
        assert_eq!((one.state, one.received), (ProbeState::Done, 3));
        assert_eq!(one.loss_pct, Some(25.0));
        let times = one.rtt_ms.unwrap();
        assert_eq!((times.min, times.avg, times.max), (1.0, 2.0, 3.0));
        let mut none = probe(2);
        none.finish(Ok(Echoes {
            sent: 5,
            rtts_ms: Vec::new(),
        }));
        assert_eq!((none.loss_pct, none.rtt_ms), (Some(100.0), None));
    }
}
