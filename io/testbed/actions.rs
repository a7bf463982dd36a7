//! Requests that set up links and queueing disciplines in one batch.

use groundwave_kernel::batch::Message;
use groundwave_kernel::{KernelError, Request};
use groundwave_netlink::route::RouteRequest;
use groundwave_netlink::{NetlinkError, NetlinkRequest};

use super::error::TestbedError;
use super::namespace::Namespace;

/// A request of a batch that sets up links or queueing disciplines, in order.
#[derive(Debug, Clone)]
pub(super) enum Action {
    Route(RouteRequest),
    Qdisc(Request),
}

impl NetlinkRequest for Action {
    fn header(&self) -> (u16, u16) {
        match self {
            Self::Route(request) => request.header(),
            Self::Qdisc(request) => request.header(),
        }
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        match self {
            Self::Route(request) => request.write_body(out),
            Self::Qdisc(request) => request.write_body(out),
        }
    }
}

impl Message for Action {
    fn refused(&self, refusal: NetlinkError) -> KernelError {
        match self {
            Self::Route(request) => request.refused(refusal),
            Self::Qdisc(request) => request.refused(refusal),
        }
    }
}

/// Sends requests that must all succeed.
pub(super) fn send_all<M: Message>(
    namespace: &mut Namespace,
    actions: &[M],
    node: &str,
) -> Result<(), TestbedError> {
    if actions.is_empty() {
        return Ok(());
    }
    let what = format!("set up {node}");
    let refused = namespace.batch.execute(actions).map_err(TestbedError::kernel(&*what))?;
    match refused.into_iter().next() {
        Some((_, refusal)) => Err(TestbedError::kernel(what)(refusal)),
        None => Ok(()),
    }
}
