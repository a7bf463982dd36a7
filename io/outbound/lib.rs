//! Outbound requests: the one place that opens connections to addresses named by users.
//!
//! Every target is resolved once, every address of it is judged by the [`TargetPolicy`], and the
//! connection goes to one of the judged addresses: there is no second lookup. Redirects are not followed and proxies of the environment are not used.

mod address;
mod client;
mod connect;
mod error;
mod policy;
mod request;
#[cfg(test)]
mod tests;
mod tls;

pub use address::{Reach, classify};
pub use client::Outbound;
pub use connect::{CONNECT_MAX, Lookup, Resolve, SystemResolver, Target};
pub use error::OutboundError;
pub use policy::{AllowedTarget, TargetPolicy};
pub use request::{BODY_BYTES_MAX, REQUEST_MAX, Request, Response};
pub use tls::Trust;
