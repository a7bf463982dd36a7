//! Steering: nodes, links, time.

use axum::http::Method;
use clap::Args;
use groundwave::testbed::wire::{LinkEnds, NewPace, NewPlace, NewRadio, NewSteps};
use serde::Serialize;

use super::Which;
use super::client::ask;
use super::show::told;
use crate::cli::failure::Failure;
use crate::cli::output::Output;

fn done(
    which: &Which,
    output: Output,
    method: Method,
    path: &str,
    body: Option<&impl Serialize>,
) -> Result<(), Failure> {
    let testbed = ask(&which.state()?, method, path, body)?;
    told(&testbed, output)
}

/// Move a node at once
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed move relay 57.7142,11.9367")]
pub struct Move {
    /// Short name of the node
    node: String,
    /// Where to: latitude and longitude, degrees
    #[arg(value_name = "LAT,LON", allow_hyphen_values = true)]
    place: String,
    #[command(flatten)]
    which: Which,
}

impl Move {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let parts = self.place.split_once(',');
        let degrees = parts.and_then(|(lat, lon)| {
            Some((
                lat.trim().parse::<f64>().ok()?,
                lon.trim().parse::<f64>().ok()?,
            ))
        });
        let Some((lat_deg, lon_deg)) = degrees else {
            let what = format!("{:?} is no place; allowed: LAT,LON in degrees", self.place);
            return Err(Failure::Input(what));
        };
        let path = format!("/v1/nodes/{}/position", self.node);
        let body = NewPlace { lat_deg, lon_deg };
        done(&self.which, output, Method::PUT, &path, Some(&body))
    }
}

/// Stop a node: nothing passes to or from it
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed fail relay")]
pub struct Fail {
    /// Short name of the node
    node: String,
    #[command(flatten)]
    which: Which,
}

impl Fail {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let path = format!("/v1/nodes/{}/fail", self.node);
        done(&self.which, output, Method::POST, &path, None::<&()>)
    }
}

/// Start a failed node again
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed repair relay")]
pub struct Repair {
    /// Short name of the node
    node: String,
    #[command(flatten)]
    which: Which,
}

impl Repair {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let path = format!("/v1/nodes/{}/repair", self.node);
        done(&self.which, output, Method::POST, &path, None::<&()>)
    }
}

/// Change a node's radio or mast; what is not named stays
#[derive(Args)]
#[command(
    after_help = "Examples:\n  groundwave testbed radio relay --tx-power-dbm 10\n  groundwave testbed radio west --height-agl-m 30"
)]
pub struct Radio {
    /// Short name of the node
    node: String,
    /// Power of the transmitter, dBm
    #[arg(long, value_name = "DBM", allow_hyphen_values = true)]
    tx_power_dbm: Option<f64>,
    /// Centre frequency, MHz
    #[arg(long, value_name = "MHZ")]
    frequency_mhz: Option<f64>,
    /// Bandwidth, Hz
    #[arg(long, value_name = "HZ")]
    bandwidth_hz: Option<f64>,
    /// Antenna height above ground, m
    #[arg(long, value_name = "M")]
    height_agl_m: Option<f64>,
    #[command(flatten)]
    which: Which,
}

impl Radio {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let body = NewRadio {
            tx_power_dbm: self.tx_power_dbm,
            frequency_mhz: self.frequency_mhz,
            bandwidth_hz: self.bandwidth_hz,
            height_agl_m: self.height_agl_m,
        };
        if body == NewRadio::default() {
            let what = "nothing to change; allowed: --tx-power-dbm, --frequency-mhz, \
                        --bandwidth-hz, --height-agl-m";
            return Err(Failure::Input(what.to_owned()));
        }
        let path = format!("/v1/nodes/{}/station", self.node);
        done(&self.which, output, Method::PATCH, &path, Some(&body))
    }
}

/// Cut the link between two nodes
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed cut west relay")]
pub struct Cut {
    /// One end
    a: String,
    /// The other end
    b: String,
    #[command(flatten)]
    which: Which,
}

impl Cut {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let body = LinkEnds {
            a: self.a,
            b: self.b,
        };
        done(
            &self.which,
            output,
            Method::POST,
            "/v1/links/cut",
            Some(&body),
        )
    }
}

/// Mend a cut link
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed mend west relay")]
pub struct Mend {
    /// One end
    a: String,
    /// The other end
    b: String,
    #[command(flatten)]
    which: Which,
}

impl Mend {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let body = LinkEnds {
            a: self.a,
            b: self.b,
        };
        done(
            &self.which,
            output,
            Method::POST,
            "/v1/links/mend",
            Some(&body),
        )
    }
}

/// Hold the world; the network stays as it is. Commands still take effect, a step each
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed pause")]
pub struct Pause {
    #[command(flatten)]
    which: Which,
}

impl Pause {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let body = NewPace { speed: 0.0 };
        done(&self.which, output, Method::PUT, "/v1/pace", Some(&body))
    }
}

/// Go on at the pace of real time
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed resume")]
pub struct Resume {
    #[command(flatten)]
    which: Which,
}

impl Resume {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let body = NewPace { speed: 1.0 };
        done(&self.which, output, Method::PUT, "/v1/pace", Some(&body))
    }
}

/// Run faster or slower than real time
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed speed 10")]
pub struct Speed {
    /// Simulated seconds per second, 0 to 1000
    speed: f64,
    #[command(flatten)]
    which: Which,
}

impl Speed {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let body = NewPace { speed: self.speed };
        done(&self.which, output, Method::PUT, "/v1/pace", Some(&body))
    }
}

/// Take steps at once, however fast the world runs
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed step\n  groundwave testbed step 60")]
pub struct Step {
    /// How many
    #[arg(default_value_t = 1)]
    steps: u64,
    #[command(flatten)]
    which: Which,
}

impl Step {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let body = NewSteps { steps: self.steps };
        done(&self.which, output, Method::POST, "/v1/steps", Some(&body))
    }
}
