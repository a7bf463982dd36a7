//! Models: plain values in, plain values out.
//!
//! Nothing in here imports `bevy_ecs` or a module outside this folder; the plugins beside it
//! gather the inputs, call these functions and write the results. The crate re-exports most modules
//! by their own names, `groundwave_systems::radio` for instance.

pub mod advice;
pub mod automation;
pub mod bounds;
pub mod id;
pub mod link;
pub mod mesh;
pub(crate) mod numeric;
pub mod patch;
pub mod propagation;
pub mod radio;
pub mod relay;
pub mod route;
pub mod sensor;
pub mod sweep;
pub mod terrain;
