//! `impair set` and `impair clear`: changes of the state of ports.

use clap::Args;
use groundwave_http::Failure;
use groundwave_impair::{Direction, Impairment, ImpairmentField};
use groundwave_impaird::wire::{
    AppliedState, DURATION_NS_MAX, DURATION_NS_MIN, LeaseChange, LeaseChanges, NewLease,
    SystemRecord,
};
use groundwave_io_impair::impairment_spec::ImpairmentSpec;
use groundwave_io_impair::quantity;
use groundwave_io_impair::timeline::resolve;
use groundwave_kernel::{incoming_commands, tc_commands};
use serde::Serialize;

use super::Side;
use super::client::Client;
use super::leases::lease;
use super::options::ImpairmentOptions;
use super::rules::{self, NewRule, RuleOptions};
use super::show::Outcomes;
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
    #[arg(long = "for", value_name = "TIME", allow_hyphen_values = true)]
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
change the state in force; clients that do so at the same time lose nothing. With --for, and --keep or not, what is set lies over the state that is set
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
        let lasts = self.lasts.as_deref().map(lease_ns).transpose()?;
        let change = Change {
            preset: self.preset,
            words: self.options.0,
            rule: self.rule.rule()?,
            keep: self.keep,
        };
        change.check()?;
        let system = client.system().await?;
        let directions = self.direction.directions(client).await?;
        if let Some(duration_ns) = lasts {
            let mut changes = LeaseChanges::default();
            for direction in directions {
                let present = change.present(client, direction).await?;
                changes.set(direction, change.lease(&system, direction, present.as_ref())?);
            }
            let new = NewLease { duration_ns, owner: self.owner, changes };
            return lease(client, &new, self.detach, output).await;
        }
        // All are valid before the first is applied.
        let mut requested = Vec::new();
        for direction in &directions {
            let present = change.present(client, *direction).await?;
            requested.push((*direction, change.state(&system, *direction, present.as_ref())?));
        }
        if self.print_tc {
            return print_tc(&system, &requested, output);
        }
        let mut outcomes = Outcomes::default();
        for (direction, impairment) in requested {
            let edit = |present: &AppliedState| change.state(&system, direction, Some(present));
            let outcome = match change.is_edit() {
                true => client.edit(direction, edit).await,
                false => client.replace(direction, &impairment).await,
            };
            outcomes.add(direction, outcome);
        }
        outcomes.show(output)
    }
}

/// Duration of a lease, ns.
fn lease_ns(text: &str) -> Result<u64, Failure> {
    let invalid = |what: String| Failure::Input(format!("invalid --for: {what}"));
    let duration_ns = quantity::duration_ns(text).map_err(|what| invalid(what.to_string()))?;
    match (DURATION_NS_MIN..=DURATION_NS_MAX).contains(&duration_ns) {
        true => Ok(duration_ns),
        false => Err(invalid(format!("found {text:?}, allowed 1ms to 8784h"))),
    }
}

/// Change that the options are about.
struct Change {
    preset: Option<String>,
    words: ImpairmentSpec,
    rule: Option<NewRule>,
    keep: bool,
}

impl Change {
    fn check(&self) -> Result<(), Failure> {
        let has_impairment = !self.words.is_empty() || self.preset.is_some();
        let excludes = self.rule.as_ref().is_some_and(|rule| rule.exclude);
        match (excludes, has_impairment) {
            (true, true) => Err(Failure::Input(
                "invalid --exclude: found beside an impairment, allowed without one".to_owned(),
            )),
            (false, false) => Err(Failure::Input(
                "nothing to set, allowed --preset or options such as --delay 50ms; `impair clear` \
                 removes all impairments"
                    .to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// `true` where the new state depends on the present one.
    fn is_edit(&self) -> bool {
        self.keep || self.rule.is_some()
    }

    /// Present state of a direction, where the change depends on it.
    async fn present(
        &self,
        client: &mut Client,
        direction: Direction,
    ) -> Result<Option<AppliedState>, Failure> {
        match self.is_edit() {
            true => client.fetch(direction).await.map(Some),
            false => Ok(None),
        }
    }

    /// New state of a direction beneath its leases.
    fn state(
        &self,
        system: &SystemRecord,
        direction: Direction,
        present: Option<&AppliedState>,
    ) -> Result<Impairment, Failure> {
        let below = present.map(below).unwrap_or_default();
        let impairment = self.impairment(system, direction, &below)?;
        match &self.rule {
            Some(rule) => rule.add(&below, impairment),
            None => Ok(Impairment { rules: below.rules, ..impairment }),
        }
    }

    /// Change of a lease in a direction, over the state in force.
    fn lease(
        &self,
        system: &SystemRecord,
        direction: Direction,
        present: Option<&AppliedState>,
    ) -> Result<LeaseChange, Failure> {
        let in_force = present.map(|present| present.impairment.clone()).unwrap_or_default();
        let impairment = self.impairment(system, direction, &in_force)?;
        if let Some(rule) = &self.rule {
            let base = present.map(below).unwrap_or_default();
            return rule.lease(&in_force, &base, impairment);
        }
        if !self.keep {
            return Ok(LeaseChange { impairment, fields: None, rules: None });
        }
        let fields = self.words.fields();
        let mut own = Impairment::default();
        for field in &fields {
            field.copy(&impairment, &mut own);
        }
        Ok(LeaseChange { impairment: own, fields: Some(fields), rules: None })
    }

    /// The impairment of the options, over that of `state` with `--keep`.
    fn impairment(
        &self,
        system: &SystemRecord,
        direction: Direction,
        state: &Impairment,
    ) -> Result<Impairment, Failure> {
        let present = self.rule.as_ref().map_or(state.clone(), |rule| rule.present(state));
        let over = match self.keep {
            true => ImpairmentSpec::of(&present).with(&self.words),
            false => self.words.clone(),
        };
        let impairment = resolve(self.preset.as_deref(), &over, direction);
        let mut impairment = impairment.map_err(|(key, what)| {
            let option = key.strip_prefix("set.").unwrap_or(&key).replace('_', "-");
            Failure::Input(format!("invalid --{option}: {what}"))
        })?;
        if self.words.burst.is_none() {
            system.fit_derived_burst(direction, &mut impairment);
        }
        if self.keep {
            // Texts have six significant digits.
            let named = self.words.fields();
            for field in ImpairmentField::ALL.into_iter().filter(|field| !named.contains(field)) {
                field.copy(&present, &mut impairment);
            }
        }
        Ok(impairment)
    }
}

/// State of a direction that a change without a lease starts from: what leases set is not kept.
fn below(state: &AppliedState) -> Impairment {
    state.base.clone().unwrap_or_else(|| state.impairment.clone())
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
                let entry = entry(namespace);
                commands = commands.iter().map(|command| format!("{entry} {command}")).collect();
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

/// Beginning of a command that runs in the network namespace of a port.
fn entry(namespace: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let word = |name: &str| match name.chars().all(plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', "'\\''")),
    };
    match namespace.split_once(':') {
        Some(("netns", name)) => format!("ip netns exec {}", word(name)),
        Some(("container", name)) => {
            let pid = format!("docker inspect --format '{{{{.State.Pid}}}}' {}", word(name));
            format!("nsenter --net=/proc/$({pid})/ns/net")
        }
        Some((_, name)) => format!("nsenter --net=/proc/{}/ns/net", word(name)),
        None => format!("ip netns exec {}", word(namespace)),
    }
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
        let edit =
            |present: &AppliedState| rules::without(&below(present), &present.impairment, name);
        client.edit(direction, edit).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_of_a_lease_beyond_its_range_names_the_option() {
        assert!(matches!(lease_ns("1.5s"), Ok(1_500_000_000)));
        for text in ["0", "1us", "8785h", "soon"] {
            let Err(Failure::Input(error)) = lease_ns(text) else { panic!("{text} is refused") };
            assert!(
                error.starts_with(&format!("invalid --for: found {text:?}, allowed ")),
                "{error}"
            );
        }
    }

    #[test]
    fn commands_of_a_port_run_in_its_namespace() {
        for (namespace, expected) in [
            ("netns:blue", "ip netns exec blue"),
            ("netns:it's a", r"ip netns exec 'it'\''s a'"),
            ("pid:12", "nsenter --net=/proc/12/ns/net"),
            (
                "container:web",
                "nsenter --net=/proc/$(docker inspect --format '{{.State.Pid}}' web)/ns/net",
            ),
        ] {
            assert_eq!(entry(namespace), expected);
        }
    }
}
