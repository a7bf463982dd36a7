//! Time, ids and bounds that all modules of automation share.

use bevy_ecs::prelude::*;
use groundwave_engine::Refusal;
use serde_json::{Value, json};
use uuid::Uuid;

/// Maximum length of an input or output of a step, bytes of its JSON.
const VALUE_BYTES_MAX: usize = 16 << 10;

/// Applies a command by a one-shot system.
pub(super) fn run<C, T, M>(
    world: &mut World,
    system: impl IntoSystem<In<C>, Result<T, Refusal>, M> + 'static,
    command: C,
) -> Result<T, Refusal>
where
    C: 'static,
    T: 'static,
{
    let outcome = world.run_system_cached_with(system, command);
    outcome.map_err(|err| Refusal::conflict(err.to_string()))?
}

/// An id whose first bits are the time, and whose others follow from a name within a namespace.
pub(super) fn timed_id(at_ms: u64, namespace: Uuid, name: &[u8]) -> Uuid {
    let hash = Uuid::new_v5(&namespace, name);
    let mut random = [0; 10];
    random.copy_from_slice(&hash.as_bytes()[..10]);
    uuid::Builder::from_unix_timestamp_millis(at_ms, &random).into_uuid()
}

/// The value, or its length where it is too long.
pub(super) fn bounded(value: Value) -> Value {
    let bytes = value.to_string().len();
    match bytes <= VALUE_BYTES_MAX {
        true => value,
        false => json!({ "left_out_bytes": bytes }),
    }
}
