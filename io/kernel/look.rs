//! What hangs at an interface: ours, and what another hand put there.

use super::fifo::Fifo;
use super::netem::Netem;
use super::stack::{LEAF, NETEM, Stack, TBF};
use super::tbf::Tbf;
use super::{Handle, Kernel, KernelError, Link, Qdisc};

/// Everything there is to see at an interface.
#[derive(Debug, Clone, Default)]
pub struct Sight {
    /// The interface.
    pub link: Link,
    /// Ours, as disciplines.
    pub stack: Stack,
    /// Ours, with counters, from the root down.
    pub ours: Vec<Qdisc>,
    /// The first discipline of another hand; what hangs under it is not looked at.
    pub foreign: Option<Qdisc>,
}

impl Sight {
    /// Whether another hand holds the root.
    #[must_use]
    pub fn foreign_root(&self) -> Option<&Qdisc> {
        self.foreign.as_ref().filter(|_| self.ours.is_empty())
    }
}

/// Looks at `interface`, from the root down.
///
/// # Errors
/// See [`KernelError`].
pub async fn look<K: Kernel>(kernel: &mut K, interface: &str) -> Result<Sight, KernelError> {
    let (link, found) = kernel.chain(interface, PLACES).await?;
    sight(link, found)
}

const UNDER_NETEM: Handle = Handle::new(1, 1);
const UNDER_TBF: Handle = Handle::new(2, 1);
/// Everywhere something of ours may hang.
pub const PLACES: [Handle; 3] = [Handle::ROOT, UNDER_NETEM, UNDER_TBF];

/// What is at an interface where `found` hangs at [`PLACES`].
///
/// # Errors
/// When something of ours cannot be read.
pub fn sight(link: Link, found: [Option<Qdisc>; 3]) -> Result<Sight, KernelError> {
    let mut sight = Sight {
        link,
        ..Sight::default()
    };
    let mut hangs: Vec<_> = PLACES.into_iter().zip(found).collect();
    let mut parent = Handle::ROOT;
    while let Some(place) = hangs.iter().position(|(at, _)| *at == parent)
        && let (_, Some(qdisc)) = hangs.swap_remove(place)
    {
        let above = &sight.stack;
        let fresh = above.tbf.is_none() && above.leaf.is_none();
        match (qdisc.handle, qdisc.kind.as_str()) {
            (NETEM, "netem") if parent == Handle::ROOT => {
                sight.stack.netem = Some(Netem::parse(&qdisc.options)?);
                parent = UNDER_NETEM;
            }
            (TBF, "tbf") if fresh => {
                sight.stack.tbf = Some(Tbf::parse(&qdisc.options)?);
                parent = UNDER_TBF;
            }
            (LEAF, "pfifo" | "bfifo") => {
                sight.stack.leaf = Fifo::parse(&qdisc.kind, &qdisc.options)?;
                sight.ours.push(qdisc);
                return Ok(sight);
            }
            _ => {
                sight.foreign = Some(qdisc);
                return Ok(sight);
            }
        }
        sight.ours.push(qdisc);
    }
    Ok(sight)
}
