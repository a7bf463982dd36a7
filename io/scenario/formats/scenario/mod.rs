//! Scenarios of this program: a plan that `groundwave run` and `groundwave validate` take.
//!
//! A node with an id is named by it and labelled by its name; one without has a name made from
//! its own. What equals a preset to the bit is written as the preset, other radios and antennas
//! become presets of the file. A plan has no terrain, so the file names the tiles under
//! the nodes in a comment, and the ground is not known until the comment is taken away.
//!
//! Files that a scenario names are read beside the file it comes from; bytes of a client name none.
//!
//! Of a scenario that is read, the nodes stay, whenever they join, with the first environment and
//! `[deployment]`; traffic, motion, failures and weather go, with a note.

mod read;
mod write;

use super::dataset::Dataset;
use super::error::FormatError;
use super::plan::PlanFile;
use super::report::Report;
use super::{Content, Format, ReadOptions, Source};
pub(super) use write::{Head, Mesh, Stay, text};

/// The format.
pub static FORMAT: Format = Format {
    name: "scenario",
    label: "scenario",
    description: "scenario of this program (TOML): plan",
    extensions: &["toml"],
    media_type: Some("application/toml"),
    contents: &[Content::Plan],
    sniff: |sample| sample.lines().any(|line| line == "[scenario]"),
    read: Some(|source, options| read(source, options).map(Dataset::of_plan)),
    write_plan: Some(write::write),
    ..Format::NONE
};

fn read(source: &Source, options: &ReadOptions) -> Result<(PlanFile, Report), FormatError> {
    read::read(source.bytes(), source.folder.as_deref(), &options.station)
}
