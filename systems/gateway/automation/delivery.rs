//! Deliveries: work outside the world, its components, its effect and its outcome.

use bevy_ecs::prelude::*;
use groundwave_engine::Effect;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::components::{AutomationId, ExecutionId};
pub use super::delivery_id::{DeliveryId, DeliveryKind};
use super::request::DeliveryRequest;
use crate::automation::language::Retry;

/// Work outside that a step requested: the form of documents and views, composed of the components of a
/// delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// Execution.
    pub execution: ExecutionId,
    /// Flow.
    pub flow: AutomationId,
    /// Step.
    pub step_id: String,
    /// Node, in a step for each node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Uuid>,
    /// Request.
    pub request: DeliveryRequest,
    /// Repetition.
    pub retry: Retry,
    /// Attempts so far, the present one included.
    pub attempts: u32,
    /// An attempt was handed to the workers.
    pub in_flight: bool,
    /// Time of the next attempt, ms since the Unix epoch.
    pub next_ms: u64,
    /// No further attempt is made: it is in the dead-letter list.
    pub dead: bool,
    /// Error of the last attempt.
    pub error: Option<String>,
    /// Time of its creation, ms since the Unix epoch.
    pub created_ms: u64,
}

/// Origin and request of a delivery. Written once, where its step runs.
#[derive(Component, Debug, Clone, PartialEq)]
pub struct DeliveryOrigin {
    /// Execution.
    pub execution: ExecutionId,
    /// Flow.
    pub flow: AutomationId,
    /// Step.
    pub step_id: String,
    /// Node, in a step for each node.
    pub node: Option<Uuid>,
    /// Request.
    pub request: DeliveryRequest,
    /// Repetition.
    pub retry: Retry,
    /// Time of its creation, ms since the Unix epoch.
    pub created_ms: u64,
}

/// Attempts of a delivery; they change with each change of its state. Written by `hand_over` and the
/// commands of deliveries.
#[derive(Component, Debug, Clone, PartialEq)]
pub struct DeliveryAttempts {
    /// Attempts so far, the present one included.
    pub count: u32,
    /// Time of the next attempt, ms since the Unix epoch.
    pub next_ms: u64,
    /// Error of the last attempt.
    pub error: Option<String>,
}

/// A delivery with an attempt that was handed to the workers.
#[derive(Component, Debug, Clone, Copy)]
pub struct InFlight;

/// A delivery of the dead-letter list: no further attempt is made.
#[derive(Component, Debug, Clone, Copy)]
pub struct DeadLetter;

/// Filter of deliveries that wait for an attempt.
pub(super) type Waiting = (Without<InFlight>, Without<DeadLetter>);

impl Delivery {
    /// The record of the components of a delivery.
    #[must_use]
    pub fn of(
        origin: &DeliveryOrigin,
        attempts: &DeliveryAttempts,
        in_flight: bool,
        dead: bool,
    ) -> Self {
        let origin = origin.clone();
        Self {
            execution: origin.execution,
            flow: origin.flow,
            step_id: origin.step_id,
            node: origin.node,
            request: origin.request,
            retry: origin.retry,
            attempts: attempts.count,
            in_flight,
            next_ms: attempts.next_ms,
            dead,
            error: attempts.error.clone(),
            created_ms: origin.created_ms,
        }
    }

    /// The components of the record, without its markers.
    #[must_use]
    pub fn into_components(self) -> (DeliveryOrigin, DeliveryAttempts) {
        let origin = DeliveryOrigin {
            execution: self.execution,
            flow: self.flow,
            step_id: self.step_id,
            node: self.node,
            request: self.request,
            retry: self.retry,
            created_ms: self.created_ms,
        };
        let attempts =
            DeliveryAttempts { count: self.attempts, next_ms: self.next_ms, error: self.error };
        (origin, attempts)
    }
}

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
