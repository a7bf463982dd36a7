//! Thresholds over time: hysteresis, and a time for which the value must stay.

use serde::{Deserialize, Serialize};

use super::conditions::{Comparison, Threshold};

/// Memory of a threshold for one subject.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ThresholdMemory {
    /// The threshold is crossed.
    pub active: bool,
    /// Time since which the value is over the limit without being crossed yet, ms since the Unix
    /// epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<u64>,
    /// Last value over the limit, while it is not crossed yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

/// Crossing of a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crossing {
    /// Into the condition.
    Entered,
    /// Out of the condition.
    Left,
}

impl Threshold {
    /// `true` if `value` is over the limit.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        match self.op {
            Comparison::Gt => value > self.value,
            Comparison::Ge => value >= self.value,
            Comparison::Lt => value < self.value,
            Comparison::Le => value <= self.value,
        }
    }

    /// `true` if `value` is back over the limit by more than the hysteresis.
    fn is_back(&self, value: f64) -> bool {
        let shifted = match self.op {
            Comparison::Gt | Comparison::Ge => value + self.hysteresis,
            Comparison::Lt | Comparison::Le => value - self.hysteresis,
        };
        !self.holds(shifted)
    }

    /// Takes a reading at `now_ms` into account.
    pub fn observe(
        &self,
        memory: &mut ThresholdMemory,
        value: f64,
        now_ms: u64,
    ) -> Option<Crossing> {
        if memory.active {
            if !self.is_back(value) {
                return None;
            }
            *memory = ThresholdMemory::default();
            return Some(Crossing::Left);
        }
        if !self.holds(value) {
            *memory = ThresholdMemory::default();
            return None;
        }
        memory.since_ms.get_or_insert(now_ms);
        memory.value = Some(value);
        self.mature(memory, now_ms)
    }

    /// Enters the condition if the value has been over the limit for long enough.
    pub fn mature(&self, memory: &mut ThresholdMemory, now_ms: u64) -> Option<Crossing> {
        let due_ms = self.due_ms(memory)?;
        if now_ms < due_ms {
            return None;
        }
        *memory = ThresholdMemory { active: true, since_ms: None, value: None };
        Some(Crossing::Entered)
    }

    /// Time at which a value that stays over the limit enters the condition, ms since the Unix epoch.
    #[must_use]
    pub fn due_ms(&self, memory: &ThresholdMemory) -> Option<u64> {
        let since_ms = memory.since_ms.filter(|_| !memory.active)?;
        Some(since_ms.saturating_add(u64::from(self.for_s) * 1000))
    }
}
