//! Client of NUT servers (Network UPS Tools, RFC 9271): power supplies and their variables.

mod client;
pub mod line;
mod values;

pub use client::{NutAddress, NutClient, NutError, NutUps, PORT};
pub use values::{Variables, sample};
