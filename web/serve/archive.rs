//! Copies of the gateway's storage in one archive.

use std::fs::File;
use std::path::Path;

use groundwave_engine::{FaultKind, StoreFault};
use groundwave_io_gateway::archive;
use groundwave_web_gateway::Gateway;
use groundwave_web_gateway::services::backups::StorageCopier;

/// A function that writes an archive of the gateway: store, keys, audit log, telemetry.
pub(super) fn archiver(
    state: &Path,
    gateway: &Gateway,
    copy: impl Fn(&Path) -> Result<(), StoreFault> + Send + Sync + 'static,
) -> StorageCopier {
    let (state, history) = (state.to_owned(), gateway.history.clone());
    Box::new(move |to: &Path| {
        let store = to.with_extension("store");
        copy(&store)?;
        let pack = || archive::pack(File::create_new(to)?, &store, &state, &history);
        pack().map_err(|err| StoreFault {
            kind: FaultKind::of(&err),
            operation: "pack the copy",
            cause: err.to_string(),
        })
    })
}
