//! Topology state between requests: last snapshot.

use std::sync::atomic::AtomicU64;

/// Topology state between requests.
#[derive(Default)]
pub struct TopologyState {
    /// Revision of the last stored snapshot, so that none is stored twice.
    pub last_revision: AtomicU64,
}
