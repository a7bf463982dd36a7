//! Many requests in few system calls, for networks of many links.
//!
//! These requests do not go through an `rtnetlink` connection: it costs a task switch and two
//! channel messages for each of the hundreds of messages that one system call carries, several
//! times the kernel's own work on a queueing discipline.

use std::path::Path;

use groundwave_netlink::route::RouteRequest;
use groundwave_netlink::{NetlinkError, NetlinkRequest, NetlinkSocket};
use netlink_sys::protocols::NETLINK_ROUTE;

use super::{FilterRequest, KernelError, Request};

/// A request that a batch can carry.
pub trait Message: NetlinkRequest {
    /// The error for a refusal of this request.
    fn refused(&self, refusal: NetlinkError) -> KernelError;
}

impl Message for Request {
    fn refused(&self, refusal: NetlinkError) -> KernelError {
        match refusal {
            NetlinkError::Refused { errno, message } => KernelError::refused(self, errno, message),
            other => KernelError::netlink(format!("set {} {}", self.kind, self.handle), other),
        }
    }
}

impl Message for FilterRequest {
    fn refused(&self, refusal: NetlinkError) -> KernelError {
        match refusal {
            NetlinkError::Refused { errno, message } => Self::refused(self, errno, message),
            other => KernelError::netlink(self.text(), other),
        }
    }
}

impl Message for RouteRequest {
    fn refused(&self, refusal: NetlinkError) -> KernelError {
        KernelError::netlink(&*self.what, refusal)
    }
}

/// A socket for batches. It blocks its thread for the kernel's own work.
#[derive(Debug)]
pub struct Batch {
    socket: NetlinkSocket,
}

impl Batch {
    /// Opens a socket in the network namespace at `netns`, or in that of the calling thread.
    ///
    /// # Errors
    /// When the namespace cannot be entered or the kernel gives no socket.
    pub fn open(netns: Option<&Path>) -> Result<Self, KernelError> {
        let socket = NetlinkSocket::open(NETLINK_ROUTE, netns)
            .map_err(|source| KernelError::open(netns, source))?;
        Ok(Self { socket })
    }

    /// Executes queueing discipline requests as [`Batch::execute`] does.
    ///
    /// # Errors
    /// As [`Batch::execute`].
    pub fn send(&mut self, requests: &[Request]) -> Result<Vec<(usize, KernelError)>, KernelError> {
        self.execute(requests)
    }

    /// Executes `requests` in order, those after a refused one as well; a batch is not a
    /// transaction. Returns the refused ones by their index.
    ///
    /// # Errors
    /// When the socket fails; the number of executed requests is then unknown.
    pub fn execute<M: Message>(
        &mut self,
        requests: &[M],
    ) -> Result<Vec<(usize, KernelError)>, KernelError> {
        for request in requests {
            self.socket.add(request);
        }
        let answers = self.socket.call().map_err(|source| KernelError::Io {
            what: "send a batch to the kernel".to_owned(),
            source,
        })?;
        let refused = answers.into_iter().zip(requests).enumerate().filter_map(
            |(index, (answer, request))| answer.err().map(|err| (index, request.refused(err))),
        );
        Ok(refused.collect())
    }

    /// Index of the interface `name`.
    ///
    /// # Errors
    /// [`KernelError::Gone`] without such an interface.
    pub fn index(&self, name: &str) -> Result<u32, KernelError> {
        self.socket.index(name).map_err(|_| KernelError::Gone { what: name.to_owned() })
    }

    /// Port of the socket, which notifications of its changes carry.
    pub fn port(&self) -> u32 {
        self.socket.port()
    }

    /// Bodies of all answers to a dump request of type `kind`, whose own body is `body`.
    ///
    /// # Errors
    /// When the socket fails or the kernel refuses.
    pub fn dump(&mut self, kind: u16, body: &[u8]) -> Result<Vec<Vec<u8>>, KernelError> {
        let answers = self.socket.dump(&(kind, 0, body));
        answers.map_err(|err| KernelError::netlink("dump the kernel's tables", err))
    }
}
