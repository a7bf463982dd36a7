//! Names of objects in the store.

use groundwave_sweep::{Plan, Unit};

/// The plan of a sweep, as `manifest.json` of its folder.
#[must_use]
pub fn plan(digest: &str) -> String {
    format!("sweeps/{digest}/manifest.json")
}

/// Files of terrain of a plan, see [`Tile`](super::tiles::Tile).
#[must_use]
pub fn tiles(digest: &str) -> String {
    format!("sweeps/{digest}/terrain.json")
}

/// Folder of the units of a plan.
#[must_use]
pub fn units(digest: &str) -> String {
    format!("sweeps/{digest}/units")
}

/// A unit of a plan.
#[must_use]
pub fn unit(plan: &Plan, digest: &str, unit: Unit) -> String {
    let name = plan.name(digest, unit);
    format!("{}/{}/{name}.unit", units(digest), &name[..2])
}

/// A file of terrain, by the SHA-256 of its bytes.
#[must_use]
pub fn terrain(sha256: &str) -> String {
    format!("terrain/{sha256}")
}

/// Name of a unit in its key; none for other objects.
#[must_use]
pub fn unit_name(key: &str) -> Option<&str> {
    key.rsplit('/').next()?.strip_suffix(".unit")
}
