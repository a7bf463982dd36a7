//! Models that know no world: plain values in, plain values out.
//!
//! Nothing in here may import `bevy_ecs` or a module outside this folder; the plugins beside it
//! gather the inputs, call these functions and write the results. The crate re-exports every module
//! by its own name, `groundwave_systems::radio` for instance.

pub(crate) mod numeric;
pub mod propagation;
pub mod radio;
pub mod terrain;
