//! `groundwave serve`: planning server and mesh gateway over one simulation.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use groundwave::serve::server::{Server, ServerConfig, Service};
use groundwave_http::Failure;
use groundwave_http::option_value::file_path;

use super::browser;
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
    #[arg(long, env = "GROUNDWAVE_LOG_FILE", value_name = "FILE",
        value_parser = PathBufValueParser::new().try_map(file_path))]
    pub log_file: Option<PathBuf>,

    /// Collector of traces, as http://127.0.0.1:4318: each request is a span with its commands and computations,
    /// exported by OTLP over HTTP. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES name this server
    /// [default: none]
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp_endpoint: Option<String>,

    /// Open the page in the browser of the desktop
    #[arg(long)]
    open: bool,
}

const EXAMPLES: &str = "\
Examples:
  groundwave serve
  groundwave serve planning --open
  groundwave serve planning --bind 127.0.0.1:8788 --db plans.db
  groundwave serve gateway --state gateway-state --tunnel off
  groundwave serve --record today.gwlog
  groundwave serve planning --replay today.gwlog
  groundwave serve gateway --log-file gateway.log
  groundwave serve --otlp-endpoint http://127.0.0.1:4318
  PLAN_SRTM_DIR=.data/srtm PLAN_GEOID=.data/geoid/WW15MGH.DAC groundwave serve

Both APIs are described at /docs and /openapi.json of their port. The planning API has no
authentication: listen on localhost or behind a proxy. The gateway has accounts; the password of
the first admin is written to STATE/bootstrap-admin. `groundwave replay today.gwlog` replays a
recording. Log filter: RUST_LOG.";

impl Serve {
    /// Checks what the log file could destroy, before it is opened.
    pub fn check(&self) -> Result<(), Failure> {
        if self.config.has(Service::Gateway) {
            self.config.gateway.check()?;
        }
        self.config.refuse_shared(self.log_file.as_deref())?;
        self.config.refuse_unserved()
    }

    /// Serves until a stop signal.
    pub fn run(self, _: Output) -> Result<(), Failure> {
        let server = Server::start(&self.config)?;
        // The port is taken: the browser waits until it is served.
        if let Some(address) = server.planning_address().filter(|_| self.open) {
            browser::open(&format!("http://{}", reachable(address)));
        }
        server.run()
    }
}

/// Address of this machine at which a server that listens on all addresses answers.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_opens_an_address_of_this_machine() {
        for (address, expected) in [
            ("0.0.0.0:8787", "127.0.0.1:8787"),
            ("[::]:1", "[::1]:1"),
            ("10.0.0.1:2", "10.0.0.1:2"),
        ] {
            assert_eq!(reachable(address.parse().unwrap()).to_string(), expected);
        }
    }
}
