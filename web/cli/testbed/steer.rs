//! Changes of nodes, links and simulation speed of a testbed.

use axum::http::Method;
use clap::Args;
use groundwave_http::Failure;
use groundwave_web_testbed::wire::{Link, LinkEnds, NewPace, NewPlace, NewRadio, NewSteps};
use serde::Serialize;

use super::Selection;
use super::client::{node_path, request};
use super::show::show_change;
use crate::cli::output::{Output, warning};

/// Reads a number that a document can have.
fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("found {text:?}, allowed a number"))
}

fn apply(
    selection: &Selection,
    output: Output,
    method: Method,
    path: &str,
    body: Option<&impl Serialize>,
) -> Result<(), Failure> {
    let testbed = request(&selection.state()?, method, path, body)?;
    show_change(&testbed, output)
}

/// Move a node
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed move north 57.705,11.880")]
pub struct Move {
    /// Short name of the node
    node: String,
    /// New position: degrees, UTM, MGRS, a Maidenhead locator or a plus code
    #[arg(value_name = "LAT,LON", allow_hyphen_values = true)]
    place: String,
    #[command(flatten)]
    selection: Selection,
}

impl Move {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let place = groundwave_coordinate::parse(&self.place).map_err(Failure::input)?;
        let (lat_deg, lon_deg) = (place.lat_deg(), place.lon_deg());
        let path = node_path(&self.node, "position");
        let body = NewPlace { lat_deg, lon_deg };
        apply(&self.selection, output, Method::PUT, &path, Some(&body))
    }
}

/// Stop a node
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed fail north")]
pub struct Fail {
    /// Short name of the node
    node: String,
    #[command(flatten)]
    selection: Selection,
}

impl Fail {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let path = node_path(&self.node, "fail");
        apply(&self.selection, output, Method::POST, &path, None::<&()>)
    }
}

/// Restart a stopped node
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed repair north")]
pub struct Repair {
    /// Short name of the node
    node: String,
    #[command(flatten)]
    selection: Selection,
}

impl Repair {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let path = node_path(&self.node, "repair");
        apply(&self.selection, output, Method::POST, &path, None::<&()>)
    }
}

/// Fields of a node's station; those left out stay.
#[derive(Args)]
pub(super) struct StationOptions {
    /// Transmitter power, dBm
    #[arg(long, value_name = "DBM", value_parser = finite)]
    tx_power_dbm: Option<f64>,
    /// Centre frequency, MHz
    #[arg(long, value_name = "MHZ", value_parser = finite)]
    frequency_mhz: Option<f64>,
    /// Bandwidth, Hz
    #[arg(long, value_name = "HZ", value_parser = finite)]
    bandwidth_hz: Option<f64>,
    /// Antenna height above ground, m
    #[arg(long, value_name = "M", value_parser = finite)]
    height_agl_m: Option<f64>,
}

impl From<StationOptions> for NewRadio {
    fn from(options: StationOptions) -> Self {
        Self {
            tx_power_dbm: options.tx_power_dbm,
            frequency_mhz: options.frequency_mhz,
            bandwidth_hz: options.bandwidth_hz,
            height_agl_m: options.height_agl_m,
        }
    }
}

/// Change radio or antenna height of a node
#[derive(Args)]
#[command(
    after_help = "Examples:\n  groundwave testbed radio north --tx-power-dbm 10\n  groundwave testbed radio west --height-agl-m 30"
)]
pub struct Radio {
    /// Short name of the node
    node: String,
    #[command(flatten)]
    station: StationOptions,
    #[command(flatten)]
    selection: Selection,
}

impl Radio {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let body = NewRadio::from(self.station);
        if body == NewRadio::default() {
            let message = "nothing to change, allowed --tx-power-dbm, --frequency-mhz, --bandwidth-hz, \
                           --height-agl-m";
            return Err(Failure::Input(message.to_owned()));
        }
        let path = node_path(&self.node, "station");
        apply(&self.selection, output, Method::PATCH, &path, Some(&body))
    }
}

/// Take the link between two nodes down
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed cut west north")]
pub struct Cut {
    /// First node
    a: String,
    /// Second node
    b: String,
    #[command(flatten)]
    selection: Selection,
}

impl Cut {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let body = LinkEnds { a: self.a, b: self.b };
        let testbed =
            request(&self.selection.state()?, Method::POST, "/v1/links/cut", Some(&body))?;
        let LinkEnds { a, b } = &body;
        let is_it = |link: &Link| link.from == *a && link.to == *b;
        if !testbed.links.iter().any(is_it) {
            let note = format!("{a} and {b} have no link at present; one that comes stays cut");
            groundwave_command::output::note(&warning(&note));
        }
        show_change(&testbed, output)
    }
}

/// Bring a cut link up
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed mend west north")]
pub struct Mend {
    /// First node
    a: String,
    /// Second node
    b: String,
    #[command(flatten)]
    selection: Selection,
}

impl Mend {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let body = LinkEnds { a: self.a, b: self.b };
        apply(&self.selection, output, Method::POST, "/v1/links/mend", Some(&body))
    }
}

/// Pause the simulation; the network stays as it is, and commands still take effect
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed pause")]
pub struct Pause {
    #[command(flatten)]
    selection: Selection,
}

impl Pause {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let body = NewPace { speed: 0.0 };
        apply(&self.selection, output, Method::PUT, "/v1/pace", Some(&body))
    }
}

/// Resume in real time
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed resume")]
pub struct Resume {
    #[command(flatten)]
    selection: Selection,
}

impl Resume {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let body = NewPace { speed: 1.0 };
        apply(&self.selection, output, Method::PUT, "/v1/pace", Some(&body))
    }
}

/// Set the speed of the simulation
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed speed 10")]
pub struct Speed {
    /// Simulated seconds per second, [0, 1000]
    #[arg(value_parser = finite)]
    speed: f64,
    #[command(flatten)]
    selection: Selection,
}

impl Speed {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let body = NewPace { speed: self.speed };
        apply(&self.selection, output, Method::PUT, "/v1/pace", Some(&body))
    }
}

/// Simulate a number of steps at once
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed step\n  groundwave testbed step 60")]
pub struct Step {
    /// Number of steps, 1 to 100000
    #[arg(default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    steps: u64,
    #[command(flatten)]
    selection: Selection,
}

impl Step {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let body = NewSteps { steps: self.steps };
        apply(&self.selection, output, Method::POST, "/v1/steps", Some(&body))
    }
}
