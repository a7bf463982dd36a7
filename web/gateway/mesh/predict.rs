//! What links between nodes whose places are known should be: computed by the same function as
//! the `link` command, kept until a place or a station changes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use groundwave_systems::deployment::{DeploymentView, PlannedNode};
use groundwave_systems::link::{Inputs, judge, trace};
use groundwave_systems::radio::budget::Workspace;
use groundwave_systems::radio::{Environment, Verdict};
use groundwave_systems::site::NodeId;
use groundwave_systems::terrain::Terrain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gateway::services::world::blocking;
use crate::gateway::state::Gateway;
use crate::http::Problem;
use crate::planning::PACKET_BYTES;

/// Links computed for one answer; the rest are computed for the next ones.
const AT_ONCE: usize = 200;
/// Links remembered.
const REMEMBERED: usize = 100_000;

/// What a link should be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Predicted {
    /// Received level at the weaker end, dBm.
    pub rx_power_dbm: f64,
    /// Signal to noise at the weaker end, dB.
    pub snr_db: f64,
    /// Margin over the weaker receiver's need, dB.
    pub margin_db: f64,
    /// Path loss, dB.
    pub path_loss_db: f64,
    /// Whether it closes.
    pub viable: bool,
}

/// What a link is computed of: as long as all of it is the same, so is the outcome.
#[derive(Clone)]
struct Of {
    nodes: [Arc<PlannedNode>; 2],
    /// Whose environment counts: the first node's deployment.
    around: Option<Arc<DeploymentView>>,
}

impl Of {
    fn ends(&self) -> (NodeId, NodeId) {
        (self.nodes[0].id, self.nodes[1].id)
    }

    fn same(&self, other: &Self) -> bool {
        let around = match (&self.around, &other.around) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        let nodes = self.nodes.iter().zip(&other.nodes);
        around
            && nodes
                .into_iter()
                .all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

struct Held {
    of: Of,
    outcome: Option<Predicted>,
}

/// Links computed before.
#[derive(Default)]
pub struct Predictions {
    held: Mutex<BTreeMap<(NodeId, NodeId), Held>>,
    computed: AtomicU64,
}

impl Predictions {
    /// Counts links computed: an answer without those that came later is another one.
    #[must_use]
    pub fn computed(&self) -> u64 {
        self.computed.load(Ordering::Relaxed)
    }

    fn get(&self, of: &Of) -> Option<Option<Predicted>> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let found = held.get(&of.ends())?;
        found.of.same(of).then_some(found.outcome)
    }

    fn put(&self, of: Of, outcome: Option<Predicted>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= REMEMBERED {
            held.clear();
        }
        held.insert(of.ends(), Held { of, outcome });
        self.computed.fetch_add(1, Ordering::Relaxed);
    }
}

/// What these links should be, as far as both ends are planned; and how many are still to be
/// computed.
///
/// # Errors
/// When the computation fails as a whole.
pub async fn predict(
    gateway: &Gateway,
    wanted: &[(NodeId, NodeId)],
) -> Result<(BTreeMap<(NodeId, NodeId), Predicted>, usize), Problem> {
    let view = gateway.world.view();
    let mut known = BTreeMap::new();
    let mut open = Vec::new();
    for &(a, b) in wanted {
        let planned = |id: NodeId| view.plan.nodes.get(&id).cloned();
        let (Some(at_a), Some(at_b)) = (planned(a), planned(b)) else {
            continue;
        };
        let of = Of {
            around: view.plan.deployments.get(&at_a.deployment).cloned(),
            nodes: [at_a, at_b],
        };
        match gateway.topology.predictions.get(&of) {
            Some(outcome) => known.extend(outcome.map(|outcome| ((a, b), outcome))),
            None => open.push(of),
        }
    }
    let later = open.len().saturating_sub(AT_ONCE);
    open.truncate(AT_ONCE);
    if !open.is_empty() {
        let terrain = Arc::clone(&gateway.terrain);
        let done = blocking(move || {
            let compute = |of: Of| (compute(&*terrain, &of), of);
            Ok(open.into_iter().map(compute).collect::<Vec<_>>())
        });
        for (outcome, of) in done.await? {
            known.extend(outcome.map(|outcome| (of.ends(), outcome)));
            gateway.topology.predictions.put(of, outcome);
        }
    }
    Ok((known, later))
}

/// The weaker direction of a link; nothing where the link cannot be computed.
fn compute(terrain: &dyn Terrain, of: &Of) -> Option<Predicted> {
    let usual = Environment::default();
    let around = of.around.as_ref();
    let [a, b] = &of.nodes;
    let inputs = Inputs {
        terrain,
        environment: around.map_or(&usual, |held| &held.outline.environment),
        packet_bytes: PACKET_BYTES,
        spacing_m: None,
    };
    let profile = trace(&inputs, a.position, b.position, None);
    let (one, other) = ((a.position, &a.station), (b.position, &b.station));
    let (there, back) = judge(&inputs, &profile, one, other, &mut Workspace::default()).ok()?;
    let weaker = match there.margin.link_margin_db <= back.margin.link_margin_db {
        true => there,
        false => back,
    };
    Some(Predicted {
        rx_power_dbm: weaker.receiver.rx_power_dbm,
        snr_db: weaker.receiver.sinr_db,
        margin_db: weaker.margin.link_margin_db,
        path_loss_db: weaker.losses.total_path_loss_db,
        viable: weaker.verdict != Verdict::NoLink,
    })
}
