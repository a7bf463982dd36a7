//! Shared parts of the HTTP interfaces: endpoints, extractors, problems, OpenAPI document, server
//! with graceful shutdown.

pub mod client;
pub mod document;
pub mod endpoints;
pub mod extract;
pub mod gate;
pub mod id;
pub mod json_body;
pub mod layers;
pub mod page;
pub mod problem;
pub mod serve;
pub mod show;
pub mod strict;
pub mod tag;
pub mod time;

pub use document::{ApiDocument, Schemas};
pub use extract::{JsonBody, Path, Query, Raw};
pub use problem::Problem;
pub use show::Json;
