//! Files of antenna patterns.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundwave_http::Problem;
use groundwave_scenario::antenna::PatternDocument;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum length of the name of a file, bytes: that of common file systems.
const NAME_BYTES_MAX: usize = 255;

/// Files of one antenna.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatternQuestion {
    /// One file, or both cuts of SPLAT! in any order.
    #[schemars(length(min = 1, max = 2))]
    pub files: Vec<PatternFile>,
}

/// File of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatternFile {
    /// Name of the file, 1 to 255 bytes.
    #[schemars(length(min = 1, max = NAME_BYTES_MAX))]
    pub name: String,
    /// Content, base64; up to 4 MiB of bytes.
    pub content: String,
}

impl PatternFile {
    /// The content.
    ///
    /// # Errors
    /// 400 for a name that is empty or too long, or a content that is not base64.
    pub fn document(self) -> Result<PatternDocument, Problem> {
        if !(1..=NAME_BYTES_MAX).contains(&self.name.len()) {
            let count = self.name.len();
            let what =
                format!("invalid files.name: found {count} bytes, allowed 1 to {NAME_BYTES_MAX}");
            return Err(Problem::bad_request(what));
        }
        let octets = STANDARD.decode(self.content).map_err(|err| {
            Problem::bad_request(format!("invalid files.content: found {err}, allowed base64"))
        })?;
        Ok(PatternDocument { name: self.name, octets })
    }
}
