//! Scenarios: a plan that `groundwave run` and `groundwave validate` take.
//!
//! A node with an id is named by it and labelled by its name; one without has a name made from
//! its own. What equals a preset to the bit is written as the preset, other radios and antennas
//! become presets of the file. A plan knows no terrain, so the file says which tiles lie under
//! the nodes in a comment, and the ground is flat until the comment is taken away.
//!
//! Of a scenario that is read, the nodes stay, whenever they join, with the first environment and
//! `[deployment]`; traffic, motion, failures and weather go, with a note.

mod read;
mod write;

pub use read::read;
pub use write::write;
