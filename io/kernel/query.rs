//! Queueing disciplines of an interface: those of this module, and those of other programs.

use super::bands::{Bands, read_bands};
use super::placed::{PlacedQdiscs, classify};
use super::stack::{BANDS, Layout, Stack};
use super::{Handle, Kernel, KernelError, Link, Qdisc};

/// Queueing disciplines of an interface.
#[derive(Debug, Clone, Default)]
pub struct InterfaceQdiscs {
    /// The interface.
    pub link: Link,
    /// Own disciplines, decoded: all, or with rules those of the traffic that meets none.
    pub stack: Stack,
    /// Own disciplines with counters, from the first one down.
    pub ours: Vec<Qdisc>,
    /// The first discipline of another program; its children are not read.
    pub foreign: Option<Qdisc>,
    /// Bands of the rules.
    pub bands: Option<Bands>,
}

impl InterfaceQdiscs {
    /// Disciplines of other programs: the first one of each place.
    pub fn others(&self) -> impl Iterator<Item = &Qdisc> {
        let bands = self.bands.iter().flat_map(|bands| bands.bands.values());
        self.foreign.iter().chain(bands.flat_map(|placed| &placed.foreign))
    }

    /// Own disciplines of each place, from the first one down: one place, or with rules one for each band.
    pub fn places(&self) -> impl Iterator<Item = &[Qdisc]> {
        let bands = self.bands.iter().flat_map(|bands| bands.bands.values());
        std::iter::once(&*self.ours).chain(bands.map(|placed| &*placed.ours))
    }

    /// `true` without own disciplines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ours.is_empty() && self.bands.is_none()
    }
}

/// Reads the disciplines of `interface`.
///
/// # Errors
/// See [`KernelError`].
pub async fn query<K: Kernel>(
    kernel: &mut K,
    interface: &str,
) -> Result<InterfaceQdiscs, KernelError> {
    let (link, found) = kernel.link_and_qdiscs(interface, PARENTS).await?;
    complete(kernel, link, found).await
}

/// Parents of own disciplines without rules.
pub const PARENTS: [Handle; 3] = Layout::ROOT.parents();

/// The disciplines of an interface with `found` under [`PARENTS`]; reads bands where the root has some.
///
/// # Errors
/// When an own discipline cannot be read or decoded.
pub async fn complete<K: Kernel>(
    kernel: &mut K,
    link: Link,
    found: [Option<Qdisc>; 3],
) -> Result<InterfaceQdiscs, KernelError> {
    let has_bands = |root: &&Qdisc| root.handle == Handle::new(BANDS, 0) && root.kind == "prio";
    if let Some(root) = found[0].as_ref().filter(has_bands).cloned() {
        let (rest, bands) = read_bands(kernel, &link, root).await?;
        let PlacedQdiscs { stack, ours, foreign } = rest;
        return Ok(InterfaceQdiscs { link, stack, ours, foreign, bands: Some(bands) });
    }
    let PlacedQdiscs { stack, ours, foreign } = classify(Layout::ROOT, found)?;
    Ok(InterfaceQdiscs { link, stack, ours, foreign, bands: None })
}
