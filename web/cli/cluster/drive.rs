//! A sweep on a cluster.

use groundwave_cluster::{Driven, Driver, DriverError};
use groundwave_http::Failure;
use groundwave_setup::terrain::OpenTerrain;
use groundwave_sweep::Sweep;
use groundwave_terrain::COVER_FILE;

use super::super::output::{advance, units_progress};
use super::super::run::interrupts;
use super::super::sweep_failure::failure;
use super::processes::{address, store};

/// Units that are named in an error.
const NAMED: usize = 5;

/// Has all units that are missing made on a cluster.
///
/// # Errors
/// When input is invalid, the machine fails, or units failed; the others are in the folder then.
pub fn drive(
    sweep: &Sweep,
    ground: &OpenTerrain,
    cluster: &str,
    at: &str,
) -> Result<Driven, Failure> {
    let cover = sweep.plan.terrain.keys().find_map(|name| name.strip_prefix(COVER_FILE));
    if let Some(name) = cover {
        return Err(Failure::Input(format!(
            "invalid land cover: found {name} in the plan, allowed none with --cluster; --shard or --join share \
             such a sweep between machines"
        )));
    }
    let cluster = address("--cluster", cluster)?;
    let store = store(at)?;
    let files = ground.supplying();
    let stop = interrupts()?;
    let progress = units_progress(sweep.plan.units().len());
    let driver = Driver {
        sweep,
        store: &store,
        cluster: &cluster,
        terrain: &files,
        stop: &stop,
        done: &|_, found| advance(&progress, found),
        tell: &|what| {
            progress.suspend(|| tracing::warn!("{what}"));
        },
    };
    let driven = driver.run();
    progress.finish_and_clear();
    let driven = driven.map_err(|error| match error {
        DriverError::Sweep(error) => failure(error),
        error => Failure::machine(error),
    })?;
    let Some((_, reason)) = driven.failed.first() else {
        return Ok(driven);
    };
    let names = driven.failed.iter().take(NAMED);
    let names: Vec<_> =
        names.map(|(unit, _)| format!("{}/{}/{}", unit.variant, unit.row, unit.col)).collect();
    let more = driven.failed.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Err(Failure::Machine(format!(
        "{} of {} units failed (variant/row/column {}{more}); the others are done; the first: {reason}",
        driven.failed.len(),
        driven.units,
        names.join(", "),
    )))
}
