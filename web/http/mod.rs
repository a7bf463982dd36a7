//! What all HTTP frontends share: problems, checked bodies, the document of an API, a server that
//! stops when asked.

pub mod accept;
pub mod client;
pub mod document;
pub mod endpoints;
pub mod extract;
pub mod gate;
pub mod id;
pub mod json_body;
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
