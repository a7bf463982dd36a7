//! Everything that can fail because of the outside: files, disks, clocks.
//!
//! It stands beside the frontends and above the model: `groundwave_systems` names what it needs,
//! this crate supplies it.

pub mod agent;
pub mod calibration;
pub mod camera;
pub mod causes;
pub mod changes;
mod files;
pub mod formats;
#[cfg(test)]
mod fuzz;
pub mod gateway;
pub mod gpio;
pub mod hex;
pub mod host;
pub mod i2c;
pub mod impair;
pub mod journal;
pub mod kernel;
pub mod netlink;
pub mod nft;
pub mod notice;
pub mod nut;
pub mod openapi;
pub mod outbound;
pub mod picture;
pub mod raster;
pub mod readings;
pub mod rotated;
pub mod scenario;
mod short_form;
pub(crate) mod space;
pub mod store;
pub mod sweep;
pub mod telemetry;
pub mod terrain;
pub mod testbed;
pub mod toml_document;
pub mod wall;
