//! `impair stats` and `impair watch`: counters and rates.

use std::time::Duration;

use clap::Args;
use groundwave_http::Failure;
use groundwave_impair::{Direction, LinkStats};
use groundwave_io_impair::quantity;
use groundwave_text::{Align, Table, bits_per_second};
use serde::Serialize;
use serde_json::json;

use super::client::Client;
use super::{Side, rules};
use crate::cli::output::{self, Output};

/// Show the counters of a direction
#[derive(Args)]
#[command(after_help = STATS_EXAMPLES)]
pub struct Stats {
    /// Direction: port1 to port32, both (port1 and port2), or all ports of the daemon
    #[arg(default_value = "all", hide_possible_values = true)]
    direction: Side,
}

const STATS_EXAMPLES: &str = "\
Examples:
  groundwave impair stats
  groundwave impair stats port1 --json | jq .drops_total";

/// Show rates until stopped
#[derive(Args)]
#[command(after_help = WATCH_EXAMPLES)]
pub struct Watch {
    /// Direction: port1 to port32, both (port1 and port2), or all ports of the daemon
    #[arg(default_value = "all", hide_possible_values = true)]
    direction: Side,

    /// Sampling interval, 1ms or more
    #[arg(long, value_name = "TIME", default_value = "1s", allow_hyphen_values = true)]
    every: String,

    /// Number of samples [default: until stopped]
    #[arg(long, value_name = "N")]
    count: Option<u64>,
}

const WATCH_EXAMPLES: &str = "\
Examples:
  groundwave impair watch
  groundwave impair watch port1 --every 200ms --count 50 --json

Rates are differences of two samples. With --json one document a line.";

/// Rates between two samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Rates {
    direction: Direction,
    /// Interval between the samples, s.
    seconds: f64,
    /// Counters were reset between the samples; rates are 0.
    reset: bool,
    bits_per_s: f64,
    packets_per_s: f64,
    drops_per_s: f64,
    /// Fraction of packets dropped, percent.
    drops_pct: f64,
    backlog_packets: u32,
    backlog_bytes: u32,
}

/// Rates between two samples.
fn rates(direction: Direction, before: &LinkStats, now: &LinkStats) -> Rates {
    let grown = |of: fn(&LinkStats) -> u64| of(now).checked_sub(of(before));
    let seconds = grown(|stats| stats.captured_at_ns).unwrap_or(0) as f64 / 1e9;
    let counters = (
        grown(|stats| stats.bytes_total),
        grown(|stats| stats.packets_total),
        grown(|stats| stats.drops_total),
    );
    let mut measured = Rates {
        direction,
        seconds,
        reset: true,
        bits_per_s: 0.0,
        packets_per_s: 0.0,
        drops_per_s: 0.0,
        drops_pct: 0.0,
        backlog_packets: now.backlog_packets,
        backlog_bytes: now.backlog_bytes,
    };
    // Counters of a restarted daemon decrease; a new qdisc stack counts a reset.
    let same = now.resets_total == before.resets_total && seconds > 0.0;
    if let (Some(bytes), Some(packets), Some(drops)) = counters
        && same
    {
        measured.reset = false;
        measured.bits_per_s = bytes as f64 * 8.0 / seconds;
        measured.packets_per_s = packets as f64 / seconds;
        measured.drops_per_s = drops as f64 / seconds;
        let offered = packets + drops;
        if offered > 0 {
            measured.drops_pct = drops as f64 / offered as f64 * 100.0;
        }
    }
    measured
}

impl Stats {
    pub async fn run(self, client: &mut Client, output: Output) -> Result<(), Failure> {
        let mut samples = Vec::new();
        for direction in self.direction.directions(client).await? {
            samples.push((direction, client.stats(direction).await?));
        }
        if output.json {
            return match &samples[..] {
                [(_, one)] => output.json(one),
                several => output.json(
                    &several
                        .iter()
                        .map(|(direction, stats)| json!({ "direction": direction, "stats": stats }))
                        .collect::<Vec<_>>(),
                ),
            };
        }
        let mut text = output::table(&counters(&samples), None);
        for (direction, stats) in &samples {
            if let Some(table) = rules::counters(direction.name(), stats) {
                text.push('\n');
                text.push_str(&output::table(&table, None));
            }
        }
        output.text(&text)
    }
}

fn counters(samples: &[(Direction, LinkStats)]) -> Table {
    let mut heads = vec![("counter", Align::Left)];
    heads.extend(samples.iter().map(|(direction, _)| (direction.name(), Align::Right)));
    let mut table = Table::new(&heads);
    type Counter = fn(&LinkStats) -> u64;
    let rows: [(&str, Counter); 13] = [
        ("packets out", |stats| stats.packets_total),
        ("bytes out", |stats| stats.bytes_total),
        ("dropped", |stats| stats.drops_total),
        ("  by loss or a full delay queue", |stats| stats.impairment_drops_total),
        ("  larger than the burst", |stats| stats.rate_drops_total),
        ("  by a full queue", |stats| stats.queue_drops_total),
        ("delayed by the rate", |stats| stats.overlimits_total),
        ("reordered", |stats| stats.reordered_total),
        ("packets queued", |stats| stats.backlog_packets.into()),
        ("bytes queued", |stats| stats.backlog_bytes.into()),
        ("interface packets out", |stats| stats.interface_tx_packets_total),
        ("interface bytes out", |stats| stats.interface_tx_bytes_total),
        ("interface dropped", |stats| stats.interface_tx_dropped_total),
    ];
    for (name, counter) in rows {
        let cells = samples.iter().map(|(_, stats)| counter(stats).to_string());
        table.row([name.to_owned()].into_iter().chain(cells));
    }
    table
}

impl Watch {
    pub async fn run(self, client: &mut Client, output: Output) -> Result<(), Failure> {
        let every = quantity::duration_ns(&self.every)
            .map_err(|what| Failure::Input(format!("invalid --every: {what}")))?;
        if every < 1_000_000 {
            let what = format!("invalid --every: found {}, allowed 1ms or more", self.every);
            return Err(Failure::Input(what));
        }
        let directions = self.direction.directions(client).await?;
        let mut before = Vec::new();
        for &direction in &directions {
            before.push(sample(client, direction).await?);
        }
        let mut timer = tokio::time::interval(Duration::from_nanos(every));
        timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        timer.tick().await;
        let mut shown = 0;
        while self.count.is_none_or(|count| shown < count) {
            timer.tick().await;
            for (place, (direction, before)) in directions.iter().zip(&mut before).enumerate() {
                let now = sample(client, *direction).await?;
                if shown == 0 && place == 0 {
                    show_heads(output)?;
                }
                match (&*before, &now) {
                    (Ok(before), Ok(now)) => show(&rates(*direction, before, now), output)?,
                    // The first sample after the port came back.
                    (Err(_), Ok(now)) => show(&rates(*direction, now, now), output)?,
                    (_, Err(what)) => show_failure(*direction, what, output)?,
                }
                *before = now;
            }
            shown += 1;
        }
        Ok(())
    }
}

/// Counters of a port, or the reason why it has none at present, such as an interface that is gone. The
/// daemon must answer.
async fn sample(
    client: &mut Client,
    direction: Direction,
) -> Result<Result<LinkStats, String>, Failure> {
    match client.stats(direction).await {
        Ok(stats) => Ok(Ok(stats)),
        Err(failure @ Failure::Input(_)) => Err(failure),
        Err(failure) => {
            client.system().await?;
            Ok(Err(failure.message().to_owned()))
        }
    }
}

/// Heads of the running table.
fn show_heads(output: Output) -> Result<(), Failure> {
    if output.json {
        return Ok(());
    }
    let head = format!(
        "{:<6} {:>12} {:>10} {:>9} {:>7} {:>12}",
        "", "rate", "packets/s", "drops/s", "drops", "queued"
    );
    output.text(&format!("{}\n", output::heading(&head)))
}

/// The line of a port without counters.
fn show_failure(direction: Direction, what: &str, output: Output) -> Result<(), Failure> {
    if output.json {
        return output.json_line(&json!({ "direction": direction, "problem": what }));
    }
    output.text(&format!("{:<6} {}\n", direction.name(), output::warning(what)))
}

/// One line of the running table.
fn show(row: &Rates, output: Output) -> Result<(), Failure> {
    if output.json {
        return output.json_line(row);
    }
    let line = if row.reset {
        let reset = output::warning("counters reset");
        format!("{:<6} {reset}\n", row.direction.name())
    } else {
        format!(
            "{:<6} {:>12} {:>10.0} {:>9.1} {:>6.2}% {:>12}\n",
            row.direction.name(),
            bits_per_second(row.bits_per_s),
            row.packets_per_s,
            row.drops_per_s,
            row.drops_pct,
            format!("{} packets", row.backlog_packets),
        )
    };
    output.text(&line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_s: u64, bytes: u64, packets: u64, drops: u64) -> LinkStats {
        LinkStats {
            captured_at_ns: at_s * 1_000_000_000,
            bytes_total: bytes,
            packets_total: packets,
            drops_total: drops,
            ..LinkStats::default()
        }
    }

    #[test]
    fn rates_are_differences_over_time() {
        let (before, now) = (sample(10, 1_000, 10, 1), sample(12, 251_000, 210, 11));
        let measured = rates(Direction::PORT1, &before, &now);
        assert!(!measured.reset);
        assert_eq!(
            (measured.bits_per_s, measured.packets_per_s, measured.drops_per_s),
            (1_000_000.0, 100.0, 5.0)
        );
        assert!((measured.drops_pct - 10.0 / 2.1).abs() < 1e-9);
    }

    #[test]
    fn reset_counters_have_no_rates() {
        let before = sample(10, 1_000_000, 1_000, 5);
        let restarted = sample(11, 2_000, 2, 0);
        assert!(rates(Direction::PORT1, &before, &restarted).reset);
        let remade = LinkStats { resets_total: 1, ..sample(11, 2_000_000, 2_000, 5) };
        let measured = rates(Direction::PORT1, &before, &remade);
        assert!(measured.reset && measured.bits_per_s == 0.0);
        assert!(rates(Direction::PORT1, &before, &before).reset, "no time passed");
    }
}
