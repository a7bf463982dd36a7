//! Bounds of what a node may report.

use std::fmt;

use groundwave_protocol::metrics::NAMES_MAX;

/// Uploaded samples of one node and minute; more are refused.
pub const SAMPLES_MAX: usize = 4096;

/// Bound for which a reading is not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadingRefusal {
    /// The minute has all the samples that one may have.
    MinuteFull,
    /// The node has all the metrics that one may have, each reported within a day.
    NamesFull,
}

impl ReadingRefusal {
    /// Code of the refusal.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::MinuteFull => "minute-full",
            Self::NamesFull => "names-full",
        }
    }
}

impl fmt::Display for ReadingRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MinuteFull => write!(f, "too many samples of a minute: allowed {SAMPLES_MAX}"),
            Self::NamesFull => write!(
                f,
                "too many metrics: allowed {NAMES_MAX} within a day besides the core ones"
            ),
        }
    }
}
