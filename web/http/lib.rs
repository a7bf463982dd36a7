//! Shared parts of the HTTP interfaces: endpoints, extractors, problems, OpenAPI document, server
//! with graceful shutdown.

pub mod accept;
pub mod admission;
mod attachment;
mod bind;
pub mod client;
pub mod connection;
pub mod document;
pub mod endpoints;
pub mod event_stream;
pub mod extract;
mod failure;
mod hooked;
pub mod id;
pub mod json_body;
pub mod layers;
pub mod lenient;
mod malformed;
pub mod mount;
pub mod name;
pub mod notify;
pub mod option_value;
pub mod origin;
pub mod page;
pub mod problem;
mod rejections;
pub mod route;
pub mod serve;
pub mod show;
pub mod spans;
pub mod streams;
pub mod strict;
pub mod tag;
pub mod time;
pub mod tls;
mod tls_validity;
mod unique_keys;
mod write_timeout;

pub use attachment::{attachment, file_stem};
pub use bind::{
    bind, create_for_owner, create_private, restrict_to_owner, socket_address, stop_on,
};
pub use document::{ApiDocument, Schemas};
pub use extract::{JsonBody, Path, Query, Raw, RawQuery};
pub use failure::Failure;
pub use origin::Origin;
pub use problem::Problem;
pub use show::Json;
