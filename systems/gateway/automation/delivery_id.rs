//! Ids of deliveries.

use groundwave_engine::{Id, Kind};

/// Kind of a delivery.
pub struct DeliveryKind;

impl Kind for DeliveryKind {
    const NAME: &'static str = "delivery";
}

/// Stable id of a delivery: its idempotency key.
pub type DeliveryId = Id<DeliveryKind>;
