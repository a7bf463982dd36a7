//! What commands and daemons set up before a world: scenarios, terrain and the consent to fetch it.

pub mod fetch;
pub mod simulation;
pub mod terrain;
