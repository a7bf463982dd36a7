//! Nodes added to a running testbed and removed from it.

use std::time::Duration;

use axum::http::Method;
use clap::Args;
use groundwave_files::wall::monotonic_ns;
use groundwave_http::Failure;
use groundwave_testbed::State;
use groundwave_web_testbed::wire::{NewNode, Testbed};

use super::Selection;
use super::client::{node_path, request, show};
use super::show::show_change;
use super::steer::StationOptions;
use crate::cli::output::Output;

/// Time limit for a change to reach the kernel, ns: programs in a node have two seconds to end.
const CHANGE_NS_MAX: u64 = 60_000_000_000;
/// Interval of looks.
const LOOK: Duration = Duration::from_millis(50);

/// Add a node
#[derive(Args)]
#[command(after_help = ADD_EXAMPLES)]
pub struct Add {
    /// Short name: 1 to 64 of a-z, A-Z, 0-9, '-', '_' and '.'
    #[arg(value_name = "NAME")]
    node: String,
    /// Latitude, degrees north
    #[arg(long, value_name = "DEG")]
    lat: f64,
    /// Longitude, degrees east
    #[arg(long, value_name = "DEG")]
    lon: f64,
    /// Node whose radio and antenna it gets [default: that of the lowest number]
    #[arg(long, value_name = "NODE")]
    like: Option<String>,
    #[command(flatten)]
    station: StationOptions,
    #[command(flatten)]
    selection: Selection,
}

const ADD_EXAMPLES: &str = "\
Examples:
  groundwave testbed add spare --lat 57.71 --lon 11.94
  groundwave testbed add spare --lat 57.71 --lon 11.94 --like north --height-agl-m 30

The node gets a namespace, an address, a routing program as the others and the links that its radio has. All
is in force when the command ends. A log of the testbed has the node as well.";

impl Add {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let state = self.selection.state()?;
        let name = self.node.clone();
        let new = NewNode {
            name: self.node,
            lat_deg: self.lat,
            lon_deg: self.lon,
            like: self.like,
            station: self.station.into(),
        };
        request(&state, Method::POST, "/v1/nodes", Some(&new))?;
        let testbed = until(&state, |testbed| {
            let mut links = testbed.links.iter();
            let is_reported = links.all(|link| {
                let is_own = link.from == name || link.to == name;
                !is_own || link.is_reported()
            });
            let nodes = state.nodes().map_err(Failure::machine)?;
            Ok(is_reported && nodes.contains(&name))
        })?;
        show_change(&testbed, output)
    }
}

/// Remove a node
#[derive(Args)]
#[command(after_help = REMOVE_EXAMPLES)]
pub struct Remove {
    /// Short name of the node
    node: String,
    #[command(flatten)]
    selection: Selection,
}

const REMOVE_EXAMPLES: &str = "\
Examples:
  groundwave testbed remove spare

Programs in the node end, its namespace and its links go, also those at the other nodes. Its number and
address are not used again. For a node that fails and comes back see `testbed fail`.";

impl Remove {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let state = self.selection.state()?;
        request(&state, Method::DELETE, &node_path(&self.node, ""), None::<&()>)?;
        let testbed = until(&state, |_| {
            let nodes = state.nodes().map_err(Failure::machine)?;
            Ok(!nodes.contains(&self.node))
        })?;
        show_change(&testbed, output)
    }
}

/// Waits until a change has reached the kernel.
fn until(
    state: &State,
    mut is_over: impl FnMut(&Testbed) -> Result<bool, Failure>,
) -> Result<Testbed, Failure> {
    let begun_ns = monotonic_ns();
    loop {
        let testbed = show(state)?;
        if is_over(&testbed)? {
            return Ok(testbed);
        }
        if monotonic_ns().saturating_sub(begun_ns) > CHANGE_NS_MAX {
            let what =
                "the change is not in force yet; `groundwave testbed status` shows the state";
            return Err(Failure::Machine(what.to_owned()));
        }
        std::thread::sleep(LOOK);
    }
}
