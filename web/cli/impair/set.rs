//! `impair set` and `impair clear`: changes of the state of ports.

use clap::Args;
use groundwave_http::Failure;
use groundwave_impair::{Direction, Impairment};
use groundwave_impaird::wire::{AppliedState, LeaseChange, LeaseChanges, NewLease, SystemRecord};
use groundwave_io_impair::impairment_spec::ImpairmentSpec;
use groundwave_io_impair::quantity;
use groundwave_io_impair::timeline::resolve;
use groundwave_kernel::{incoming_commands, tc_commands};
use serde::Serialize;

use super::Side;
use super::client::Client;
use super::leases::lease;
use super::options::ImpairmentOptions;
use super::rules::{self, RuleOptions};
use super::show::{Outcomes, show};
use crate::cli::output::Output;

/// Replace the impairments of a direction
#[derive(Args)]
#[command(after_help = SET_EXAMPLES)]
pub struct Set {
    /// Direction: port1 to port32, both (port1 and port2), or all ports of the daemon
    #[arg(hide_possible_values = true)]
    direction: Side,

    /// Preset to start from; options override it. Ports with odd numbers are its downlink, the others its
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
    rule: RuleOptions,

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
  groundwave impair set port1 --match \"proto udp dport 5000-5100 dst 10.1.0.0/16\" --rule voip --loss 2%
  groundwave impair set port1 --match \"src 10.9.0.0/24\" --rule monitoring --exclude

The state is replaced as a whole: `set port1 --loss 1%` alone removes a delay. With --keep, options
change the state in force. With --for, and --keep or not, what is set lies over the state that is set
without --for, which it returns to; of leases that overlap the one that began last is in force. Without
--for, the state beneath the leases is set: their fields change when they end.

With --match, the options are the impairment of a rule. The first rule whose conditions a packet meets
decides; the impairment of the direction is that of packets which meet none, such as fragments without
ports, ARP and frames with a VLAN tag. --keep keeps the rules, and with --match the options of the rule.";

/// Remove all impairments of a direction
#[derive(Args)]
#[command(after_help = CLEAR_EXAMPLES)]
pub struct Clear {
    /// Direction: port1 to port32, both (port1 and port2), or all ports of the daemon
    #[arg(default_value = "all", hide_possible_values = true)]
    direction: Side,

    /// Remove this rule alone
    #[arg(long, value_name = "NAME")]
    rule: Option<String>,
}

const CLEAR_EXAMPLES: &str = "\
Examples:
  groundwave impair clear
  groundwave impair clear port2
  groundwave impair clear port1 --rule voip

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
        let rule = self.rule.rule()?;
        let excludes = rule.as_ref().is_some_and(|rule| rule.exclude);
        if excludes && !(words.is_empty() && self.preset.is_none()) {
            let message = "invalid --exclude: found beside an impairment, allowed without one";
            return Err(Failure::Input(message.to_owned()));
        }
        if words.is_empty() && self.preset.is_none() && !excludes {
            let message = "nothing to set, allowed --preset or options such as --delay 50ms; `impair \
                           clear` removes all impairments";
            return Err(Failure::Input(message.to_owned()));
        }
        let system = client.system().await?;
        let mut requested = Vec::new();
        for direction in self.direction.directions(client).await? {
            let below = match self.keep || rule.is_some() {
                true => below(client.fetch(direction).await?, lasts.is_some()),
                false => Impairment::default(),
            };
            let present = rule.as_ref().map_or(below.clone(), |rule| rule.present(&below));
            let over = match self.keep {
                true => ImpairmentSpec::of(&present).with(&words),
                false => words.clone(),
            };
            let impairment = resolve(self.preset.as_deref(), &over, direction);
            let impairment = impairment.map_err(|(key, what)| {
                let option = key.strip_prefix("set.").unwrap_or(&key).replace('_', "-");
                Failure::Input(format!("--{option}: {what}"))
            })?;
            let mut impairment = impairment;
            if words.burst.is_none() {
                system.fit_derived_burst(direction, &mut impairment);
            }
            let whole = match &rule {
                Some(rule) => rule.add(&below, impairment)?,
                None => Impairment { rules: below.rules, ..impairment },
            };
            requested.push((direction, whole));
        }
        if self.print_tc {
            return print_tc(&system, &requested, output);
        }
        if let Some(duration_ns) = lasts {
            let fields = match &rule {
                Some(_) => Some(rules::fields()),
                None => self.keep.then(|| words.fields()),
            };
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

/// State of a direction that a change starts from.
fn below(state: AppliedState, is_lease: bool) -> Impairment {
    match (state.base, is_lease) {
        // Without a lease, what leases set is not kept.
        (Some(base), false) => base,
        _ => state.impairment,
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
            let (device, mut commands) = match port.incoming {
                true => incoming_commands(&port.interface),
                false => (port.interface.as_str(), Vec::new()),
            };
            let printed = tc_commands(device, impairment, netem).map_err(Failure::input)?;
            commands.extend(printed.commands);
            if let Some(namespace) = &port.namespace {
                commands.insert(0, format!("# in the network namespace {namespace}"));
            }
            ports.push(PortCommands {
                direction: *direction,
                interface: port.interface.clone(),
                commands,
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
        let mut outcomes = Outcomes::default();
        for direction in self.direction.directions(client).await? {
            outcomes.add(direction, self.clear(client, direction).await);
        }
        outcomes.show(output)
    }

    async fn clear(
        &self,
        client: &mut Client,
        direction: Direction,
    ) -> Result<AppliedState, Failure> {
        let Some(name) = &self.rule else {
            return client.clear(direction).await;
        };
        let below = below(client.fetch(direction).await?, false);
        let remainder = rules::without(&below, name)?;
        client.replace(direction, &remainder).await
    }
}
