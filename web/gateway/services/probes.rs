//! Reachability probes: ICMP echo requests to nodes.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use groundwave_files::ReadingError;
use groundwave_files::wall::wall_ns;
use groundwave_host::readings::echo::{Echoes, Pinger};
use groundwave_http::problem::ProblemKind;
use groundwave_http::time::rfc3339;
use groundwave_http::{Problem, id};
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::kernel::unread;
use super::secrets::random;

/// Maximum number of recorded probes; the oldest is dropped first.
const REMEMBERED: usize = 256;
/// Maximum number of running probes.
const RUNNING: usize = 8;

/// Kind of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbeKind {
    /// ICMP echo.
    Ping,
    /// Route; not offered.
    Traceroute,
    /// Throughput; not offered.
    Throughput,
}

/// State of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbeState {
    /// Not started.
    Queued,
    /// Running.
    Running,
    /// Finished.
    Done,
    /// Failed.
    Failed,
}

/// Round-trip times, ms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundTrips {
    /// Minimum.
    pub min: f64,
    /// Mean.
    pub avg: f64,
    /// Maximum.
    pub max: f64,
}

/// Reachability probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Probe id.
    pub probe_id: Uuid,
    /// Node id.
    pub node_id: Uuid,
    /// Probed address.
    pub address: Ipv4Addr,
    /// Kind of a probe.
    pub kind: ProbeKind,
    /// State.
    pub state: ProbeState,
    /// Time of creation, RFC 3339.
    pub created_at: String,
    /// Requests sent.
    pub sent: u32,
    /// Requests answered.
    pub received: u32,
    /// Round-trip times of answered requests.
    pub rtt_ms: Option<RoundTrips>,
    /// Packet loss, %.
    pub loss_pct: Option<f64>,
    /// Reason of a failure.
    pub error: Option<String>,
}

/// Recent probes by id, in order of time.
#[derive(Debug, Default)]
pub struct Probes(Mutex<BTreeMap<Uuid, Probe>>);

impl Probes {
    /// Starts to ping an address for `duration`, until `stop` is cancelled.
    ///
    /// # Errors
    /// 429 while too many probes run.
    pub fn ping(
        self: &Arc<Self>,
        node: NodeId,
        address: Ipv4Addr,
        duration: Duration,
        stop: CancellationToken,
    ) -> Result<Uuid, Problem> {
        let pinger = Pinger::open(address.into(), random()?).map_err(unread)?;
        let probe_id = id::mint();
        self.add(Probe {
            probe_id,
            node_id: node.uuid(),
            address,
            kind: ProbeKind::Ping,
            state: ProbeState::Queued,
            created_at: rfc3339(wall_ns()),
            sent: 0,
            received: 0,
            rtt_ms: None,
            loss_pct: None,
            error: None,
        })?;
        let probes = Arc::clone(self);
        tokio::task::spawn_blocking(move || {
            probes.change(probe_id, |probe| probe.state = ProbeState::Running);
            let echoes = pinger.ping(duration, || stop.is_cancelled());
            probes.change(probe_id, |probe| probe.finish(echoes));
        });
        Ok(probe_id)
    }

    /// Probe with this id, unless it was forgotten.
    #[must_use]
    pub fn get(&self, id: Uuid) -> Option<Probe> {
        let probes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        probes.get(&id).cloned()
    }

    fn add(&self, probe: Probe) -> Result<(), Problem> {
        let mut probes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at_work =
            |probe: &&Probe| matches!(probe.state, ProbeState::Queued | ProbeState::Running);
        if probes.values().filter(at_work).count() >= RUNNING {
            let detail = format!("too many running probes: {RUNNING}");
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, detail);
            return Err(problem.of_kind(ProblemKind::RateLimited).retry_after(5));
        }
        probes.insert(probe.probe_id, probe);
        while probes.len() > REMEMBERED {
            probes.pop_first();
        }
        Ok(())
    }

    fn change(&self, id: Uuid, change: impl FnOnce(&mut Probe)) {
        let mut probes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(probe) = probes.get_mut(&id) {
            change(probe);
        }
    }
}

impl Probe {
    fn finish(&mut self, echoes: Result<Echoes, ReadingError>) {
        let echoes = match echoes {
            Ok(echoes) => echoes,
            Err(err) => {
                self.state = ProbeState::Failed;
                self.error = Some(err.to_string());
                return;
            }
        };
        self.state = ProbeState::Done;
        self.sent = echoes.sent;
        self.received = u32::try_from(echoes.rtts_ms.len()).unwrap_or(u32::MAX);
        let lost = echoes.sent.saturating_sub(self.received);
        self.loss_pct = (echoes.sent > 0).then(|| f64::from(lost) / f64::from(echoes.sent) * 100.0);
        let all = &echoes.rtts_ms;
        let sum: f64 = all.iter().sum();
        self.rtt_ms = (!all.is_empty()).then(|| RoundTrips {
            min: all.iter().copied().fold(f64::INFINITY, f64::min),
            avg: sum / all.len() as f64,
            max: all.iter().copied().fold(0.0, f64::max),
        });
    }
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
            probes.change(Uuid::from_u128(number), |probe| probe.finish(Ok(Echoes::default())));
            probes.add(probe(1000 + number)).unwrap();
            probes.change(Uuid::from_u128(1000 + number), |probe| {
                probe.state = ProbeState::Done;
            });
        }
        let remembered = probes.0.lock().unwrap();
        assert_eq!(remembered.len(), REMEMBERED);
        assert!(!remembered.contains_key(&Uuid::from_u128(0)));
        assert!(remembered.contains_key(&Uuid::from_u128(1299)));
    }

    #[test]
    fn answers_are_summed_up() {
        let mut one = probe(1);
        one.finish(Ok(Echoes { sent: 4, rtts_ms: vec![3.0, 1.0, 2.0] }));
        assert_eq!((one.state, one.received), (ProbeState::Done, 3));
        assert_eq!(one.loss_pct, Some(25.0));
        let times = one.rtt_ms.unwrap();
        assert_eq!((times.min, times.avg, times.max), (1.0, 2.0, 3.0));
        let mut none = probe(2);
        none.finish(Ok(Echoes { sent: 5, rtts_ms: Vec::new() }));
        assert_eq!((none.loss_pct, none.rtt_ms), (Some(100.0), None));
    }
}
