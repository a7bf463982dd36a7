//! Traffic control of the Linux kernel, over netlink: impairments become queueing disciplines and
//! are read back.
//!
//! A [`Kernel`] executes single requests: [`LinuxTc`] is the running one, [`Fake`] a model with the
//! same measured behaviour. A [`Shaper`] turns impairments into requests, over either. A [`Driver`]
//! connects a world with a shaper: it executes the effects of the world and reports their outcome
//! as commands.

mod band_steps;
pub mod bands;
pub mod batch;
#[doc(hidden)]
pub mod conformance;
pub mod counters;
mod divergence_items;
mod drain;
mod driver;
mod error;
mod fake;
pub mod fifo;
pub mod filter;
pub mod import;
mod import_tc;
pub mod incoming;
mod limits;
mod link_message;
pub mod linux_tc;
pub mod message;
mod namespaces;
pub mod netem;
mod netem_plan;
mod placed;
mod port_indices;
mod probe;
mod qdisc_params;
mod query;
mod reading;
mod removal;
mod rules_reading;
mod shaper;
pub mod stack;
mod steps;
pub mod table;
mod target;
pub mod tbf;
mod tc_text;
#[cfg(test)]
mod tests;

use std::future::Future;

pub use driver::{Driver, DriverHandle};
pub use error::KernelError;
pub use fake::Fake;
pub use fifo::Fifo;
pub use filter::{FilterMessage, FilterRequest};
pub use import::{ForeignQdisc, ImportedImpairment, foreign_qdiscs, import};
pub use import_tc::parse_tc_listing;
pub use linux_tc::LinuxTc;
pub use message::{Counters, Handle, Link, Qdisc, Redirection, Request, Verb};
pub use namespaces::{NamespacePort, Namespaces, PortInterface, Replacement};
pub use netem::{Netem, Odds, UnsupportedNetemAttr};
pub use reading::Reading;
pub use shaper::{Options, Shaper};
pub use tbf::Tbf;
pub use tc_text::{TcCommands, incoming_commands, tc_commands};

/// A kernel, or a model of one, that executes queueing discipline requests.
pub trait Kernel: Send + 'static {
    /// Name and version of the backend, for example `linux-tc` and `6.1.0`.
    fn backend(&self) -> (String, String);

    /// The interface with this name.
    ///
    /// # Errors
    /// [`KernelError::Gone`] without such an interface.
    fn link(&mut self, interface: &str) -> impl Future<Output = Result<Link, KernelError>> + Send;

    /// Makes what a port needs to be impaired: for the incoming traffic of an interface a device to
    /// which it is redirected. Returns a change.
    ///
    /// # Errors
    /// When the kernel refuses.
    fn prepare(
        &mut self,
        _interface: &str,
    ) -> impl Future<Output = Result<bool, KernelError>> + Send {
        std::future::ready(Ok(false))
    }

    /// Removes what [`Self::prepare`] made.
    ///
    /// # Errors
    /// When the kernel refuses.
    fn release(
        &mut self,
        _interface: &str,
    ) -> impl Future<Output = Result<(), KernelError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Presence of devices that incoming traffic can be redirected to, queried without a change.
    ///
    /// # Errors
    /// When the request fails for another reason.
    fn has_ifb(&mut self) -> impl Future<Output = Result<bool, KernelError>> + Send;

    /// Names of the interfaces looked up before that other programs changed since the last call.
    ///
    /// # Errors
    /// When the subscription to the kernel's notifications fails.
    fn changed(&mut self) -> Result<Vec<String>, KernelError> {
        Ok(Vec::new())
    }

    /// Names of ports whose interface or network namespace is another one since the last call, so that nothing
    /// requested is in force there.
    fn returned(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Waits until [`Self::changed`] or [`Self::returned`] may have something. A dropped future loses nothing.
    ///
    /// # Errors
    /// As [`Self::changed`].
    fn until_changed(&mut self) -> impl Future<Output = Result<(), KernelError>> + Send {
        std::future::pending()
    }

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

    /// The disciplines of interface `index` under each of `parents`, in one call where the backend
    /// supports it.
    ///
    /// # Errors
    /// As [`Self::get`].
    fn get_many(
        &mut self,
        index: u32,
        parents: &[Handle],
    ) -> impl Future<Output = Result<Vec<Option<Qdisc>>, KernelError>> + Send {
        async move {
            let mut qdiscs = Vec::with_capacity(parents.len());
            for parent in parents {
                qdiscs.push(self.get(index, *parent).await?);
            }
            Ok(qdiscs)
        }
    }

    /// Filters of the discipline `parent` of interface `index`.
    ///
    /// # Errors
    /// When the request fails.
    fn filters(
        &mut self,
        index: u32,
        parent: Handle,
    ) -> impl Future<Output = Result<Vec<FilterMessage>, KernelError>> + Send;

    /// Executes requests about filters in order, up to the first that is refused.
    ///
    /// # Errors
    /// The first refusal.
    fn send_filters(
        &mut self,
        requests: &[FilterRequest],
    ) -> impl Future<Output = Result<(), KernelError>> + Send;

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
            let mut qdiscs = [const { None }; N];
            for (qdisc, parent) in qdiscs.iter_mut().zip(parents) {
                *qdisc = self.get(link.index, parent).await?;
            }
            Ok((link, qdiscs))
        }
    }

    /// Executes one request and waits for its acknowledgement.
    ///
    /// # Errors
    /// The kernel's refusal; then nothing changed.
    fn send(&mut self, request: &Request) -> impl Future<Output = Result<(), KernelError>> + Send;

    /// Executes `requests`, which are about interface `index`, in order, then reads the disciplines
    /// under each of `parents`, in one call where the backend supports it: then no packet comes
    /// between the deletion of a discipline and the creation of its successor. After a refused
    /// request later ones may be executed.
    ///
    /// # Errors
    /// The first refusal; those of [`Self::get`] are inside the result.
    fn send_and_read<const N: usize>(
        &mut self,
        index: u32,
        requests: &[Request],
        parents: [Handle; N],
    ) -> impl Future<Output = Result<ReadBack<N>, KernelError>> + Send {
        async move {
            for request in requests {
                self.send(request).await?;
            }
            let mut qdiscs = [const { None }; N];
            for (qdisc, parent) in qdiscs.iter_mut().zip(parents) {
                *qdisc = match self.get(index, parent).await {
                    Ok(qdisc) => qdisc,
                    Err(err) => return Ok(Err(err)),
                };
            }
            Ok(Ok(qdiscs))
        }
    }
}

/// The disciplines under some parents, after a request was executed.
pub type ReadBack<const N: usize> = Result<[Option<Qdisc>; N], KernelError>;
