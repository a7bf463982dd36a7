//! Coverage on a GPU: ITM over the paths of many sites in f32, with the answer of the exact evaluation.
//!
//! A [`Device`] samples and measures paths over a [`Scene`] of posts and returns the attenuation of each cell,
//! or the reason why f32 cannot decide it; [`evaluate_known`](groundwave_model::coverage::evaluate_known) makes
//! cells of both, of the latter by evaluating them as a whole. So classes, verdicts and best servers are those of
//! a coverage without a GPU, and other figures lie within
//! [`KNOWN_ERROR_DB`](groundwave_model::coverage::KNOWN_ERROR_DB) of them.
//!
//! Without the feature `wgpu` the crate builds without packages of its own and finds no device.

mod adapter;
#[cfg(feature = "wgpu")]
mod device;
#[cfg(feature = "wgpu")]
mod dispatch;
mod engine;
#[cfg(not(feature = "wgpu"))]
mod no_device;
mod scene;
mod server_tables;
mod servers;
mod tables;

#[cfg(all(test, feature = "wgpu"))]
mod tests;

pub use adapter::{Adapter, Adapters, DeviceFailure, Unavailable};
#[cfg(feature = "wgpu")]
pub use device::Device;
pub use engine::{Engine, NoLosses};
#[cfg(not(feature = "wgpu"))]
pub use no_device::Device;
pub use scene::Scene;
pub use servers::{Servers, ServersRequest};
pub use tables::Tables;

/// True if the program was built with a device.
pub const IS_BUILT: bool = cfg!(feature = "wgpu");
