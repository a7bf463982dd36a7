//! Values of a link that are set by hand in a running testbed, and given back to the model.

use axum::http::Method;
use clap::Args;
use groundwave_http::Failure;
use groundwave_io_impair::quantity::{self, InvalidQuantity};
use groundwave_simulation::testbed::ManualShape;
use groundwave_web_testbed::wire::NewLinkShape;

use super::Selection;
use super::client::request;
use super::show::show_change;
use crate::cli::output::Output;

/// Set values of a link by hand, in place of those of the model
#[derive(Args)]
#[command(after_help = SET_EXAMPLES)]
pub struct Set {
    #[command(flatten)]
    ends: Ends,
    /// Packet loss: 10%
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    loss: Option<String>,
    /// Data rate: 2mbit
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    rate: Option<String>,
    /// Mean delay: 20ms
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    delay: Option<String>,
    /// Standard deviation of the delay: 2ms
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    jitter: Option<String>,
    #[command(flatten)]
    selection: Selection,
}

const SET_EXAMPLES: &str = "\
Examples:
  groundwave testbed set west north --loss 10% --delay 20ms
  groundwave testbed set west north --rate 2mbit --one-way
  groundwave testbed release west north

What no option names follows the model: nodes that move change it still. Each call replaces what was set
by hand before. A link that is down stays down. Routes of `static` are those of the model.";

/// Give a link back to the model
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed release west north")]
pub struct Release {
    #[command(flatten)]
    ends: Ends,
    #[command(flatten)]
    selection: Selection,
}

/// The nodes of a link.
#[derive(Args)]
struct Ends {
    /// Short name of the node that sends
    from: String,
    /// Short name of the node that receives
    to: String,
    /// Only in this direction [default: both]
    #[arg(long)]
    one_way: bool,
}

impl Ends {
    fn put(
        self,
        values: ManualShape,
        selection: &Selection,
        output: Output,
    ) -> Result<(), Failure> {
        let state = selection.state()?;
        let put = |from: &str, to: &str| {
            let body = NewLinkShape { from: from.to_owned(), to: to.to_owned(), values };
            request(&state, Method::PUT, "/v1/links/values", Some(&body))
        };
        let mut testbed = put(&self.from, &self.to)?;
        if !self.one_way {
            testbed = put(&self.to, &self.from)?;
        }
        show_change(&testbed, output)
    }
}

impl Set {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let values = ManualShape {
            loss_prob: read("loss", self.loss, quantity::percent)?.map(|percent| percent / 100.0),
            rate_bps: read("rate", self.rate, quantity::rate_bps)?,
            delay_ns: read("delay", self.delay, quantity::duration_ns)?,
            jitter_ns: read("jitter", self.jitter, quantity::duration_ns)?,
        };
        if values.is_empty() {
            let message = "nothing to set, allowed --loss, --rate, --delay, --jitter; `testbed release` gives a \
                           link back to the model";
            return Err(Failure::Input(message.to_owned()));
        }
        self.ends.put(values, &self.selection, output)
    }
}

impl Release {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        self.ends.put(ManualShape::default(), &self.selection, output)
    }
}

/// The value of an option.
fn read<T>(
    option: &str,
    text: Option<String>,
    parse: impl FnOnce(&str) -> Result<T, InvalidQuantity>,
) -> Result<Option<T>, Failure> {
    let parsed = text.as_deref().map(parse).transpose();
    parsed.map_err(|what| Failure::Input(format!("invalid --{option}: {what}")))
}
