//! What links between nodes whose places are known should be: computed by the same function as
//! the `link` command, kept until a place or a station changes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use groundwave_systems::deployment::PlannedNode;
use groundwave_systems::link::{Inputs, judge, trace};
use groundwave_systems::radio::budget::Workspace;
use groundwave_systems::radio::{Environment, Verdict};
use groundwave_systems::site::NodeId;
use groundwave_systems::terrain::Terrain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Gateway;
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

struct Held {
    /// What it was computed of: as long as both are the same, so is the outcome.
    of: [Arc<PlannedNode>; 2],
    outcome: Option<Predicted>,
}

/// Links computed before.
#[derive(Default)]
pub struct Predictions(Mutex<BTreeMap<(NodeId, NodeId), Held>>);

impl Predictions {
    fn get(&self, of: &[Arc<PlannedNode>; 2]) -> Option<Option<Predicted>> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = held.get(&(of[0].id, of[1].id))?;
        let same = Arc::ptr_eq(&found.of[0], &of[0]) && Arc::ptr_eq(&found.of[1], &of[1]);
        same.then_some(found.outcome)
    }

    fn put(&self, of: [Arc<PlannedNode>; 2], outcome: Option<Predicted>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= REMEMBERED {
            held.clear();
        }
        held.insert((of[0].id, of[1].id), Held { of, outcome });
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
        let of = [at_a, at_b];
        match gateway.predictions.get(&of) {
            Some(outcome) => known.extend(outcome.map(|outcome| ((a, b), outcome))),
            None => open.push(of),
        }
    }
    let later = open.len().saturating_sub(AT_ONCE);
    open.truncate(AT_ONCE);
    if !open.is_empty() {
        let environment = |node: &PlannedNode| {
            let deployment = view.plan.deployments.get(&node.deployment);
            deployment.map_or_else(Environment::default, |held| {
                held.outline.environment.clone()
            })
        };
        let jobs: Vec<_> = open
            .into_iter()
            .map(|of| (environment(&of[0]), of))
            .collect();
        let terrain = Arc::clone(&gateway.terrain);
        let done = gateway.block(move || {
            let compute = |(environment, of): (Environment, [Arc<PlannedNode>; 2])| {
                let outcome = compute(&*terrain, &environment, &of);
                (of, outcome)
            };
            Ok(jobs.into_iter().map(compute).collect::<Vec<_>>())
        });
        for (of, outcome) in done.await? {
            known.extend(outcome.map(|outcome| ((of[0].id, of[1].id), outcome)));
            gateway.predictions.put(of, outcome);
        }
    }
    Ok((known, later))
}

/// The weaker direction of a link; nothing where the link cannot be computed.
fn compute(
    terrain: &dyn Terrain,
    environment: &Environment,
    [a, b]: &[Arc<PlannedNode>; 2],
) -> Option<Predicted> {
    let inputs = Inputs {
        terrain,
        environment,
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
        snr_db: weaker.receiver.snr_db,
        margin_db: weaker.margin.link_margin_db,
        path_loss_db: weaker.losses.total_path_loss_db,
        viable: weaker.verdict != Verdict::NoLink,
    })
}
