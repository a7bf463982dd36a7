//! The audit log of a gateway: opened with its key, checked, repaired.

use std::path::{Path, PathBuf};

use clap::Args;
use groundwave_credentials::possession::derive_key;
use groundwave_http::Failure;
use groundwave_io_gateway::{Audit, AuditReport};

use super::gateway_folder::GatewayFolder;

/// Key of the audit log, by the key of tokens.
fn audit_key(token_key: &[u8; 32]) -> [u8; 32] {
    derive_key(token_key, b"groundwave-audit-v1")
}

/// Opens the audit log; damage is logged and a new segment begins.
///
/// # Errors
/// When the file cannot be read or written, or another process writes to it.
pub(super) fn open(path: &Path, token_key: &[u8; 32]) -> Result<Audit, Failure> {
    let audit = Audit::open(path, &audit_key(token_key)).map_err(Failure::input)?;
    if !audit.report().is_intact() {
        tracing::error!(
            "audit log {}: {}; a new segment begins",
            path.display(),
            describe(audit.report())
        );
    }
    Ok(audit)
}

/// Lines of a report that are damaged.
#[must_use]
pub fn describe(report: &AuditReport) -> String {
    let lines = report.damage.iter().map(|one| match one.first_line == one.last_line {
        true => format!("line {} damaged", one.first_line),
        false => format!("lines {} to {} damaged", one.first_line, one.last_line),
    });
    lines.collect::<Vec<_>>().join(", ")
}

/// Configuration of a check of the audit log.
#[derive(Debug, Clone, Args)]
pub struct AuditConfig {
    /// Folder.
    #[command(flatten)]
    pub state: GatewayFolder,
}

impl AuditConfig {
    /// File of the audit log and its key.
    fn log(&self) -> Result<(PathBuf, [u8; 32]), Failure> {
        let log = self.state.existing("audit.jsonl")?;
        Ok((log, audit_key(&self.state.existing_key()?)))
    }

    /// Checks the log without changing it, also while the gateway runs.
    ///
    /// # Errors
    /// When a file is missing or cannot be read.
    pub fn verify(&self) -> Result<AuditReport, Failure> {
        let (log, key) = self.log()?;
        Audit::verify(&log, &key).map_err(Failure::input)
    }

    /// Checks the log; removes an incomplete last line, and begins a new segment after damage.
    ///
    /// # Errors
    /// When a file is missing or cannot be written, or the gateway runs.
    pub fn repair(&self) -> Result<AuditReport, Failure> {
        let (log, key) = self.log()?;
        let audit = Audit::open(&log, &key).map_err(Failure::input)?;
        Ok(audit.report().clone())
    }
}
