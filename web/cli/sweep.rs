//! `sweep`: coverage of every site of a scenario, and of the network they make.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args, Subcommand};
use groundwave::text::{Align, Table};
use groundwave_io::sweep::products::{self, Wanted};
use groundwave_io::sweep::{Plan, Shard, Sweep as Work, SweepError, Worked, evaluator, plan};
use groundwave_systems::radio::Verdict;
use indicatif::{ProgressBar, ProgressStyle};

use super::failure::Failure;
use super::ground::{Ground, GroundArgs};
use super::output::{self, Output};
use super::run::interrupts;
use super::simulation::{load, prepare};

const EXAMPLES: &str = "\
Examples:
  groundwave sweep scenarios/coverage_gothenburg.toml -o out/gothenburg
  groundwave sweep big.toml -o /shared/big --shard 3/8     # one of eight workers, in any order
  groundwave sweep merge /shared/big                       # when all shards are done
  groundwave sweep area.toml -o out/area --json | jq '.variants[] | {name, covered_percent}'";

/// Compute coverage of every site and the network's best server
///
/// Finished units are kept in the folder and never computed again: run the same command after a
/// kill, and it goes on where it was.
#[derive(Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Sweep {
    #[command(subcommand)]
    merge: Option<Merge>,

    /// Scenario file with a [coverage] section
    #[arg(required = true)]
    scenario: Option<PathBuf>,

    /// Folder for units and products
    #[arg(short, long, value_name = "DIR", required = true)]
    out: Option<PathBuf>,

    /// Compute only this share of the units, and no products
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,

    /// Share the ground between cells: several times faster, 99 of 100 cells within 1 dB
    #[arg(long)]
    fast: bool,

    #[command(flatten)]
    shared: SharedArgs,
}

#[derive(Subcommand)]
enum Merge {
    /// Fold the units that shards computed into products
    #[command(after_help = EXAMPLES)]
    Merge {
        /// Folder of the sweep
        out: PathBuf,

        #[command(flatten)]
        shared: SharedArgs,
    },
}

#[derive(Args)]
struct SharedArgs {
    /// Do not write a raster for each site
    #[arg(long)]
    no_site_rasters: bool,

    /// Write a CSV line for each cell of the network
    #[arg(long)]
    cells: bool,

    #[command(flatten)]
    ground: GroundArgs,
}

impl Sweep {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        if let Some(Merge::Merge { out, shared }) = self.merge {
            let work = Work::find(&out).map_err(failure)?;
            let ground = shared.ground.for_sweep(&work.plan.terrain)?;
            return finish(&work, &ground, &shared, &*interrupts()?, output);
        }
        let scenario_path = self.scenario.as_ref().expect("clap requires it");
        let out = self.out.as_ref().expect("clap requires it");
        let (plan, ground) = self.plan(scenario_path)?;
        // Before the folder is made: a refused sweep leaves nothing behind.
        evaluator(&plan, &*ground.terrain)
            .map(drop)
            .map_err(Failure::Input)?;
        let work = Work::enter(plan, out).map_err(failure)?;
        let shard = self.shard.unwrap_or(Shard::ALL);
        let stop = interrupts()?;
        let worked = compute(&work, &ground, shard, &stop)?;
        ground.refuse_faults()?;
        if self.shard.is_none() {
            return finish(&work, &ground, &self.shared, &stop, output);
        }
        let Worked { units, found } = worked;
        if output.json {
            let text = shard.to_string();
            return output
                .json(&serde_json::json!({ "shard": text, "units": units, "found": found }));
        }
        output.text(&format!(
            "shard {shard}: {units} units done, {found} of them before; when all shards are: \
             groundwave sweep merge {}\n",
            out.display()
        ))
    }

    fn plan(&self, path: &Path) -> Result<(Plan, Ground), Failure> {
        let scenario = load(path)?;
        let Some(mut coverage) = scenario.coverage.clone() else {
            let what = "has no [coverage] section; see scenarios/README.md for one";
            return Err(Failure::Input(format!("{} {what}", path.display())));
        };
        coverage.fast |= self.fast;
        let ground = self.shared.ground.for_scenario(&scenario.terrain)?;
        // Reading every tile takes longer than the world.
        let (terrain, view) = std::thread::scope(|scope| {
            let terrain = scope.spawn(|| ground.identity());
            let mut engine = prepare(path, &scenario, &ground)?;
            engine.tick(None).map_err(Failure::machine)?;
            let terrain = terrain.join();
            let terrain = terrain.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            Ok::<(BTreeMap<String, String>, _), Failure>((terrain, engine.view()))
        })?;
        let plan = plan(&scenario.title, &coverage, &view, terrain).map_err(Failure::input)?;
        Ok((plan, ground))
    }
}

fn failure(error: SweepError) -> Failure {
    match error {
        SweepError::Disk { .. } | SweepError::Product { .. } | SweepError::Stopped => {
            Failure::machine(error)
        }
        SweepError::Foreign { .. }
        | SweepError::Evaluate { .. }
        | SweepError::Unfinished { .. } => Failure::input(error),
    }
}

/// A bar on stderr, hidden when that is no terminal.
fn bar(count: usize, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is constant");
    let bar = ProgressBar::new(count as u64).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

fn compute(
    work: &Work,
    ground: &Ground,
    shard: Shard,
    stop: &AtomicBool,
) -> Result<Worked, Failure> {
    let all = work.plan.units().len();
    let share = (0..all).filter(|place| shard.holds(*place)).count();
    let progress = bar(
        share,
        "{bar:30} {pos}/{len} units  {per_sec}  {elapsed} gone, {eta} left",
    );
    let evaluate = evaluator(&work.plan, &*ground.terrain).map_err(Failure::Input)?;
    let worked = work.work(shard, stop, evaluate, |_, found| {
        progress.inc(1);
        if found {
            // What was found says nothing of how fast the rest will go.
            progress.reset_eta();
        }
    });
    progress.finish_and_clear();
    worked.map_err(failure)
}

fn finish(
    work: &Work,
    ground: &Ground,
    shared: &SharedArgs,
    stop: &AtomicBool,
    output: Output,
) -> Result<(), Failure> {
    work.require_all().map_err(failure)?;
    let threads = NonZeroUsize::new(rayon::current_num_threads()).unwrap_or(NonZeroUsize::MIN);
    let (site_rasters, cell_table) = (!shared.no_site_rasters, shared.cells);
    let wanted = Wanted {
        site_rasters,
        cell_table,
        threads,
    };
    let progress = bar(
        products::steps(&work.plan, wanted),
        "{bar:30} {pos}/{len} steps  {elapsed} gone  {msg}",
    );
    let mut first = true;
    let summary = products::write(work, &*ground.terrain, wanted, |what| {
        if stop.load(Ordering::Relaxed) {
            return Err(SweepError::Stopped);
        }
        progress.inc(u64::from(!std::mem::take(&mut first)));
        progress.set_message(what.to_owned());
        Ok(())
    });
    progress.finish_and_clear();
    let summary = summary.map_err(failure)?;
    if output.json {
        return output.json(&summary);
    }
    let mut out = format!("{}\n", output::heading(&summary.title));
    let [cols, rows] = summary.raster_cells;
    let bound = summary.error_p99_db.map_or_else(String::new, |db| {
        format!(" (99 of 100 cells within {db} dB of exact)")
    });
    let facts = format!(
        "{cols} x {rows} cells of {}″, {} km radius, {} mode{bound}, covered at {} dB link margin",
        summary.cell_arcsec, summary.radius_km, summary.mode, summary.margin_db
    );
    let _ = writeln!(out, "{}", output::faint(&facts));
    let mut table = Table::new(&[
        ("variant", Align::Left),
        ("covered km²", Align::Right),
        ("of known", Align::Right),
        ("overlap km²", Align::Right),
        ("gap km²", Align::Right),
        ("no data km²", Align::Right),
        ("points", Align::Right),
    ]);
    for variant in &summary.variants {
        let area = &variant.area_km2;
        table.row([
            variant.name.clone(),
            format!("{:.1}", area.covered),
            format!("{:.1} %", variant.covered_percent),
            format!("{:.1}", area.overlap),
            format!("{:.1}", area.gap),
            format!("{:.1}", area.no_data),
            format!(
                "{} of {}",
                variant.points_covered_weight, variant.points_weight
            ),
        ]);
    }
    let _ = write!(out, "\n{}", output::table(&table, None));
    if let [variant] = summary.variants.as_slice() {
        sites(&mut out, variant);
    }
    let _ = writeln!(out, "\nproducts: {}", work.folder().display());
    output.text(&out)
}

fn sites(out: &mut String, variant: &groundwave_io::sweep::VariantSummary) {
    let mut table = Table::new(&[
        ("site", Align::Left),
        ("covered km²", Align::Right),
        ("best server km²", Align::Right),
        ("only server km²", Align::Right),
    ]);
    for site in &variant.sites {
        table.row([
            site.name.clone(),
            format!("{:.1}", site.covered_km2),
            format!("{:.1}", site.best_server_km2),
            format!("{:.1}", site.only_server_km2),
        ]);
    }
    let _ = write!(out, "\n{}", output::table(&table, None));
    let mut table = Table::new(&[
        ("place", Align::Left),
        ("weight", Align::Right),
        ("server", Align::Left),
        ("verdict", Align::Left),
    ]);
    for point in &variant.points {
        let verdict = point
            .verdict
            .map_or("no data", |verdict: Verdict| output::verdict(verdict));
        let server = point.best_server.clone().unwrap_or_else(|| "–".to_owned());
        table.row([
            point.name.clone(),
            point.weight.to_string(),
            server,
            verdict.to_owned(),
        ]);
    }
    if !table.is_empty() {
        let _ = write!(out, "\n{}", output::table(&table, Some(3)));
    }
    if let Some(choice) = &variant.choice {
        let names: Vec<_> = choice
            .sites
            .iter()
            .map(|site| format!("{} (+{:.1})", site.name, site.gain))
            .collect();
        let covered = choice.sites.last().map_or(0.0, |site| site.covered);
        let _ = writeln!(
            out,
            "\nbuild first: {}: {covered:.1} of {:.1} {} (no choice reaches more than {:.1})",
            names.join(", "),
            choice.all_sites,
            choice.of,
            choice.upper_bound
        );
    }
}
