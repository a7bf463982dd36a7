//! Plots as SVG: pure functions of results.
//!
//! No scripts, external resources or clocks: equal input gives equal text, with coordinates at
//! 0.1 px.

mod curves;
mod fades;
mod figures;
mod header;
mod history;
mod layers;
mod legend;
mod map;
mod marks;
mod polar;
pub mod profile;
mod scene;
mod study;
pub mod testbed;
#[cfg(test)]
mod tests;
mod text;
mod theme;

pub use fades::{FadesPicture, fades_svg};
pub use history::{HistoryPicture, history_svg};
pub use map::{MapPicture, map_svg};
pub use polar::{PatternPicture, pattern_svg};
pub use profile::{ProfilePicture, profile_svg};
pub use study::{Interval, MeasurePanel, StudyPicture, study_svg};
pub use theme::Theme;
