//! Units of a sweep computed here, beside other workers or on a cluster.

use std::sync::atomic::AtomicBool;

use groundwave_http::Failure;
use groundwave_setup::terrain::OpenTerrain;
use groundwave_sweep::{Joined, Shard, Sweep as Work, SweepEngine, UnitEvaluator, Worked, Worker};

use super::output::{self, Output};
use super::run::interrupts;
use super::sweep_failure::failure;

/// Computes units beside other workers until all are there.
pub(super) fn join(
    work: &Work,
    ground: &OpenTerrain,
    engine: &SweepEngine,
    lease_s: u64,
    output: Output,
) -> Result<(), Failure> {
    let stop = interrupts()?;
    let worker = Worker::this().map_err(Failure::machine)?;
    let progress = output::units_progress(work.plan.units().len());
    let evaluator =
        UnitEvaluator::new(&work.plan, &*ground.terrain, engine).map_err(Failure::Input)?;
    let evaluate = |unit, site| evaluator.evaluate(unit, site);
    let joined = work.join(&worker, lease_s, &stop, &evaluate, |_, found| {
        output::advance(&progress, found);
    });
    progress.finish_and_clear();
    let Joined { units, computed, taken_over } = joined.map_err(failure)?;
    ground.check_tiles()?;
    if output.json {
        return output.json(&serde_json::json!({
            "worker": format!("{:016x}", worker.id),
            "units": units,
            "computed": computed,
            "taken_over": taken_over,
        }));
    }
    let over = match taken_over {
        0 => String::new(),
        units => format!(", {units} of them taken over from workers that ended"),
    };
    output.text(&format!(
        "all {units} units done, {computed} by this worker{over}; next: groundwave sweep merge {}\n",
        work.folder().display()
    ))
}

/// Has the units computed on a cluster.
#[cfg(feature = "cluster")]
pub(super) fn compute_on(
    cluster: &str,
    store: &str,
    work: &Work,
    ground: &OpenTerrain,
) -> Result<(), Failure> {
    super::cluster::drive(work, ground, cluster, store).map(drop)
}

/// Has the units computed on a cluster, which this program cannot.
#[cfg(not(feature = "cluster"))]
pub(super) fn compute_on(_: &str, _: &str, _: &Work, _: &OpenTerrain) -> Result<(), Failure> {
    Err(super::cluster::missing())
}

/// Computes the units of a shard, up to `stop`.
pub(super) fn compute(
    work: &Work,
    ground: &OpenTerrain,
    engine: &SweepEngine,
    shard: Shard,
    stop: &AtomicBool,
) -> Result<Worked, Failure> {
    let all = work.plan.units().len();
    let share = (0..all).filter(|place| shard.holds(*place)).count();
    let progress = output::units_progress(share);
    let evaluator =
        UnitEvaluator::new(&work.plan, &*ground.terrain, engine).map_err(Failure::Input)?;
    let evaluate = |unit, site| evaluator.evaluate(unit, site);
    let worked = work.work(shard, stop, &evaluate, |_, found| output::advance(&progress, found));
    progress.finish_and_clear();
    worked.map_err(failure)
}
