//! The fields of an impairment, one by one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Impairment;

/// Field of an impairment.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ImpairmentField {
    /// One-way delay.
    Latency,
    /// Packets dropped.
    Loss,
    /// Ceiling of the data rate.
    Rate,
    /// Bounded queue.
    Queue,
    /// Packets sent twice.
    Duplication,
    /// Packets that overtake others.
    Reordering,
    /// Packets given a single-bit error.
    Corruption,
}

impl ImpairmentField {
    /// All, in the order of an impairment.
    pub const ALL: [Self; 7] = [
        Self::Latency,
        Self::Loss,
        Self::Rate,
        Self::Queue,
        Self::Duplication,
        Self::Reordering,
        Self::Corruption,
    ];

    /// Name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Loss => "loss",
            Self::Rate => "rate",
            Self::Queue => "queue",
            Self::Duplication => "duplication",
            Self::Reordering => "reordering",
            Self::Corruption => "corruption",
        }
    }

    /// Copies this field from one impairment to another.
    pub fn copy(self, from: &Impairment, to: &mut Impairment) {
        match self {
            Self::Latency => to.latency.clone_from(&from.latency),
            Self::Loss => to.loss.clone_from(&from.loss),
            Self::Rate => to.rate.clone_from(&from.rate),
            Self::Queue => to.queue.clone_from(&from.queue),
            Self::Duplication => to.duplication.clone_from(&from.duplication),
            Self::Reordering => to.reordering.clone_from(&from.reordering),
            Self::Corruption => to.corruption.clone_from(&from.corruption),
        }
    }

    /// True if two impairments have the same in this field.
    #[must_use]
    pub fn is_equal(self, one: &Impairment, other: &Impairment) -> bool {
        match self {
            Self::Latency => one.latency == other.latency,
            Self::Loss => one.loss == other.loss,
            Self::Rate => one.rate == other.rate,
            Self::Queue => one.queue == other.queue,
            Self::Duplication => one.duplication == other.duplication,
            Self::Reordering => one.reordering == other.reordering,
            Self::Corruption => one.corruption == other.corruption,
        }
    }

    /// True if an impairment has this field.
    #[must_use]
    pub fn is_in(self, impairment: &Impairment) -> bool {
        !self.is_equal(impairment, &Impairment::default())
    }
}
