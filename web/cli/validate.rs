//! `validate`: check of scenario files and terrain tiles.

use std::path::PathBuf;

use clap::Args;
use groundwave_http::Failure;
use groundwave_setup::simulation::{load, prepare};
use groundwave_setup::terrain::TerrainOptions;
use serde::Serialize;

use super::output::{self, Output};

const EXAMPLES: &str = "\
Examples:
  groundwave validate scenarios/failover.toml scenarios/two_nodes.toml
  groundwave validate scenarios/two_nodes.toml --tiles        # also decodes every terrain tile";

/// Check scenario files without running them
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Validate {
    /// Scenario files; `-` is standard input
    #[arg(required = true)]
    scenarios: Vec<PathBuf>,

    /// Decode every tile of the terrain folder
    #[arg(long)]
    tiles: bool,

    #[command(flatten)]
    ground: TerrainOptions,
}

#[derive(Serialize)]
struct Checked {
    scenario: String,
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    commands: usize,
    nodes: usize,
    /// Links at the start without terrain data under them.
    links_without_terrain: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// The same as a sentence.
    #[serde(skip)]
    warning: Option<String>,
}

/// A scenario without problems.
struct Sound {
    title: String,
    commands: usize,
    nodes: usize,
    links_without_terrain: usize,
    warning: Option<String>,
}

impl Validate {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let mut checked = Vec::new();
        let mut problems = Vec::new();
        for path in &self.scenarios {
            let scenario = path.display().to_string();
            match self.check(path, output) {
                Ok(sound) => checked.push(Checked {
                    scenario,
                    valid: true,
                    title: Some(sound.title),
                    commands: sound.commands,
                    nodes: sound.nodes,
                    links_without_terrain: sound.links_without_terrain,
                    problem: None,
                    warning: sound.warning,
                }),
                Err(Failure::Input(what)) => {
                    problems.push(what.clone());
                    let problem = Some(what);
                    checked.push(Checked {
                        scenario,
                        valid: false,
                        title: None,
                        commands: 0,
                        nodes: 0,
                        links_without_terrain: 0,
                        problem,
                        warning: None,
                    });
                }
                Err(other) => return Err(other),
            }
        }
        if output.json {
            output.json(&checked)?;
        } else {
            for file in checked.iter().filter(|file| file.valid) {
                let title = file.title.as_deref().unwrap_or_default();
                let line = format!(
                    "{}: valid: {title} ({} nodes, {} commands)\n",
                    file.scenario, file.nodes, file.commands
                );
                output.text(&line)?;
                if let Some(warning) = &file.warning {
                    let line = format!("{}: {warning}\n", file.scenario);
                    output.text(&output::warning(&line))?;
                }
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Failure::Input(problems.join("\n"))) }
    }

    fn check(&self, path: &std::path::Path, output: Output) -> Result<Sound, Failure> {
        let scenario = load(path)?;
        let ground = self.ground.for_scenario(&scenario)?;
        if self.tiles {
            ground.check_all()?;
        }
        let mut engine = prepare(path, &scenario, &ground)?;
        // The first tick evaluates the links of the start.
        engine.tick(None).map_err(Failure::machine)?;
        let view = engine.view();
        output::warn_of_swapped(&view, &*ground.terrain);
        output::advise(&scenario, &*ground.terrain, output);
        let missing = view.links.iter().filter(|link| !link.budget.ground.is_enough());
        Ok(Sound {
            title: scenario.title,
            commands: scenario.records.len(),
            nodes: scenario.node_names.len(),
            links_without_terrain: missing.count(),
            warning: output::gaps(&view, &ground.remedy),
        })
    }
}
