//! A testbed on this machine: a network namespace for each node, a veth pair for each link or one
//! bridge segment for all, and the routing between them.
//!
//! A [`TestbedNetwork`] is the state of the kernel; a [`Driver`] keeps it equal to a world. Every
//! namespace and file carries the name of its testbed: [`tear_down`] needs no record of what was
//! created, and a network can be [adopted](TestbedNetwork::adopt) from the kernel's state.

mod absent_nodes;
mod actions;
pub mod babel;
mod batman;
mod bound_ports;
pub mod bridge_port_qdiscs;
mod bridge_segment;
mod deleted_routes;
mod driver;
mod dump;
mod error;
mod link_counters;
mod link_fault;
mod link_reading;
mod links;
mod names;
mod namespace;
mod namespace_folder;
mod network;
mod node_view;
mod observe;
pub mod probe;
mod process;
mod program;
mod removal;
mod repair;
mod routing;
mod segment;
mod segment_radios;
mod state;
pub mod veth_check;
pub mod veth_qdiscs;
mod watched;

pub use bound_ports::{Ask, BoundPorts, DaemonReply, DaemonRequest, DaemonState, restore};
pub use driver::Driver;
pub use error::TestbedError;
pub use names::{Names, interface};
pub use namespace::{Namespace, inside, replace};
pub use network::TestbedNetwork;
pub use probe::{FarEnd, ping, throughput};
pub use process::{is_alive, kill_process};
pub use state::{ControllerLock, State, tear_down};
