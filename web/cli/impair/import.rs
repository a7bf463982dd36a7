//! `impair import`: rules of `tc` as a request of the daemon.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use groundwave_http::Failure;
use groundwave_http::option_value::require_file;
use groundwave_io_impair::impairment_spec::derived_burst_bytes;
use groundwave_kernel::batch::Batch;
use groundwave_kernel::{ForeignQdisc, foreign_qdiscs, import, parse_tc_listing};
use serde_json::json;

use crate::cli::output::{self, Output};

/// Print the request that is equal to rules of tc on an interface
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Import {
    /// Interface, also of a listing of several
    #[arg(value_name = "INTERFACE", required_unless_present = "tc")]
    interface: Option<String>,

    /// Read the output of `tc -j qdisc show` in place of the kernel; - reads standard input
    #[arg(long, value_name = "FILE")]
    tc: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  groundwave impair import lo
  groundwave impair import --tc examples/qdiscs.json
  groundwave impair import eth1 --json | jq .omissions
  tc -j qdisc show dev eth1 | groundwave impair import --tc -

The output is the body of `PUT /v1/impairments/port1` of the daemon. Chains of netem, tbf and a queue are
read, with any handles. What a request has no field for is a warning on stderr, with --json a member
`omissions` beside `impairment`. Nothing is changed, and no daemon is needed.";

/// Maximum length of a listing, bytes: that of some ten thousand interfaces.
const LISTING_BYTES_MAX: u64 = 16 << 20;

impl Import {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let qdiscs = match &self.tc {
            Some(path) => {
                if path != Path::new("-") {
                    require_file("--tc", path, "the output of `tc -j qdisc show`")?;
                }
                let text = listing(path)?;
                parse_tc_listing(&text, self.interface.as_deref()).map_err(Failure::Input)?
            }
            None => of_kernel(self.interface.as_deref().unwrap_or_default())?,
        };
        let imported = import(&qdiscs, derived_burst_bytes);
        if output.json {
            let (impairment, omissions) = (imported.impairment, imported.omissions);
            return output.json(&json!({ "impairment": impairment, "omissions": omissions }));
        }
        for omission in &imported.omissions {
            output::note(&output::warning(&format!("not expressed: {omission}")));
        }
        let request =
            serde_json::to_string_pretty(&imported.impairment).map_err(Failure::machine)?;
        output.text(&format!("{request}\n"))
    }
}

/// Text of a listing.
fn listing(path: &Path) -> Result<String, Failure> {
    let failed = |err: std::io::Error| Failure::Input(format!("read {}: {err}", path.display()));
    let mut text = String::new();
    let read = match path == Path::new("-") {
        true => std::io::stdin().take(LISTING_BYTES_MAX).read_to_string(&mut text),
        false => std::fs::File::open(path)
            .and_then(|file| file.take(LISTING_BYTES_MAX).read_to_string(&mut text)),
    };
    read.map_err(failed)?;
    Ok(text)
}

/// Disciplines of an interface in the kernel.
fn of_kernel(interface: &str) -> Result<Vec<ForeignQdisc>, Failure> {
    let mut batch = Batch::open(None).map_err(Failure::machine)?;
    foreign_qdiscs(&mut batch, interface).map_err(Failure::input)
}
