//! `replay`: a log through a fresh world, and proof that it comes to the same.

use std::path::PathBuf;

use clap::Args;
use groundwave_engine::Replayed;
use groundwave_io::journal;
use groundwave_systems::{Snapshot, world};
use serde::Serialize;

use super::failure::Failure;
use super::ground::GroundArgs;
use super::output::{self, Output};

const EXAMPLES: &str = "\
Examples:
  groundwave run scenarios/manet50.toml --record manet.gwlog
  groundwave replay manet.gwlog
  groundwave replay manet.gwlog --threads 1 --json | jq .digest";

/// Replay a recorded log and compare digests, to the bit
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Replay {
    /// Log file made by `run --record`
    log: PathBuf,

    #[command(flatten)]
    ground: GroundArgs,
}

#[derive(Serialize)]
struct Document<'a> {
    digest: &'a str,
    ticks: u64,
    commands: u64,
    marks_compared: u64,
    torn_bytes: u64,
    #[serde(flatten)]
    snapshot: &'a Snapshot,
}

impl Replay {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let mut log = journal::open(&self.log).map_err(Failure::input)?;
        let header = log.header().clone();
        let ground = self.ground.for_log(&header.inputs)?;
        let mut engine = world(ground.terrain)
            .build::<Snapshot>(header.seed, header.step_ns)
            .map_err(Failure::input)?;
        let progress = indicatif::ProgressBar::new_spinner();
        let replayed = groundwave_engine::replay(&mut engine, &mut log, |tick| {
            progress.set_message(format!("tick {tick}"));
            progress.tick();
        });
        progress.finish_and_clear();
        let replayed = replayed.map_err(Failure::input)?;
        let Replayed {
            ticks,
            commands,
            marks,
            torn_bytes,
            digest,
        } = &replayed;
        if output.json {
            return output.json(&Document {
                digest,
                ticks: *ticks,
                commands: *commands,
                marks_compared: *marks,
                torn_bytes: *torn_bytes,
                snapshot: &engine.view(),
            });
        }
        let title = header
            .inputs
            .get("title")
            .map_or("a log without a title", String::as_str);
        let proof = match marks {
            0 => "the log holds no digest to compare with".to_owned(),
            1 => "its digest is the log's".to_owned(),
            marks => format!("all {marks} digests are the log's"),
        };
        let torn = if *torn_bytes > 0 {
            format!(
                "{}\n",
                output::warning(&format!("a torn tail of {torn_bytes} bytes was dropped"))
            )
        } else {
            String::new()
        };
        output.text(&format!(
            "{}\n{ticks} ticks, {commands} commands replayed; {proof}\n{torn}{}\n",
            output::heading(title),
            output::faint(&format!("digest {digest}"))
        ))
    }
}
