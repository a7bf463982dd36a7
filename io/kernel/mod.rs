//! Traffic control of the Linux kernel, over netlink: impairments become queueing disciplines and
//! are read back.
//!
//! A [`Kernel`] answers single requests: [`Netlink`] is the running one, [`Fake`] a model of it
//! with the same traps. A [`Shaper`] turns impairments into requests, over either, so that both
//! are driven by the same code. A [`Driver`] stands between a world and a shaper: it takes wishes
//! that left the world as effects and reports what came of them as commands.

pub(crate) mod air;
pub mod batch;
#[doc(hidden)]
pub mod conformance;
mod counters;
mod driver;
mod error;
pub(crate) mod extack;
mod facts;
mod fake;
mod fifo;
mod limits;
pub(crate) mod line;
mod look;
mod message;
mod netem;
pub(crate) mod netlink;
pub mod netns;
pub(crate) mod nla;
mod probe;
mod reading;
mod shaper;
mod stack;
mod steps;
mod table;
mod tbf;
#[cfg(test)]
mod tests;
pub mod wire;

use std::future::Future;

pub use driver::{Access, Driver};
pub use error::KernelError;
pub use fake::Fake;
pub use fifo::Fifo;
pub use message::{Counters, Handle, Link, Qdisc, Request, Verb};
pub use netem::{Netem, Strange};
pub use netlink::Netlink;
pub use reading::Reading;
pub use shaper::{Options, Shaper};
pub use tbf::Tbf;

/// What answers requests about queueing disciplines: a kernel, or a model of one.
pub trait Kernel: Send + 'static {
    /// Name and version of what answers, for example `linux-tc` and `6.1.0`.
    fn backend(&self) -> (String, String);

    /// Facts of the interface with this name.
    ///
    /// # Errors
    /// [`KernelError::Gone`] when there is none.
    fn link(&mut self, interface: &str) -> impl Future<Output = Result<Link, KernelError>> + Send;

    /// The queueing discipline of interface `index` under `parent`, or `None` when nothing was
    /// put there: the kernel's own defaults do not count.
    ///
    /// # Errors
    /// When the kernel cannot be asked.
    fn get(
        &mut self,
        index: u32,
        parent: Handle,
    ) -> impl Future<Output = Result<Option<Qdisc>, KernelError>> + Send;

    /// The interface with this name, and what hangs under each of `parents`: all of it asked at
    /// once by a kernel where an answer takes longer than a question.
    ///
    /// # Errors
    /// As [`Self::link`] and [`Self::get`].
    fn chain<const N: usize>(
        &mut self,
        interface: &str,
        parents: [Handle; N],
    ) -> impl Future<Output = Result<(Link, [Option<Qdisc>; N]), KernelError>> + Send {
        async move {
            let link = self.link(interface).await?;
            let mut found = [const { None }; N];
            for (found, parent) in found.iter_mut().zip(parents) {
                *found = self.get(link.index, parent).await?;
            }
            Ok((link, found))
        }
    }

    /// Carries out one request and waits for its acknowledgement.
    ///
    /// # Errors
    /// What the kernel answered; then it changed nothing.
    fn send(&mut self, request: &Request) -> impl Future<Output = Result<(), KernelError>> + Send;

    /// Carries out one request and, when it is done, tells what hangs under each of `parents` of
    /// its interface: in one call to a kernel where calls are dear.
    ///
    /// # Errors
    /// Outside what [`Self::send`] answers, inside what [`Self::get`] does once it was carried out.
    fn settle<const N: usize>(
        &mut self,
        request: &Request,
        parents: [Handle; N],
    ) -> impl Future<Output = Result<Settled<N>, KernelError>> + Send {
        async move {
            self.send(request).await?;
            let mut found = [const { None }; N];
            for (found, parent) in found.iter_mut().zip(parents) {
                *found = match self.get(request.index, parent).await {
                    Ok(qdisc) => qdisc,
                    Err(err) => return Ok(Err(err)),
                };
            }
            Ok(Ok(found))
        }
    }
}

/// What hangs at some places, after a request was carried out.
pub type Settled<const N: usize> = Result<[Option<Qdisc>; N], KernelError>;
