//! Writers of the states of a running world.

use std::io::{self, Write};

use groundwave_model::radio::Assumptions;
use groundwave_simulation::WorldView;
use groundwave_simulation::link::LinkView;
use groundwave_simulation::site::NodeView;

/// Destination of a document.
pub type Output<'w> = Box<dyn Write + Send + 'w>;

/// A document that is written while a log is replayed, so that a day needs no more memory than a
/// tick.
pub trait RecordingWriter {
    /// Unit of the count, plural.
    fn unit(&self) -> &'static str;

    /// Writes the next snapshot, in the order of time.
    ///
    /// # Errors
    /// I/O errors of the output.
    fn write(&mut self, now: &WorldView) -> io::Result<()>;

    /// Ends the document with the last snapshot; returns the number of parts written.
    ///
    /// # Errors
    /// I/O errors of the output.
    fn finish(self: Box<Self>, last: &WorldView) -> io::Result<u64>;
}

/// Assumptions of the predictions in a recording, written where they change.
#[derive(Debug, Default)]
pub(super) struct Assumed(Option<Assumptions>);

impl Assumed {
    /// The assumptions in words, where they are not those of the snapshot before.
    pub(super) fn changed(&mut self, now: &WorldView) -> Option<String> {
        let assumptions = now.environment.assumptions(None);
        if self.0.as_ref() == Some(&assumptions) {
            return None;
        }
        let text = assumed(&assumptions);
        self.0 = Some(assumptions);
        Some(text)
    }
}

/// Assumptions with the name of their calibration, one line without control characters.
pub(super) fn assumed(assumptions: &Assumptions) -> String {
    let profile = assumptions
        .calibration
        .as_ref()
        .map(|one| format!("; calibration profile {}", one.title()));
    format!("{assumptions}{}", profile.unwrap_or_default())
}

/// Writes a snapshot as a document.
type WriteEnd = fn(&WorldView, &mut dyn Write) -> io::Result<u64>;

/// A writer of the last snapshot alone.
pub(super) fn at_end<'w>(out: Output<'w>, write: WriteEnd) -> Box<dyn RecordingWriter + 'w> {
    Box::new(AtEnd { out, write })
}

struct AtEnd<'w> {
    out: Output<'w>,
    write: WriteEnd,
}

impl RecordingWriter for AtEnd<'_> {
    fn unit(&self) -> &'static str {
        "nodes and links"
    }

    fn write(&mut self, _: &WorldView) -> io::Result<()> {
        Ok(())
    }

    fn finish(mut self: Box<Self>, last: &WorldView) -> io::Result<u64> {
        let count = (self.write)(last, &mut self.out)?;
        self.out.flush()?;
        Ok(count)
    }
}

/// Links that carry traffic, with their nodes and ETX.
pub(super) fn carrying(
    now: &WorldView,
) -> impl Iterator<Item = (&LinkView, &NodeView, &NodeView, f64)> {
    let links = now.links.iter().filter(|link| now.carries(link));
    links.filter_map(|link| Some((link, now.node(link.a)?, now.node(link.b)?, link.budget.etx()?)))
}
