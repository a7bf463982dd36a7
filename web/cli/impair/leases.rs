//! `impair leases`, and the wait of `impair set --for` for the end of its lease.

use std::fmt::Write as _;
use std::time::Duration;

use clap::{Args, Subcommand};
use groundwave_http::Failure;
use groundwave_http::serve::shutdown_signal;
use groundwave_impair::{Direction, Impairment, ImpairmentField};
use groundwave_impaird::play_lease::LeaseClient;
use groundwave_impaird::wire::{LeaseChange, LeaseRecord, NewLease};
use groundwave_io_impair::impairment_spec::ImpairmentSpec;
use groundwave_io_impair::leases::Owner;
use groundwave_io_impair::quantity::print_duration;
use groundwave_text::{Align, Table};

use super::client::Client;
use super::show::show;
use crate::cli::output::{self, Output};

/// List the leases: changes that end by themselves
#[derive(Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Leases {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// End a lease now
    #[command(after_help = "Examples:\n  groundwave impair leases cancel 3")]
    Cancel {
        /// Number of the lease
        #[arg(value_name = "ID")]
        id: u64,
    },
}

const EXAMPLES: &str = "\
Examples:
  groundwave impair leases
  groundwave impair leases --json | jq .[].ends_at_wall
  groundwave impair leases cancel 3

`impair set --for` begins a lease, `impair play` holds one while it plays. The daemon ends them at their
times, also when the program that asked was killed, and when the daemon was restarted meanwhile.";

/// Time within which the daemon has ended a lease that is over.
const END_WAIT: Duration = Duration::from_secs(10);
/// Time between two looks for the end of a lease.
const LOOK: Duration = Duration::from_secs(1);
/// Time between two looks for the end of a lease that is over.
const SHORT_LOOK: Duration = Duration::from_millis(50);

impl Leases {
    pub async fn run(self, client: &mut Client, output: Output) -> Result<(), Failure> {
        let Some(Command::Cancel { id }) = self.command else {
            let leases = client.leases().await?;
            return match output.json {
                true => output.json(&leases),
                false => output.text(&text(&leases)),
            };
        };
        match client.cancel_lease(id).await? {
            Some(lease) if output.json => output.json(&lease),
            Some(_) => output.text(&format!("lease {id} ended\n")),
            None => {
                let leases = client.leases().await?;
                let ids: Vec<_> = leases.iter().map(|lease| lease.id.to_string()).collect();
                let ids = match ids.is_empty() {
                    true => "none".to_owned(),
                    false => ids.join(", "),
                };
                let what = format!("invalid lease: found {id}, allowed {ids}");
                Err(Failure::Input(what))
            }
        }
    }
}

fn holder(owner: &Owner) -> String {
    match (&owner.name, owner.uid, owner.pid) {
        (Some(name), ..) => name.clone(),
        (None, Some(uid), Some(pid)) => format!("uid {uid}, pid {pid}"),
        (None, Some(uid), None) => format!("uid {uid}"),
        (None, None, _) => "unknown".to_owned(),
    }
}

/// Fields that a lease sets in a direction; fields that it removes are `none`.
fn set_fields(lease: &LeaseRecord, direction: Direction) -> Option<String> {
    let change = lease.changes.get(direction)?;
    let spec = ImpairmentSpec::of(&change.impairment).entries();
    let mut texts = Vec::new();
    for field in change.fields.iter().flatten() {
        if *field == ImpairmentField::Rules {
            texts.extend(set_rules(change));
            continue;
        }
        let mut alone = Impairment::default();
        field.copy(&change.impairment, &mut alone);
        let words = ImpairmentSpec::of(&alone).words();
        match words.is_empty() {
            true if change
                .fields
                .as_ref()
                .is_some_and(|fields| fields.len() < ImpairmentField::ALL.len()) =>
            {
                texts.push(format!("{} none", field.name()));
            }
            _ => texts.extend(words),
        }
    }
    if spec.is_empty() && texts.is_empty() {
        texts.push("no impairment".to_owned());
    }
    Some(texts.join(", "))
}

/// Rules that a lease sets; those that it removes are `none`.
fn set_rules(change: &LeaseChange) -> Vec<String> {
    let rules = change.impairment.rules.iter().flat_map(|rules| &rules.0);
    let names: Vec<_> = rules.clone().map(|rule| rule.name.clone()).collect();
    let names = match &change.rules {
        None if names.is_empty()
            && change.fields.as_ref().is_some_and(|fields| fields.len() == 1) =>
        {
            return vec!["rules none".to_owned()];
        }
        leased => leased.clone().unwrap_or(names),
    };
    let mut excluded = Vec::new();
    let mut texts = Vec::new();
    for name in names {
        match rules.clone().find(|rule| rule.name == name) {
            None => texts.push(format!("rule {name} none")),
            Some(rule) if rule.exclude => excluded.push(name),
            Some(rule) => {
                let own = rule.impairment.clone().unwrap_or_default();
                texts.push(format!("rule {name} {}", ImpairmentSpec::of(&own).words().join(" ")));
            }
        }
    }
    if !excluded.is_empty() {
        texts.push(format!("excluded {}", excluded.join(" ")));
    }
    texts
}

fn text(leases: &[LeaseRecord]) -> String {
    if leases.is_empty() {
        return "no lease\n".to_owned();
    }
    let mut table = Table::new(&[
        ("lease", Align::Right),
        ("ends in", Align::Right),
        ("direction", Align::Left),
        ("sets", Align::Left),
        ("holder", Align::Left),
    ]);
    for lease in leases {
        for direction in lease.changes.directions() {
            if let Some(sets) = set_fields(lease, direction) {
                // Tenths are enough to read.
                let left_ns = lease.remaining / 100_000_000 * 100_000_000;
                table.row([
                    lease.id.to_string(),
                    print_duration(left_ns),
                    direction.to_string(),
                    sets,
                    holder(&lease.owner),
                ]);
            }
        }
    }
    output::table(&table, None)
}

/// Begins a lease, shows what is in force, and waits for its end unless `detach`. Ctrl-C ends it.
pub async fn lease(
    client: &mut Client,
    new: &NewLease,
    detach: bool,
    output: Output,
) -> Result<(), Failure> {
    let stopped = shutdown_signal()?;
    let lease = client.begin_lease(new).await?;
    let mut states = Vec::new();
    for direction in lease.changes.directions() {
        states.push(client.fetch(direction).await?);
    }
    show(&states, output)?;
    if !output.json {
        let mut note = String::new();
        let id = lease.id;
        let ends = print_duration(new.duration_ns);
        let _ =
            writeln!(note, "lease {id} ends in {ends}; `impair leases cancel {id}` ends it now");
        output.text(&note)?;
    }
    if detach {
        return Ok(());
    }
    tokio::select! {
        () = wait(client, &lease, new.duration_ns) => Ok(()),
        () = stopped => {
            // On a separate connection: a request may be in progress on the other.
            let mut client = client.reconnect().await?;
            client.cancel_lease(lease.id).await.map(drop)
        }
    }
}

/// Waits until a lease has ended. A daemon that is away ends it when it is back.
async fn wait(client: &Client, lease: &LeaseRecord, duration_ns: u64) {
    let begun = tokio::time::Instant::now();
    let ends = begun + Duration::from_nanos(duration_ns);
    loop {
        let remaining = ends.saturating_duration_since(tokio::time::Instant::now());
        let pause = if remaining.is_zero() { SHORT_LOOK } else { remaining.min(LOOK) };
        tokio::time::sleep(pause).await;
        let is_late = tokio::time::Instant::now() >= ends + END_WAIT;
        let Ok(mut client) = client.reconnect().await else {
            if is_late {
                return;
            }
            continue;
        };
        let Ok(leases) = client.leases().await else {
            continue;
        };
        if is_late || !leases.iter().any(|other| other.id == lease.id) {
            return;
        }
    }
}
