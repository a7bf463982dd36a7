//! What readers see of measurements.

use crate::persistent::PersistentMap;
use serde::{Deserialize, Serialize, Serializer};

use super::{Measured, Way};
use crate::site::NodeId;

/// The last measurement of a direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LevelView {
    /// Who sent.
    pub from: NodeId,
    /// Who received.
    pub to: NodeId,
    /// When, simulated ns.
    pub at_ns: u64,
    /// What.
    pub values: Measured,
}

/// The last measurements by direction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Levels(pub(super) PersistentMap<Way, LevelView>);

impl Levels {
    /// In id order of senders, then of receivers.
    pub fn iter(&self) -> impl Iterator<Item = &LevelView> {
        self.0.values()
    }

    /// That of a direction.
    #[must_use]
    pub fn get(&self, way: Way) -> Option<&LevelView> {
        self.0.get(&way)
    }

    /// How many directions were measured.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// As a list.
impl Serialize for Levels {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(self.0.values())
    }
}
