//! `impair play`: timelines of impairments.

use std::path::PathBuf;

use clap::Args;
use groundwave_http::Failure;
use groundwave_http::serve::shutdown_signal;
use groundwave_impair::{Direction, Impairment};
use groundwave_impaird::play_lease::{LeaseClient, PlayLease};
use groundwave_impaird::player::{Due, Playback, Played, play};
use groundwave_io_impair::impairment_spec::ImpairmentSpec;
use groundwave_io_impair::quantity;
use groundwave_io_impair::quantity::print_duration;
use groundwave_io_impair::timeline::{Timeline, TimelineOptions, WINDOW_NS_MIN};
use groundwave_io_impair::timeline_file::load;
use groundwave_io_impair::trace_rates::OUTAGE;
use groundwave_text::{Align, Table};
use serde_json::json;

use super::Side;
use super::client::Client;
use super::options::ImpairmentOptions;
use crate::cli::output::{self, Output};

/// Play a timeline of impairments
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Play {
    /// Timeline (.toml, .csv), packet-delivery trace of Mahimahi, or table of seconds and Mbit/s
    timeline: PathBuf,

    /// Direction of traces and of steps without one: port1 to port32, both (port1 and port2), or all ports
    /// of the daemon
    #[arg(long, value_name = "DIRECTION", default_value = "both", hide_possible_values = true)]
    direction: Side,

    /// Repeat until stopped
    #[arg(long = "loop")]
    repeat: bool,

    /// Start position in the timeline: 30s
    #[arg(long, value_name = "TIME", default_value = "0s", allow_hyphen_values = true)]
    seek: String,

    /// Speed factor: 2x
    #[arg(long, value_name = "FACTOR", default_value = "1x", allow_hyphen_values = true)]
    speed: String,

    /// Averaging interval of the rates of a trace, 10ms or more; longer where it carries less than 20 kB
    /// or the burst
    #[arg(long, value_name = "TIME", default_value = "200ms", allow_hyphen_values = true)]
    window: String,

    /// Keep the last state at the end instead of restoring the previous one
    #[arg(long)]
    leave: bool,

    /// Print the steps without applying them
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    beside: ImpairmentOptions,
}

const EXAMPLES: &str = "\
Examples:
  groundwave impair play examples/timeline.toml --dry-run
  groundwave impair play examples/timeline.csv --direction port1 --speed 10x --dry-run
  groundwave impair play examples/trace.down --direction port1 --window 500ms --delay 20ms --dry-run
  groundwave impair play examples/timeline.toml --loop

Timeline in TOML; each step is the whole state from its time on:
  length = \"90s\"            # default: the time of the last step
  [[step]]
  at = \"0s\"
  direction = \"both\"        # port1 to port32, both; default: --direction
  preset = \"lte\"
  [[step]]
  at = \"30s\"
  set = { delay = \"120ms\", loss = \"3%\", rate = \"512kbit\" }

As CSV, with the same keys as columns:
  at,direction,preset,delay,loss,rate
  0s,both,lte,,,
  30s,port1,,120ms,3%,512kbit

A trace gives the rate; options such as --delay and --loss give the rest. The kernel fills the bucket
of a shaper at each change, so each step has the rate of the trace less the bucket; where a trace has
no opportunities, a frame a second passes (outage). It plays under a lease, over the state that is set
without one: at the end, on Ctrl-C, and seconds after the player is killed, that state is in force
again, unless --leave.";

impl Play {
    /// True without a daemon: --dry-run.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    fn read(&self, directions: Vec<Direction>) -> Result<(Timeline, Playback), Failure> {
        let invalid =
            |option: &str, what: String| Failure::Input(format!("invalid --{option}: {what}"));
        let window = quantity::duration_ns(&self.window).map_err(|what| invalid("window", what))?;
        if window < WINDOW_NS_MIN {
            let (window, minimum) = (print_duration(window), print_duration(WINDOW_NS_MIN));
            return Err(invalid("window", format!("found {window}, allowed {minimum} or more")));
        }
        let seek_ns = quantity::duration_ns(&self.seek).map_err(|what| invalid("seek", what))?;
        let speed = quantity::factor(&self.speed).map_err(|what| invalid("speed", what))?;
        let reading =
            TimelineOptions { directions, window_ns: window, speed, base: self.beside.0.clone() };
        let line = load(&self.timeline, &reading).map_err(Failure::input)?;
        if seek_ns > line.length_ns {
            let (seek, most) = (print_duration(seek_ns), print_duration(line.length_ns));
            return Err(invalid("seek", format!("found {seek}, allowed up to {most}")));
        }
        if self.repeat && line.length_ns == 0 {
            let what = "found a timeline without length, allowed a length above 0".to_owned();
            return Err(invalid("loop", what));
        }
        let playback = Playback { seek_ns, speed, repeat: self.repeat };
        Ok((line, playback))
    }

    /// Prints the steps.
    pub fn plan(&self, output: Output) -> Result<(), Failure> {
        let directions = self.direction.fixed().ok_or_else(|| {
            let what =
                "invalid --direction: found all beside --dry-run, allowed port1 to port32, both";
            Failure::Input(what.to_owned())
        })?;
        let (line, playback) = self.read(directions)?;
        let ahead = line.steps.iter().filter(|step| step.at_ns >= playback.seek_ns);
        if output.json {
            let steps: Vec<_> = ahead
                .map(|step| {
                    json!({
                        "at": step.at_ns,
                        "direction": step.direction,
                        "impairment": step.impairment,
                    })
                })
                .collect();
            return output.json(&json!({
                "title": line.title, "length": line.length_ns, "seek": playback.seek_ns,
                "speed": playback.speed, "loop": playback.repeat, "steps": steps,
            }));
        }
        let mut table =
            Table::new(&[("at", Align::Right), ("direction", Align::Left), ("state", Align::Left)]);
        for step in ahead {
            table.row([
                print_duration(step.at_ns),
                step.direction.to_string(),
                brief(&step.impairment),
            ]);
        }
        let lasts = (line.length_ns - playback.seek_ns) as f64 / 1e9 / playback.speed;
        let again = if playback.repeat { ", repeated" } else { "" };
        output.text(&format!(
            "{}\n{} steps in {lasts:.1} s at {}x{again}\n",
            output::table(&table, None).trim_end(),
            table.len(),
            playback.speed
        ))
    }

    /// Plays until the end or until stopped, under a lease: a player that is killed leaves nothing behind.
    pub async fn run(self, client: Client, output: Output) -> Result<(), Failure> {
        let stopped = shutdown_signal()?;
        let (mut renewing, mut ending) = (client.reconnect().await?, client.reconnect().await?);
        let directions = self.direction.directions(&mut ending).await?;
        let (mut line, playback) = self.read(directions)?;
        let system = ending.system().await?;
        for step in &mut line.steps {
            system.fit_derived_burst(step.direction, &mut step.impairment);
        }
        let lease = PlayLease::new(client, None);
        let playing = play(&line, playback, async |due: Due<'_>| {
            lease.set(due.direction, due.impairment).await?;
            show(due, output)
        });
        let outcome = tokio::select! {
            outcome = playing => outcome.map(Some),
            never = lease.keep(&mut renewing) => match never {},
            () = stopped => Ok(None),
        };
        // On a separate connection: a request may be in progress on the others.
        lease.end(&mut ending, self.leave).await?;
        finish(outcome?, self.leave, output)
    }
}

fn show(due: Due<'_>, output: Output) -> Result<(), Failure> {
    let Due { at_ns, direction, impairment } = due;
    if output.json {
        let step = json!({ "at": at_ns, "direction": direction, "impairment": impairment });
        return output.json_line(&step);
    }
    let at = output::faint(&format!("{:>10}", print_duration(at_ns)));
    output.text(&format!("{at} {direction} {}\n", brief(impairment)))
}

fn finish(played: Option<Played>, leave: bool, output: Output) -> Result<(), Failure> {
    if output.json {
        return Ok(());
    }
    let end = match played {
        None => "stopped".to_owned(),
        Some(Played { skipped: 0, .. }) => "played".to_owned(),
        Some(played) => format!("played, {} overdue steps skipped", played.skipped),
    };
    let state =
        if leave { "the last state stays in force" } else { "the previous state is restored" };
    output.text(&format!("{end}; {state}\n"))
}

/// An impairment on one line.
fn brief(impairment: &Impairment) -> String {
    let entries = ImpairmentSpec::of(impairment).entries();
    if entries.is_empty() {
        return "no impairment".to_owned();
    }
    let outage = impairment.rate == Some(OUTAGE);
    let words = entries
        .iter()
        .filter(|(key, _)| !(outage && ["rate", "burst"].contains(key)))
        .map(|(key, word)| format!("{} {word}", key.replace('_', " ")));
    let outage = outage.then(|| "outage".to_owned());
    outage.into_iter().chain(words).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        play: Play,
    }

    #[test]
    fn tiny_windows_and_speeds_give_the_allowed_ones() {
        for (option, value, expected) in [
            ("--window", "1us", "invalid --window: found 1us, allowed 10ms or more"),
            ("--speed", "1e-9x", "invalid --speed: found \"1e-9x\", allowed a factor from 0.001x"),
            ("--seek", "far", "invalid --seek: found \"far\", allowed a number with a unit"),
        ] {
            let line = ["play", "none.toml", option, value];
            let error = Line::parse_from(line).play.read(Vec::new()).err().unwrap();
            assert!(error.message().starts_with(expected), "{error:?}");
        }
    }
}
