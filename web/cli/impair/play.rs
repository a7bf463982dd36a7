//! `impair play`.

use std::path::PathBuf;

use clap::Args;
use groundwave::http::serve::told_to_stop;
use groundwave::text::{Align, Table};
use groundwave_io::impair::quantity::{self, print_duration};
use groundwave_io::impair::timeline::{Reading, Timeline, load};
use groundwave_io::impair::words::Words;
use groundwave_systems::impair::{Direction, Impairment};
use serde_json::json;

use super::Side;
use super::client::Client;
use super::player::{Due, Pace, Played, play};
use super::words::WordArgs;
use crate::cli::failure::Failure;
use crate::cli::output::{self, Output};

/// Play a time line of impairments
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Play {
    /// A time line (.toml, .csv), or a packet-delivery trace as Mahimahi records them
    timeline: PathBuf,

    /// Direction of steps that name none, and of traces
    #[arg(long, value_name = "DIRECTION", default_value = "both")]
    direction: Side,

    /// Begin again at the end, until stopped
    #[arg(long = "loop")]
    repeat: bool,

    /// Begin this far into the time line: 30s
    #[arg(long, value_name = "TIME", default_value = "0s")]
    seek: String,

    /// Play faster or slower: 2x
    #[arg(long, value_name = "FACTOR", default_value = "1x")]
    speed: String,

    /// Of a trace: the time over which rates are averaged, 10ms or more
    #[arg(long, value_name = "TIME", default_value = "200ms")]
    window: String,

    /// Leave the last state in force at the end, instead of what was there before
    #[arg(long)]
    leave: bool,

    /// Print what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    beside: WordArgs,
}

const EXAMPLES: &str = "\
Examples:
  groundwave impair play ride.toml --dry-run
  groundwave impair play ride.csv --direction port1 --loop --speed 10x
  groundwave impair play TMobile-LTE-driving.down --direction port1 --window 500ms --delay 20ms

A time line in TOML; each step is the whole state from its time on:
  length = \"90s\"            # default: the time of the last step
  [[step]]
  at = \"0s\"
  direction = \"both\"        # port1, port2, both; default: --direction
  preset = \"lte\"
  [[step]]
  at = \"30s\"
  set = { delay = \"120ms\", loss = \"3%\", rate = \"512kbit\" }

As CSV, with the same words as columns:
  at,direction,preset,delay,loss,rate
  0s,both,lte,,,
  30s,port1,,120ms,3%,512kbit

A trace gives the rate; options such as --delay and --loss give what it does not say. At the end,
and when stopped by Ctrl-C, what was in force before is restored, unless --leave.";

impl Play {
    /// Whether no daemon is needed.
    pub fn is_dry(&self) -> bool {
        self.dry_run
    }

    fn read(&self) -> Result<(Timeline, Pace), Failure> {
        let said = |option: &str, what: String| Failure::Input(format!("--{option}: {what}"));
        let window = quantity::duration_ns(&self.window).map_err(|what| said("window", what))?;
        let seek_ns = quantity::duration_ns(&self.seek).map_err(|what| said("seek", what))?;
        let speed = quantity::factor(&self.speed).map_err(|what| said("speed", what))?;
        let reading = Reading {
            directions: self.direction.directions(),
            window_ns: window,
            beside: self.beside.clone().words(),
        };
        let line = load(&self.timeline, &reading).map_err(Failure::input)?;
        if seek_ns > line.length_ns {
            let (found, most) = (print_duration(seek_ns), print_duration(line.length_ns));
            return Err(said(
                "seek",
                format!("{found} is past the end; allowed: up to {most}"),
            ));
        }
        if self.repeat && line.length_ns == 0 {
            let what = "it lasts no time; allowed: a time line with a length".to_owned();
            return Err(said("loop", what));
        }
        let pace = Pace {
            seek_ns,
            speed,
            repeat: self.repeat,
        };
        Ok((line, pace))
    }

    /// Prints the steps.
    pub fn plan(&self, output: Output) -> Result<(), Failure> {
        let (line, pace) = self.read()?;
        let ahead = line.steps.iter().filter(|step| step.at_ns >= pace.seek_ns);
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
                "title": line.title, "length": line.length_ns, "seek": pace.seek_ns,
                "speed": pace.speed, "loop": pace.repeat, "steps": steps,
            }));
        }
        let mut table = Table::new(&[
            ("at", Align::Right),
            ("direction", Align::Left),
            ("state", Align::Left),
        ]);
        for step in ahead {
            table.row([
                print_duration(step.at_ns),
                step.direction.to_string(),
                brief(&step.impairment),
            ]);
        }
        let lasts = (line.length_ns - pace.seek_ns) as f64 / 1e9 / pace.speed;
        let again = if pace.repeat { ", then again" } else { "" };
        output.text(&format!(
            "{}\n{} steps in {lasts:.1} s at {}x{again}\n",
            output::table(&table, None).trim_end(),
            table.len(),
            pace.speed
        ))
    }

    /// Plays until the end or until stopped.
    pub async fn run(self, mut client: Client, output: Output) -> Result<(), Failure> {
        let (line, pace) = self.read()?;
        let mut before = Vec::new();
        for direction in line.directions() {
            before.push((direction, client.fetch(direction).await?.impairment));
        }
        let told = told_to_stop()?;
        let spare = client.again().await?;
        let playing = play(&line, pace, async |due: Due<'_>| {
            client.replace(due.direction, due.impairment).await?;
            tell(due, output)
        });
        let outcome = tokio::select! {
            outcome = playing => outcome.map(Some),
            () = told => Ok(None),
        };
        if !self.leave {
            // On a connection of its own: the other one may be in the middle of an answer.
            restore(spare, before).await?;
        }
        finish(outcome?, self.leave, output)
    }
}

async fn restore(mut client: Client, before: Vec<(Direction, Impairment)>) -> Result<(), Failure> {
    for (direction, impairment) in before {
        if impairment.is_empty() {
            client.clear(direction).await?;
        } else {
            client.replace(direction, &impairment).await?;
        }
    }
    Ok(())
}

fn tell(due: Due<'_>, output: Output) -> Result<(), Failure> {
    let Due {
        at_ns,
        direction,
        impairment,
    } = due;
    if output.json {
        let step = json!({ "at": at_ns, "direction": direction, "impairment": impairment });
        return output.text(&format!("{step}\n"));
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
        Some(Played { passed_over: 0, .. }) => "played".to_owned(),
        Some(played) => format!("played, {} steps were overtaken", played.passed_over),
    };
    let state = if leave {
        "the last state stays"
    } else {
        "what was before is restored"
    };
    output.text(&format!("{end}; {state}\n"))
}

/// An impairment in one line.
fn brief(impairment: &Impairment) -> String {
    let said = Words::of(impairment).said();
    if said.is_empty() {
        return "nothing".to_owned();
    }
    let words = said
        .iter()
        .map(|(key, word)| format!("{} {word}", key.replace('_', " ")));
    words.collect::<Vec<_>>().join(", ")
}
