//! `impair show` and `impair system`: state and capabilities of the daemon.

use std::fmt::Write as _;

use clap::Args;
use groundwave_http::Failure;
use groundwave_impair::Direction;
use groundwave_impaird::wire::{AppliedState, SystemRecord};
use groundwave_io_impair::impairment_spec::ImpairmentSpec;
use groundwave_text::{Align, Table};

use super::client::Client;
use super::{Side, rules};
use crate::cli::output::{self, Output, word};

/// Show the impairments in force in the kernel
#[derive(Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub struct Show {
    /// Direction: port1 to port32, both (port1 and port2), or all ports of the daemon
    #[arg(default_value = "all", hide_possible_values = true)]
    direction: Side,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  groundwave impair show
  groundwave impair show port1 --json | jq .impairment.latency

Values are in the notation of `impair set`. Differences between the requested and the kernel state
are listed below with their kind: differs, unverifiable, foreign or unsupported.";

/// Show ports and capabilities of the daemon
#[derive(Args)]
#[command(after_help = SYSTEM_EXAMPLES)]
pub struct System {}

const SYSTEM_EXAMPLES: &str = "\
Examples:
  groundwave impair system
  groundwave impair system --json | jq .capabilities";

impl Show {
    pub async fn run(self, client: &mut Client, output: Output) -> Result<(), Failure> {
        let mut outcomes = Outcomes::default();
        for direction in self.direction.directions(client).await? {
            outcomes.add(direction, client.fetch(direction).await);
        }
        outcomes.show(output)
    }
}

/// Outcomes of several ports: one that fails does not keep the others from being done and shown.
#[derive(Default)]
pub struct Outcomes {
    states: Vec<AppliedState>,
    failures: Vec<(Direction, Failure)>,
}

impl Outcomes {
    /// Adds the outcome of a port.
    pub fn add(&mut self, direction: Direction, outcome: Result<AppliedState, Failure>) {
        match outcome {
            Ok(state) => self.states.push(state),
            Err(failure) => self.failures.push((direction, failure)),
        }
    }

    /// Shows the states of the ports that have one; fails with the reasons of the others, each with its port.
    ///
    /// # Errors
    /// When a port failed, or the output does.
    pub fn show(mut self, output: Output) -> Result<(), Failure> {
        if self.states.is_empty() && self.failures.len() == 1 {
            return Err(self.failures.remove(0).1);
        }
        if !self.states.is_empty() {
            show(&self.states, output)?;
        }
        let is_machine = self.failures.iter().any(|(_, it)| !matches!(it, Failure::Input(_)));
        let reasons =
            self.failures.iter().map(|(port, it)| format!("{}: {}", port.name(), it.message()));
        let reasons: Vec<_> = reasons.collect();
        match reasons.is_empty() {
            true => Ok(()),
            false if is_machine => Err(Failure::Machine(reasons.join("; "))),
            false => Err(Failure::Input(reasons.join("; "))),
        }
    }
}

impl System {
    pub async fn run(self, client: &mut Client, output: Output) -> Result<(), Failure> {
        let record = client.system().await?;
        if output.json {
            return output.json(&record);
        }
        output.text(&system(&record))
    }
}

/// Shows states: one document, or a list of several.
pub fn show(states: &[AppliedState], output: Output) -> Result<(), Failure> {
    if output.json {
        return match states {
            [one] => output.json(one),
            several => output.json(&several),
        };
    }
    output.text(&text(states))
}

fn text(states: &[AppliedState]) -> String {
    let mut heads = vec![("", Align::Left)];
    heads.extend(states.iter().map(|state| (state.direction.name(), Align::Left)));
    let mut table = Table::new(&heads);
    let specs: Vec<ImpairmentSpec> =
        states.iter().map(|state| ImpairmentSpec::of(&state.impairment)).collect();
    for (place, key) in ImpairmentSpec::KEYS.into_iter().enumerate() {
        let cells: Vec<_> = specs.iter().map(|spec| spec.texts()[place]).collect();
        if cells.iter().any(|cell| cell.is_some()) {
            let cells = cells.into_iter().map(|cell| cell.clone().unwrap_or_default());
            table.row([key.replace('_', " ")].into_iter().chain(cells));
        }
    }
    let rules = rules::tables(states);
    let mut out = if table.is_empty() && rules.is_empty() {
        let names: Vec<_> = states.iter().map(|state| state.direction.name()).collect();
        format!("{}: no impairment\n", names.join(", "))
    } else {
        output::table(&table, None)
    };
    out.push_str(&rules);
    for state in states {
        let direction = state.direction;
        for item in &state.divergence {
            let kind = output::warning(&word(&item.kind));
            let _ = writeln!(out, "{direction} {kind}: {}", item.message);
        }
        for item in &state.warnings {
            let kind = output::warning("warning");
            let _ = writeln!(out, "{direction} {kind}: {}: {}", item.field, item.message);
        }
    }
    out
}

fn system(record: &SystemRecord) -> String {
    let mut ports = Table::new(&[
        ("direction", Align::Left),
        ("interface", Align::Left),
        ("traffic", Align::Left),
        ("bus address", Align::Left),
    ]);
    for port in &record.ports {
        let bdf = if port.bdf.is_empty() { "unknown" } else { &port.bdf };
        let traffic = if port.incoming { "incoming" } else { "leaving" };
        let interface = match &port.namespace {
            Some(namespace) => format!("{namespace}/{}", port.interface),
            None => port.interface.clone(),
        };
        let cells = [port.direction.name(), &interface, traffic, bdf];
        ports.row(cells.map(str::to_owned));
    }
    let can = &record.capabilities;
    let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let kinds: Vec<_> =
        can.supports_distributions.iter().map(|record| record.kind.as_str()).collect();
    let mut abilities = Table::new(&[("capability", Align::Left), ("", Align::Left)]);
    abilities.row(["latency".to_owned(), yes(can.supports_latency)]);
    abilities.row(["loss".to_owned(), yes(can.supports_loss_bernoulli)]);
    abilities.row(["two-state loss".to_owned(), yes(can.supports_loss_gilbert_elliott)]);
    abilities.row(["rate".to_owned(), yes(can.supports_rate)]);
    abilities.row(["distributions".to_owned(), kinds.join(", ")]);
    abilities.row(["rules".to_owned(), yes(can.supports_rules)]);
    abilities.row(["incoming traffic".to_owned(), yes(can.supports_incoming)]);
    let mut out = format!(
        "impaird {}, {} {}\n\n{}\n{}",
        record.version,
        can.backend_name,
        can.backend_version,
        output::table(&ports, None),
        output::table(&abilities, None)
    );
    for missing in &can.missing {
        let what = output::warning("missing");
        let _ = writeln!(out, "{what}: {} (kernel module {})", missing.kind, missing.module);
    }
    out
}
