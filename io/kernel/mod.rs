//! Traffic control of the Linux kernel, over netlink: impairments become queueing disciplines and
//! are read back.
//!
//! A [`Kernel`] executes single requests: [`LinuxTc`] is the running one, [`Fake`] a model with the
//! same measured behaviour. A [`Shaper`] turns impairments into requests, over either. A [`Driver`]
//! connects a world with a shaper: it executes the effects of the world and reports their outcome
//! as commands.

pub mod batch;
pub(crate) mod bridge_port_qdiscs;
#[doc(hidden)]
pub mod conformance;
mod counters;
mod driver;
mod error;
mod fake;
mod fifo;
mod limits;
pub(crate) mod linux_tc;
mod message;
mod netem;
mod probe;
mod qdisc_params;
mod query;
mod reading;
mod shaper;
mod stack;
mod steps;
mod table;
mod tbf;
#[cfg(test)]
mod tests;
pub(crate) mod veth_qdiscs;

use std::future::Future;

pub use driver::{Driver, DriverHandle};
pub use error::KernelError;
pub use fake::Fake;
pub use fifo::Fifo;
pub use linux_tc::LinuxTc;
pub use message::{Counters, Handle, Link, Qdisc, Request, Verb};
pub use netem::{Netem, UnsupportedNetemAttr};
pub use reading::Reading;
pub use shaper::{Options, Shaper};
pub use tbf::Tbf;

/// A kernel, or a model of one, that executes queueing discipline requests.
pub trait Kernel: Send + 'static {
    /// Name and version of the backend, for example `linux-tc` and `6.1.0`.
    fn backend(&self) -> (String, String);

    /// The interface with this name.
    ///
    /// # Errors
    /// [`KernelError::Gone`] without such an interface.
    fn link(&mut self, interface: &str) -> impl Future<Output = Result<Link, KernelError>> + Send;

    /// The queueing discipline of interface `index` under `parent`, `None` for a default of the
    /// kernel.
    ///
    /// # Errors
    /// When the request fails.
    fn get(
        &mut self,
        index: u32,
        parent: Handle,
    ) -> impl Future<Output = Result<Option<Qdisc>, KernelError>> + Send;

    /// The interface with this name, and the disciplines under each of `parents`, in one call
    /// where the backend supports it.
    ///
    /// # Errors
    /// As [`Self::link`] and [`Self::get`].
    fn link_and_qdiscs<const N: usize>(
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

    /// Executes one request and waits for its acknowledgement.
    ///
    /// # Errors
    /// The kernel's refusal; then nothing changed.
    fn send(&mut self, request: &Request) -> impl Future<Output = Result<(), KernelError>> + Send;

    /// Executes one request, then reads the disciplines under each of `parents` of its interface,
    /// in one call where the backend supports it.
    ///
    /// # Errors
    /// Those of [`Self::send`]; those of [`Self::get`] are inside the result.
    fn send_and_read<const N: usize>(
        &mut self,
        request: &Request,
        parents: [Handle; N],
    ) -> impl Future<Output = Result<ReadBack<N>, KernelError>> + Send {
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

/// The disciplines under some parents, after a request was executed.
pub type ReadBack<const N: usize> = Result<[Option<Qdisc>; N], KernelError>;
