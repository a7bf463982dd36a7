//! Disciplines of a stack at its place: own ones decoded, the first one of another program.

use super::fifo::Fifo;
use super::netem::Netem;
use super::stack::{Layout, Stack};
use super::tbf::Tbf;
use super::{KernelError, Qdisc};

/// Disciplines of a stack at its place.
#[derive(Debug, Clone, Default)]
pub struct PlacedQdiscs {
    /// Own disciplines, decoded.
    pub stack: Stack,
    /// Own disciplines with counters, from the first one down.
    pub ours: Vec<Qdisc>,
    /// The first discipline of another program; its children are not read.
    pub foreign: Option<Qdisc>,
}

/// The disciplines at `layout`, with `found` under its parents.
///
/// # Errors
/// When an own discipline cannot be decoded.
pub fn classify(layout: Layout, found: [Option<Qdisc>; 3]) -> Result<PlacedQdiscs, KernelError> {
    let mut all = PlacedQdiscs { stack: Stack::at(layout), ..PlacedQdiscs::default() };
    let mut rest: Vec<_> = layout.parents().into_iter().zip(found).collect();
    let mut parent = layout.parent;
    while let Some(place) = rest.iter().position(|(at, _)| *at == parent)
        && let (_, Some(qdisc)) = rest.swap_remove(place)
    {
        let above = &all.stack;
        let no_shaper = above.tbf.is_none() && above.leaf.is_none();
        let handle = qdisc.handle;
        match qdisc.kind.as_str() {
            "netem" if handle == layout.netem() && parent == layout.parent => {
                all.stack.netem = Some(Netem::parse(&qdisc.options)?);
                parent = layout.class_of_netem();
            }
            "tbf" if handle == layout.tbf() && no_shaper => {
                all.stack.tbf = Some(Tbf::parse(&qdisc.options)?);
                parent = layout.class_of_tbf();
            }
            "pfifo" | "bfifo"
                if [false, true].map(|second| layout.leaf(second)).contains(&handle) =>
            {
                all.stack.second_leaf = handle == layout.leaf(true);
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
