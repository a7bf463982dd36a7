//! `impair set` and `impair clear`: changes of the state of ports.

use clap::Args;
use groundwave_http::Failure;
use groundwave_impair::{Direction, Impairment};
use groundwave_impaird::wire::{LeaseChange, LeaseChanges, NewLease, SystemRecord};
use groundwave_io_impair::impairment_spec::ImpairmentSpec;
use groundwave_io_impair::quantity;
use groundwave_io_impair::timeline::resolve;
use groundwave_kernel::tc_commands;
use serde::Serialize;

use super::Side;
use super::client::Client;
use super::leases::lease;
use super::options::ImpairmentOptions;
use super::show::show;
use crate::cli::output::Output;

/// Replace the impairments of a direction
#[derive(Args)]
#[command(after_help = SET_EXAMPLES)]
pub struct Set {
    /// Direction
    direction: Side,

    /// Preset to start from; options override it. With `both`, port1 is its downlink and port2 its
    /// uplink; `lte:up` and `lte:down` name a side
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,

    /// Keep impairments that no option names; without it they are removed
    #[arg(long, conflicts_with = "preset")]
    keep: bool,

    /// Lease: return to the state beneath after this time, and on Ctrl-C: 60s. The daemon ends it,
    /// whatever becomes of this program
    #[arg(long = "for", value_name = "TIME")]
    lasts: Option<String>,

    /// Do not wait for the end of the lease
    #[arg(long, requires = "lasts")]
    detach: bool,

    /// Name of the holder of the lease, shown by `impair leases`
    #[arg(long, value_name = "NAME", requires = "lasts")]
    owner: Option<String>,

    /// Print the equivalent commands of tc, for interfaces without impairments, and change nothing
    #[arg(long, conflicts_with = "lasts")]
    print_tc: bool,

    #[command(flatten)]
    options: ImpairmentOptions,
}

const SET_EXAMPLES: &str = "\
Examples:
  groundwave impair set port1 --delay 50ms --loss 1%
  groundwave impair set port1 --keep --rate 10mbit
  groundwave impair set port1 --keep --loss none
  groundwave impair set both --preset lte --loss 0.5%
  groundwave impair set port1 --loss 100% --for 60s
  groundwave impair set port1 --delay 50ms --print-tc

The state is replaced as a whole: `set port1 --loss 1%` alone removes a delay. With --keep, options
change the state in force. With --for, and --keep or not, what is set lies over the state that is set
without --for, which it returns to; of leases that overlap the one that began last is in force. Without
--for, the state beneath the leases is set: their fields change when they end.";

/// Remove all impairments of a direction
#[derive(Args)]
#[command(after_help = CLEAR_EXAMPLES)]
pub struct Clear {
    /// Direction
    #[arg(default_value = "both")]
    direction: Side,
}

const CLEAR_EXAMPLES: &str = "\
Examples:
  groundwave impair clear
  groundwave impair clear port2

A root qdisc of another program stays in place and is reported.";

impl Set {
    pub async fn run(self, client: &mut Client, output: Output) -> Result<(), Failure> {
        let lasts = self
            .lasts
            .as_deref()
            .map(quantity::duration_ns)
            .transpose()
            .map_err(|what| Failure::Input(format!("--for: {what}")))?;
        let ImpairmentOptions(words) = self.options;
        if words.is_empty() && self.preset.is_none() {
            let message = "nothing to set, allowed --preset or options such as --delay 50ms; `impair \
                           clear` removes all impairments";
            return Err(Failure::Input(message.to_owned()));
        }
        let mut requested = Vec::new();
        for direction in self.direction.directions() {
            let over = if self.keep {
                let state = client.fetch(direction).await?;
                // Without a lease, what leases set is not kept.
                let below = match (&state.base, &lasts) {
                    (Some(base), None) => base,
                    _ => &state.impairment,
                };
                ImpairmentSpec::of(below).with(&words)
            } else {
                words.clone()
            };
            let impairment = resolve(self.preset.as_deref(), &over, direction);
            let impairment = impairment.map_err(|(key, what)| {
                let option = key.strip_prefix("set.").unwrap_or(&key).replace('_', "-");
                Failure::Input(format!("--{option}: {what}"))
            })?;
            requested.push((direction, impairment));
        }
        let system = client.system().await?;
        if words.burst.is_none() {
            for (direction, impairment) in &mut requested {
                system.fit_derived_burst(*direction, impairment);
            }
        }
        if self.print_tc {
            return print_tc(&system, &requested, output);
        }
        if let Some(duration_ns) = lasts {
            let fields = self.keep.then(|| words.fields());
            let mut changes = LeaseChanges::default();
            for (direction, impairment) in requested {
                let fields = fields.clone();
                changes.set(direction, LeaseChange { impairment, fields });
            }
            let owner = self.owner;
            let new = NewLease { duration_ns, owner, changes };
            return lease(client, &new, self.detach, output).await;
        }
        // All are parsed before the first is applied.
        let mut states = Vec::new();
        for (direction, impairment) in requested {
            states.push(client.replace(direction, &impairment).await?);
        }
        show(&states, output)
    }
}

/// Commands of tc for an interface.
#[derive(Serialize)]
struct PortCommands {
    direction: Direction,
    interface: String,
    commands: Vec<String>,
    /// Reasons why `tc` cannot set the rest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    omissions: Vec<&'static str>,
}

fn print_tc(
    system: &SystemRecord,
    requested: &[(Direction, Impairment)],
    output: Output,
) -> Result<(), Failure> {
    let mut ports = Vec::new();
    for port in &system.ports {
        let changes = requested.iter().filter(|(direction, _)| *direction == port.direction);
        for (direction, impairment) in changes {
            let netem = system.capabilities.supports_latency;
            let printed =
                tc_commands(&port.interface, impairment, netem).map_err(Failure::input)?;
            ports.push(PortCommands {
                direction: *direction,
                interface: port.interface.clone(),
                commands: printed.commands,
                omissions: printed.omissions,
            });
        }
    }
    if output.json {
        return output.json(&ports);
    }
    let mut text = String::new();
    for port in &ports {
        text.extend(port.omissions.iter().map(|reason| format!("# {reason}\n")));
        text.extend(port.commands.iter().map(|command| format!("{command}\n")));
    }
    output.text(&text)
}

impl Clear {
    pub async fn run(self, client: &mut Client, output: Output) -> Result<(), Failure> {
        let mut states = Vec::new();
        for direction in self.direction.directions() {
            states.push(client.clear(direction).await?);
        }
        show(&states, output)
    }
}
