//! The gateway as a daemon: its configuration, its folder, its start.

pub mod admin;
pub mod audit;
mod flow_config;
pub mod gateway;
mod gateway_config;
pub mod gateway_folder;
mod history;
mod proxies;
pub mod reset_admin;
mod tls_reload;
mod tunnel_listener;

/// Simulated time of a tick, ns; it only counts ticks, nothing in a plan moves.
pub const STEP_NS: u64 = 1_000_000;
