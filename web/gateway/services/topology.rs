//! Topology state between requests: predictions, last snapshot.

use std::sync::atomic::AtomicU64;

use crate::gateway::mesh::predict::Predictions;

/// Topology state between requests.
#[derive(Default)]
pub struct TopologyState {
    /// Predicted links.
    pub predictions: Predictions,
    /// Revision of the last stored snapshot, so that none is stored twice.
    pub last_revision: AtomicU64,
}
