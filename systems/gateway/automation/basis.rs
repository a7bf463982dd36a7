//! Bounds and one-shot systems that all modules of automation share.

use bevy_ecs::prelude::*;
use groundwave_engine::Refusal;
use serde_json::{Map, Value, json};

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

/// Fields of an object; none of another value.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The value, or its length where it is too long.
pub(super) fn bounded(value: Value) -> Value {
    let bytes = value.to_string().len();
    match bytes <= VALUE_BYTES_MAX {
        true => value,
        false => json!({ "left_out_bytes": bytes }),
    }
}
