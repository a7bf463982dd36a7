//! Queueing disciplines of an interface: those of this module, and those of other programs.

use super::fifo::Fifo;
use super::netem::Netem;
use super::stack::{LEAF, NETEM, SECOND_LEAF, Stack, TBF, UNDER_NETEM, UNDER_TBF};
use super::tbf::Tbf;
use super::{Handle, Kernel, KernelError, Link, Qdisc};

/// Queueing disciplines of an interface.
#[derive(Debug, Clone, Default)]
pub struct InterfaceQdiscs {
    /// The interface.
    pub link: Link,
    /// Own disciplines, decoded.
    pub stack: Stack,
    /// Own disciplines with counters, from the root down.
    pub ours: Vec<Qdisc>,
    /// The first discipline of another program; its children are not read.
    pub foreign: Option<Qdisc>,
}

impl InterfaceQdiscs {
    /// The root discipline, if it belongs to another program.
    #[must_use]
    pub fn foreign_root(&self) -> Option<&Qdisc> {
        self.foreign.as_ref().filter(|_| self.ours.is_empty())
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
    classify(link, found)
}

/// Possible parents of own disciplines.
pub const PARENTS: [Handle; 3] = [Handle::ROOT, UNDER_NETEM, UNDER_TBF];

/// The disciplines of an interface with `found` under [`PARENTS`].
///
/// # Errors
/// When an own discipline cannot be decoded.
pub fn classify(link: Link, found: [Option<Qdisc>; 3]) -> Result<InterfaceQdiscs, KernelError> {
    let mut all = InterfaceQdiscs { link, ..InterfaceQdiscs::default() };
    let mut rest: Vec<_> = PARENTS.into_iter().zip(found).collect();
    let mut parent = Handle::ROOT;
    while let Some(place) = rest.iter().position(|(at, _)| *at == parent)
        && let (_, Some(qdisc)) = rest.swap_remove(place)
    {
        let above = &all.stack;
        let no_shaper = above.tbf.is_none() && above.leaf.is_none();
        match (qdisc.handle, qdisc.kind.as_str()) {
            (NETEM, "netem") if parent == Handle::ROOT => {
                all.stack.netem = Some(Netem::parse(&qdisc.options)?);
                parent = UNDER_NETEM;
            }
            (TBF, "tbf") if no_shaper => {
                all.stack.tbf = Some(Tbf::parse(&qdisc.options)?);
                parent = UNDER_TBF;
            }
            (LEAF | SECOND_LEAF, "pfifo" | "bfifo") => {
                all.stack.second_leaf = qdisc.handle == SECOND_LEAF;
                all.stack.leaf = Fifo::parse(&qdisc.kind, &qdisc.options)?;
                all.ours.push(qdisc);
                return Ok(all);
            }
            _ => {
                all.foreign = Some(qdisc);
                return Ok(all);
            }
        }
        all.ours.push(qdisc);
    }
    Ok(all)
}
