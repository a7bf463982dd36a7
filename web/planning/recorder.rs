//! Documents of tracks and measurements that become logs.

use groundwave_http::Problem;
use groundwave_scenario::formats::Report;
use tempfile::NamedTempFile;

/// A document as a log.
#[derive(Debug)]
pub struct RecordedDocument {
    /// The log.
    pub log: NamedTempFile,
    /// Dropped and completed parts of the document.
    pub report: Report,
}

/// Records a document, by the name of its file and its content, as a log of the program's world.
pub type RecordDocument =
    Box<dyn Fn(String, Vec<u8>) -> Result<RecordedDocument, Problem> + Send + Sync>;
