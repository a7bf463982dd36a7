//! Deliveries: work outside the world, its effect and its outcome.

use groundwave_engine::Effect;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::components::DeliveryId;
use super::request::DeliveryRequest;

/// Effect: one attempt of a delivery.
#[derive(Debug, Clone, PartialEq)]
pub struct Deliver {
    /// Delivery.
    pub delivery: DeliveryId,
    /// Attempt, from 1.
    pub attempt: u32,
    /// Request.
    pub request: DeliveryRequest,
}

impl Effect for Deliver {
    type Key = DeliveryId;

    fn key(&self) -> DeliveryId {
        self.delivery
    }
}

/// Outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// The receiver accepted it.
    Delivered {
        /// Answer, for the context.
        output: Value,
    },
    /// The receiver did not accept it.
    Failed {
        /// Cause.
        error: String,
        /// A further attempt may succeed.
        retry: bool,
        /// Wait that the receiver asks for, s.
        wait_s: Option<u32>,
    },
}
