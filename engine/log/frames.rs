//! Format 1, for logs that were written in it: frames of length, CRC-32 and named msgpack.

use std::io::Read;

use super::LogError;
use super::chunk::{Next, read_up_to, zeros};
use crate::limits::LOG_FRAME_BYTES_MAX;

/// First bytes of every log of format 1.
pub const MAGIC: [u8; 8] = *b"GWAVELOG";

/// The next frame, which begins at `offset`.
pub fn read(input: &mut impl Read, offset: u64) -> Result<Next<Vec<u8>>, LogError> {
    let mut head = [0; 8];
    let got = read_up_to(input, &mut head)?;
    if got < head.len() {
        return Ok(Next::Torn(got as u64));
    }
    if head == [0; 8] {
        return zeros(input, offset, 8);
    }
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
    let crc = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    if length == 0 {
        return Err(LogError::damage(offset, "an empty frame"));
    }
    if length > LOG_FRAME_BYTES_MAX {
        let what = format!("a frame of {length} bytes; at most {LOG_FRAME_BYTES_MAX}");
        return Err(LogError::damage(offset, what));
    }
    let mut payload = vec![0; length];
    let got = read_up_to(input, &mut payload)?;
    if got < length {
        return Ok(Next::Torn(8 + got as u64));
    }
    if crc32fast::hash(&payload) != crc {
        return Err(LogError::damage(offset, "the checksum does not match"));
    }
    Ok(Next::Found(payload))
}
