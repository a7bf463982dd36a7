//! `validate`: check of scenario files and terrain tiles.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::output::Output;
use groundwave::serve::Failure;
use groundwave::serve::simulation::{load, prepare};
use groundwave::serve::terrain::TerrainOptions;

const EXAMPLES: &str = "\
Examples:
  groundwave validate scenarios/failover.toml scenarios/two_nodes.toml
  groundwave validate scenarios/two_nodes.toml --tiles        # also decodes every terrain tile";

/// Check scenario files without running them
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Validate {
    /// Scenario files
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
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl Validate {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let mut checked = Vec::new();
        let mut problems = Vec::new();
        for path in &self.scenarios {
            let scenario = path.display().to_string();
            match self.check(path) {
                Ok((title, commands, nodes)) => {
                    let title = Some(title);
                    checked.push(Checked {
                        scenario,
                        valid: true,
                        title,
                        commands,
                        nodes,
                        problem: None,
                    });
                }
                Err(Failure::Input(what)) => {
                    problems.push(what.clone());
                    let problem = Some(what);
                    checked.push(Checked {
                        scenario,
                        valid: false,
                        title: None,
                        commands: 0,
                        nodes: 0,
                        problem,
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
            }
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Failure::Input(problems.join("\n")))
        }
    }

    fn check(&self, path: &std::path::Path) -> Result<(String, usize, usize), Failure> {
        let scenario = load(path)?;
        let ground = self.ground.for_scenario(&scenario.terrain)?;
        if self.tiles
            && let Some(folder) = ground.inputs.get("srtm_dir")
        {
            let tiles = groundwave_io::terrain::TileDirectory::open(folder.as_ref())
                .map_err(Failure::input)?;
            tiles.check().map_err(Failure::input)?;
        }
        let engine = prepare(path, &scenario, &ground)?;
        drop(engine);
        Ok((
            scenario.title,
            scenario.records.len(),
            scenario.node_names.len(),
        ))
    }
}
