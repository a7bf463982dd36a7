//! Services behind the handlers: everything that reaches the world, the kernel, files or secrets.

pub mod addresses;
pub mod audit_sampling;
pub mod backups;
pub mod challenges;
pub mod config_objects;
pub mod dhcp;
pub mod firewall;
pub mod firewall_diff;
pub mod host;
pub mod kernel;
pub mod limited;
pub mod limits;
pub mod login_attempts;
pub mod mesh_config;
pub mod metrics;
pub mod nut;
pub mod outbound;
pub mod passwords;
pub mod probes;
pub mod secrets;
pub mod tasks;
pub mod tokens;
pub mod topology;
pub mod tunnel;
pub mod vault;
pub mod world;
