//! `cluster`: the processes of an Apache Ballista cluster that computes sweeps.

#[cfg(feature = "cluster")]
mod drive;
#[cfg(feature = "cluster")]
mod processes;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, Subcommand};
use groundwave_http::option_value::folder_path;

#[cfg(not(feature = "cluster"))]
use super::output::Output;
#[cfg(not(feature = "cluster"))]
use groundwave_http::Failure;

/// Filter of the log of a scheduler and an executor.
pub const LOG_FILTER: &str =
    "info,ballista_core=warn,ballista_executor=warn,ballista_scheduler=warn,datafusion=warn";

const EXAMPLES: &str = "\
Examples:
  groundwave cluster scheduler --listen 10.0.0.1:50050
  groundwave cluster executor --scheduler df://10.0.0.1:50050 --store s3://bucket/sweeps --listen 10.0.0.2:50051
  groundwave cluster status df://10.0.0.1:50050
  groundwave sweep examples/coverage.toml -o out/cluster --cluster df://10.0.0.1:50050 --store s3://bucket/sweeps

Scheduler and executors listen on loopback or a private network only, because their ports have no
authentication; docs/cluster.md describes a proxy that asks for a token.";

const SCHEDULER: &str = "\
Examples:
  groundwave cluster scheduler
  groundwave cluster scheduler --listen 10.0.0.1:50050";

const EXECUTOR: &str = "\
Examples:
  groundwave cluster executor --store /srv/sweeps
  groundwave cluster executor --scheduler df://10.0.0.1:50050 --store s3://bucket/sweeps --listen 10.0.0.2:50051";

const STATUS: &str = "\
Examples:
  groundwave cluster status
  groundwave cluster status df://10.0.0.1:50050 --json";

/// Run a scheduler or an executor of a cluster that computes sweeps, or show its state
///
/// In programs built with `--features cluster`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Cluster {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Scheduler(Scheduler),
    Executor(Executor),
    Status(Status),
}

/// Hand tasks to executors
#[derive(Args)]
#[command(after_help = SCHEDULER)]
struct Scheduler {
    /// Address on loopback or a private network
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    listen: SocketAddr,
}

/// Evaluate units of sweeps for a scheduler
///
/// Ends on SIGTERM or SIGINT, or when its folder takes no more; others take its units then.
#[derive(Args)]
#[command(after_help = EXECUTOR)]
struct Executor {
    /// Scheduler
    #[arg(long, value_name = "df://HOST:PORT", default_value = "df://127.0.0.1:50050")]
    scheduler: String,

    /// Folder or bucket of plans, terrain and units, the same for drivers and executors: a path,
    /// file:///folder or s3://bucket/prefix
    #[arg(long, value_name = "STORE", env = "GROUNDWAVE_STORE")]
    store: String,

    /// Address on loopback or a private network at which the scheduler fetches results
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50051")]
    listen: SocketAddr,

    /// Name or address at which the scheduler reaches it [default: that of its requests]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,

    /// Folder of its own for scratch files and fetched terrain [default: a temporary one]
    #[arg(long, value_name = "DIR", value_parser = PathBufValueParser::new().try_map(folder_path))]
    work_dir: Option<PathBuf>,

    /// Memory of decoded terrain, MB [default: a quarter of the machine's]
    #[arg(long = "memory", value_name = "MB")]
    memory_mb: Option<u64>,
}

/// Show the executors and jobs of a scheduler
#[derive(Args)]
#[command(after_help = STATUS)]
struct Status {
    /// Scheduler
    #[arg(value_name = "df://HOST:PORT", default_value = "df://127.0.0.1:50050")]
    scheduler: String,
}

#[cfg(not(feature = "cluster"))]
impl Cluster {
    /// Refuses: the program has no cluster.
    pub fn run(self, _output: Output) -> Result<(), Failure> {
        let _ = self.command;
        Err(missing())
    }
}

/// The refusal of a program that was built without clusters.
#[cfg(not(feature = "cluster"))]
pub fn missing() -> Failure {
    Failure::Input(
        "this program was built without clusters; build it with: cargo build --release --features cluster"
            .to_owned(),
    )
}

#[cfg(feature = "cluster")]
pub use drive::drive;
