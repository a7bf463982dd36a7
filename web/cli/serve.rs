//! `groundwave serve`: planning server and mesh gateway over one simulation.

use std::path::PathBuf;

use clap::Args;
use groundwave::serve::server::{Server, ServerConfig};
use groundwave_http::Failure;

use super::output::Output;

/// Default log filter, unless `RUST_LOG` is set.
pub const LOG_FILTER: &str = "info";

/// Serve the planning API and the mesh gateway over HTTP
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Serve {
    #[command(flatten)]
    config: ServerConfig,

    /// Log file instead of stderr, mode 0600; rotated at 16 MiB, with the seven before it as FILE.1
    /// to FILE.7
    #[arg(long, env = "GROUNDWAVE_LOG_FILE", value_name = "FILE")]
    pub log_file: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  groundwave serve
  groundwave serve planning
  groundwave serve planning --bind 127.0.0.1:8788 --db plans.db
  groundwave serve gateway --state gateway-state --tunnel off
  groundwave serve --record today.gwlog
  groundwave serve planning --replay today.gwlog
  groundwave serve gateway --log-file gateway.log
  PLAN_SRTM_DIR=.data/srtm PLAN_GEOID=.data/geoid/WW15MGH.DAC groundwave serve

Both APIs are described at /docs and /openapi.json of their port. The planning API has no
authentication: listen on localhost or behind a proxy. The gateway has accounts; the password of
the first admin is written to STATE/bootstrap-admin. `groundwave replay today.gwlog` replays a
recording. Log filter: RUST_LOG.";

impl Serve {
    /// Serves until a stop signal.
    pub fn run(self, _: Output) -> Result<(), Failure> {
        Server::start(&self.config)?.run()
    }
}
