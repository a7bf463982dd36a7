//! `sweep`: coverage of each site of a scenario and of the whole network.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use groundwave_http::Failure;
use groundwave_http::option_value::{folder_path, refuse_file, require_existing};
use groundwave_raster::Crs;
use groundwave_raster::cog::Compression;
use groundwave_scenario::coverage::Interference;
use groundwave_scenario::{Coverage, Scenario};
use groundwave_setup::simulation::{load, prepare_nodes};
use groundwave_setup::terrain::{OpenTerrain, TerrainOptions, VOIDS_REMEDY};
use groundwave_sweep::products;
use groundwave_sweep::products::{Product, Wanted};
use groundwave_sweep::{
    Choices, Labels, Plan, Shard, Supply, Sweep as Work, SweepEngine, SweepError, UnitEvaluator,
    Worked, check_sites, keep_freed_memory, labels, plan,
};
use groundwave_text::{Align, Table};

use super::map_options::MapOptions;
use super::output::{self, Output};
use super::run::interrupts;
use super::sweep_failure::failure;
use super::sweep_tables;
use super::sweep_work::{compute, compute_on, join};
use crate::engine::EngineArg;

const EXAMPLES: &str = "\
Examples:
  groundwave sweep examples/coverage.toml -o out/coverage
  groundwave sweep examples/coverage.toml -o out/coverage --dry-run   # its size
  groundwave sweep examples/coverage.toml -o out/shards --shard 1/2   # each worker one, any order
  groundwave sweep examples/coverage.toml -o out/shards --shard 2/2
  groundwave sweep merge out/shards                                   # after all shards
  groundwave sweep examples/coverage.toml -o out/joined --join        # any number of workers, at any time
  groundwave sweep merge out/joined                                   # after they ended
  groundwave sweep examples/coverage.toml -o out/cluster --cluster df://10.0.0.1:50050 --store s3://bucket/sweeps
  groundwave sweep examples/coverage.toml -o out/maps --products margin,best_server,power
  groundwave sweep examples/coverage.toml -o out/clear --scale margin=auto --palette margin=cividis --clear-below margin=3
  groundwave sweep examples/coverage.toml -o out/metric --crs utm --date 2026-05-17
  groundwave sweep examples/coverage.toml -o out/all --clear-below margin=-10   # below the threshold as well
  groundwave sweep examples/coverage.toml -o out/coverage --json | jq '.variants[].covered_percent'";

/// Time without a sign of life after which others take over the units of a worker, s.
const LEASE_S: u64 = 60;

/// Compute the coverage of each site and the best server of the network
///
/// Finished units are kept in the folder: the same command resumes an interrupted sweep.
#[derive(Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Sweep {
    #[command(subcommand)]
    merge: Option<Merge>,

    /// Scenario file with a [coverage] section
    #[arg(required = true)]
    scenario: Option<PathBuf>,

    /// Folder of units and products
    #[arg(short, long, value_name = "DIR", required_unless_present = "dry_run",
        value_parser = PathBufValueParser::new().try_map(folder_path))]
    out: Option<PathBuf>,

    /// Show the number of cells, units and files of terrain, and compute and write nothing
    #[arg(long, conflicts_with_all = ["shard", "join", "cluster"])]
    dry_run: bool,

    /// Compute only shard I of N, without products
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,

    /// Compute units that no other worker has, until all are done, without products; workers that share
    /// the folder, on one machine or several, may start with the same command and end at any time
    #[arg(long, conflicts_with = "shard")]
    join: bool,

    /// Take over the units of a worker that gave no sign for so many seconds [default: 60]
    #[arg(long, value_name = "SECONDS", requires = "join",
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    lease: Option<u64>,

    /// Have the units computed by the cluster of a scheduler (`groundwave cluster`), then write products
    #[arg(long, value_name = "df://HOST:PORT", conflicts_with_all = ["shard", "join"], requires = "store")]
    cluster: Option<String>,

    /// Folder or bucket that the executors of the cluster share: a path, file:///folder or
    /// s3://bucket/prefix
    #[arg(long, value_name = "STORE", env = "GROUNDWAVE_STORE")]
    store: Option<String>,

    /// Processor of cells: `cpu`, whose bits are the same on every machine; `gpu`, with the same classes and
    /// levels within 0.002 dB, or the cpu with the reason; `auto`, a GPU where it is worth its start
    #[arg(long, value_name = "ENGINE", default_value = "cpu", hide_possible_values = true,
        hide_default_value = true, conflicts_with_all = ["cluster", "dry_run"])]
    engine: EngineArg,

    #[command(flatten)]
    shared: SharedArgs,
}

#[derive(Subcommand)]
enum Merge {
    /// Merge the units of all shards into products
    #[command(after_help = EXAMPLES)]
    Merge {
        /// Folder of the sweep
        #[arg(value_parser = PathBufValueParser::new().try_map(folder_path))]
        out: PathBuf,

        #[command(flatten)]
        shared: SharedArgs,
    },
}

#[derive(Args)]
struct SharedArgs {
    /// Products besides the summary, separated by commas: rasters and maps of layers of the network
    /// (`margin`, `power`, `path_loss`, `field_strength`, `rate` and `probability` that the link works of
    /// the best server, `best_server`,
    /// `second_server`, `servers`), the same among interference of the sites ([coverage.interference]: `sinr`,
    /// `carrier_to_interference`, `sinr_server`, `sinr_probability`), a raster per site (`sites`), a map and a KMZ per site
    /// (`site_maps`), the margin as a bare picture (`overlay`), for a globe (`kmz`) and as `outlines`, a
    /// contact `sheet`, a CSV table of all `cells` [default: all but power, path_loss, field_strength, rate,
    /// probability, layers among interference, site_maps and cells]
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide_possible_values = true,
        value_parser = product_parser())]
    products: Vec<Product>,

    /// Write no raster per site
    #[arg(long)]
    no_site_rasters: bool,

    /// Write a CSV table of all cells of the network
    #[arg(long)]
    cells: bool,

    /// Codec of rasters: `deflate`, which all programs read, `zstd`, which is faster (GDAL 2.3), or `lerc`,
    /// which packs rounded levels of sites smaller (GDAL 2.4; whole numbers stay deflate)
    #[arg(
        long,
        value_name = "CODEC",
        default_value = "deflate",
        hide_possible_values = true,
        hide_default_value = true
    )]
    compression: Codec,

    /// Reference system of rasters: degrees (`EPSG:4326`), metres in the zone of UTM that holds the middle
    /// (`utm`) or in a zone of your choice (`EPSG:32601` to `32660`, `EPSG:32701` to `32760`). Levels are
    /// interpolated between four cells, servers and counts are those of the nearest
    #[arg(long, value_name = "CRS", default_value = "EPSG:4326", hide_default_value = true,
        value_parser = Crs::parse)]
    crs: Crs,

    /// Keep levels in rasters to the last bit [default: rounded to multiples of 2^-7 dB]
    #[arg(long)]
    exact_rasters: bool,

    #[command(flatten)]
    maps: MapOptions,

    #[command(flatten)]
    ground: TerrainOptions,
}

/// Codecs of rasters.
#[derive(Clone, Copy, ValueEnum)]
enum Codec {
    Deflate,
    Zstd,
    Lerc,
}

fn product_parser() -> impl TypedValueParser<Value = Product> {
    PossibleValuesParser::new(Product::ALL.map(|(name, _)| name)).map(|value| {
        let found = Product::ALL.into_iter().find(|(name, _)| *name == value);
        found.expect("clap allows no other").1
    })
}

impl SharedArgs {
    /// Products and drawing: that of the options, else that of `noted`.
    fn wanted(
        &self,
        noted: &Choices,
        labels: Labels,
        interference: Interference,
    ) -> Result<Wanted, Failure> {
        let maps = self.maps.choices(noted)?;
        Ok(Wanted { maps, labels, interference, date: self.maps.date(), ..self.products() })
    }

    /// Products as the layers have them.
    fn products(&self) -> Wanted {
        let mut products = if self.products.is_empty() {
            Product::usual()
        } else {
            self.products.iter().copied().collect()
        };
        if self.no_site_rasters {
            products.remove(&Product::Sites);
        }
        if self.cells {
            products.insert(Product::Cells);
        }
        Wanted {
            products,
            maps: Choices::new(),
            labels: Labels::new(),
            interference: Interference::default(),
            date: None,
            crs: self.crs,
            compression: match self.compression {
                Codec::Deflate => Compression::Deflate,
                Codec::Zstd => Compression::Zstd,
                Codec::Lerc => Compression::Lerc,
            },
            is_exact: self.exact_rasters,
        }
    }
}

/// A sweep as the scenario orders it.
struct Ordered {
    plan: Plan,
    ground: OpenTerrain,
    /// Drawing of maps.
    maps: Choices,
    /// Labels of sites.
    labels: Labels,
    /// Interference between sites.
    interference: Interference,
}

impl Sweep {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        keep_freed_memory();
        if let Some(Merge::Merge { out, shared }) = self.merge {
            let manifest = out.join("manifest.json");
            require_existing("OUT", &manifest, "the folder of a sweep, which holds that file")?;
            let work = Work::find(&out).map_err(failure)?;
            let found = work.noted_terrain().map_err(failure)?;
            let ground = shared.ground.for_sweep(&work.plan, &found)?;
            let maps = work.noted_maps().map_err(failure)?;
            let interference = work.noted_interference().map_err(failure)?;
            let wanted =
                shared.wanted(&maps, work.noted_labels().map_err(failure)?, interference)?;
            wanted.check(&work).map_err(failure)?;
            work.require_all().map_err(failure)?;
            return finish(&work, &ground, &wanted, None, output);
        }
        let scenario_path = self.scenario.as_ref().expect("clap requires it");
        if let Some(out) = &self.out {
            refuse_file("--out", out)?;
        }
        let Ordered { plan, ground, maps, labels, interference } = self.plan(scenario_path)?;
        if self.dry_run {
            return super::sweep_extent::show(&plan, &ground, output);
        }
        let engine = SweepEngine::open(self.engine.into(), &plan).map_err(Failure::Input)?;
        if let Some(reason) = engine.fallback() {
            tracing::warn!("engine: cpu ({reason})");
        }
        let plan = Plan { engine: engine.name(), ..plan };
        let out = self.out.as_ref().expect("clap requires it");
        let wanted = self.shared.wanted(&maps, labels, interference)?;
        // Units that hold more columns than are wanted serve as well.
        let plan = match Work::find(out) {
            Ok(found) if found.plan.serves(&plan) => found.plan,
            _ => plan,
        };
        let work = Work::enter(plan, out).map_err(failure)?;
        work.note_terrain(&ground.files()).map_err(failure)?;
        work.note_maps(&maps).map_err(failure)?;
        work.note_labels(&wanted.labels).map_err(failure)?;
        work.note_interference(&wanted.interference).map_err(failure)?;
        if self.join {
            let lease_s = self.lease.unwrap_or(LEASE_S);
            return join(&work, &ground, &engine, lease_s, output);
        }
        if let Some(cluster) = &self.cluster {
            let store = self.store.as_ref().expect("clap requires it");
            compute_on(cluster, store, &work, &ground)?;
            return finish(&work, &ground, &wanted, None, output);
        }
        let Some(shard) = self.shard else {
            let evaluator = UnitEvaluator::new(&work.plan, &*ground.terrain, &engine)
                .map_err(Failure::Input)?;
            return finish(&work, &ground, &wanted, Some(&evaluator), output);
        };
        let Worked { units, found } = compute(&work, &ground, &engine, shard, &*interrupts()?)?;
        ground.check_tiles()?;
        if output.json {
            let text = shard.to_string();
            return output
                .json(&serde_json::json!({ "shard": text, "units": units, "found": found }));
        }
        output.text(&format!(
            "shard {shard}: {units} units done, {found} of them before; after all shards: \
             groundwave sweep merge {}\n",
            out.display()
        ))
    }

    fn plan(&self, path: &Path) -> Result<Ordered, Failure> {
        let scenario = load(path)?;
        let Some(coverage) = scenario.coverage.clone() else {
            let message =
                "missing section [coverage]; `groundwave init` with --coverage-km writes one";
            return Err(Failure::Input(format!("{}: {message}", path.display())));
        };
        let ground = self.shared.ground.offering().for_scenario(&scenario)?;
        let (mut plan, labels) = self.plan_sites(path, &scenario, &coverage, &ground)?;
        let Coverage { maps, interference, .. } = coverage;
        if self.dry_run {
            return Ok(Ordered { plan, ground, maps, labels, interference });
        }
        ground.expect(plan.latitudes_deg());
        // In parallel: hashing the tiles takes as long as decoding those at the sites. A site that cannot be
        // evaluated is refused before the folder is created: a rejected sweep leaves nothing behind.
        let check = || check_sites(&plan, &*ground.terrain).map_err(Failure::Input);
        let (terrain, checked) = rayon::join(|| ground.identity(&plan), check);
        checked?;
        plan.terrain = terrain?;
        Ok(Ordered { plan, ground, maps, labels, interference })
    }

    /// The plan but for the digests of the terrain, and the labels of its sites.
    fn plan_sites(
        &self,
        path: &Path,
        scenario: &Scenario,
        coverage: &Coverage,
        ground: &OpenTerrain,
    ) -> Result<(Plan, Labels), Failure> {
        let mut engine = prepare_nodes(path, scenario, ground)?;
        engine.tick(None).map_err(Failure::machine)?;
        let columns = self.shared.products().columns();
        let (title, view) = (&scenario.title, engine.view());
        let plan = plan(title, coverage, &view, columns).map_err(Failure::input)?;
        Ok((plan, labels(coverage, &view)))
    }
}

fn finish(
    work: &Work,
    ground: &OpenTerrain,
    wanted: &Wanted,
    evaluator: Option<&UnitEvaluator<'_>>,
    output: Output,
) -> Result<(), Failure> {
    let stop = interrupts()?;
    let progress = output::units_progress(work.plan.units().len());
    let evaluate = evaluator.map(|evaluator| move |unit, site| evaluator.evaluate(unit, site));
    let engine = || evaluator.and_then(UnitEvaluator::summary);
    let supply = Supply {
        evaluate: evaluate.as_ref().map(|evaluate| evaluate as _),
        stop: &stop,
        done: &|_, found| output::advance(&progress, found),
        engine: Some(&engine),
    };
    let mut broken = None;
    let summary = products::write(work, &*ground.terrain, wanted, supply, |what| {
        // Before anything is written of cells that a damaged tile left without ground.
        if evaluator.is_some()
            && let Err(failure) = ground.check_tiles()
        {
            broken = Some(failure);
            return Err(SweepError::Stopped);
        }
        if stop.load(Ordering::Relaxed) {
            return Err(SweepError::Stopped);
        }
        progress.set_message(what.to_owned());
        Ok(())
    });
    progress.finish_and_clear();
    if let Some(failure) = broken {
        return Err(failure);
    }
    let summary = summary.map_err(failure)?;
    let has_data = require_sites(work, ground);
    if let Some(what) = sweep_tables::undecodable(&summary) {
        output::note(&output::warning(&what));
    }
    if output.json {
        output.json(&summary)?;
        return has_data;
    }
    let mut out = format!("{}\n", output::heading(&summary.title));
    let [cols, rows] = summary.raster_cells;
    let summary_line = format!(
        "{cols} x {rows} cells of {}″, {} km radius (beyond: not computed), covered at {} dB link margin",
        summary.cell_arcsec, summary.radius_km, summary.margin_db
    );
    let _ = writeln!(out, "{}", output::faint(&summary_line));
    if let Some(engine) = &summary.engine {
        let _ = writeln!(out, "{}", output::faint(&engine.to_string()));
    }
    let assumptions = &summary.assumptions;
    out += &output::assumed(assumptions, output::profile_name(assumptions));
    let mut table = Table::new(&[
        ("variant", Align::Left),
        ("covered km²", Align::Right),
        ("of known", Align::Right),
        ("likely", Align::Right),
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
            format!("{:.1} %", variant.likely_percent),
            format!("{:.1}", area.overlap),
            format!("{:.1}", area.gap),
            format!("{:.1}", area.no_data),
            format!("{} of {}", variant.points_covered_weight, variant.points_weight),
        ]);
    }
    let _ = write!(out, "\n{}", output::table(&table, None));
    let _ = writeln!(out, "{}", output::faint(&sweep_tables::likely(&summary.assumptions)));
    if let [variant] = summary.variants.as_slice() {
        sweep_tables::sites(&mut out, variant);
    }
    let _ = writeln!(out, "\nproducts: {}", work.folder().display());
    output.text(&out)?;
    has_data
}

/// Fails, with exit code 3, where sites stand on ground without data.
fn require_sites(work: &Work, ground: &OpenTerrain) -> Result<(), Failure> {
    // A void, or no tile: neither has a height.
    let sites = work.plan.sites.iter();
    let blind: Vec<_> =
        sites.filter(|site| ground.terrain.elevation_msl_m(site.position).is_none()).collect();
    let mut positions = blind.iter().map(|site| site.position);
    let remedy = match positions.all(|at| ground.terrain.resolution_arcsec(at).is_some()) {
        true => VOIDS_REMEDY,
        false => &ground.remedy,
    };
    let names: Vec<_> = blind.iter().map(|site| site.name.as_str()).collect();
    let positions: Vec<_> = work.plan.sites.iter().map(|site| site.position).collect();
    let hint = ground.swapped_hint(&positions);
    match names.as_slice() {
        [] => Ok(()),
        names => Err(Failure::no_terrain(format!(
            "no terrain data under {} of {} sites ({}){hint}; {remedy}",
            names.len(),
            work.plan.sites.len(),
            output::some_of(names)
        ))),
    }
}
