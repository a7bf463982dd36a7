//! Scenarios, terrain and the consent to fetch it: the inputs of commands and daemons that begin a world.

pub mod fetch;
pub mod recording;
pub mod simulation;
pub mod terrain;
