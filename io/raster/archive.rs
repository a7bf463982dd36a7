//! Files in one zip archive, the same bytes for the same files.

use std::io::{Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Writes files, by name and octets, in their order.
pub(crate) fn pack<W: Write + Seek>(
    out: &mut W,
    entries: &[(&str, &[u8])],
) -> zip::result::ZipResult<()> {
    let mut zip = ZipWriter::new(out);
    for (name, bytes) in entries {
        // Pictures are compressed already. The time is the first of the format.
        let method = if name.ends_with(".png") {
            CompressionMethod::Stored
        } else {
            CompressionMethod::Deflated
        };
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .last_modified_time(DateTime::default())
            .unix_permissions(0o644);
        zip.start_file(*name, options)?;
        zip.write_all(bytes)?;
    }
    zip.finish()?;
    Ok(())
}
