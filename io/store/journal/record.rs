//! Records of the journal: one commit each, with a checksum over all of it.
//!
//! ```text
//! magic 4 | crc32 4 | payload bytes 4 | record bytes 4 | store id 8 | sequence 8 | tick 8 | payload | zeros
//! ```
//!
//! Little-endian; the checksum is over what follows it, up to the end of the payload. A record fills
//! whole blocks, so that writing one never touches another.

/// First bytes of a record.
const MAGIC: u32 = u32::from_le_bytes(*b"GWJ1");
/// Length of everything before the payload, bytes.
pub(super) const HEADER_BYTES: usize = 40;
/// Records begin at multiples of the smallest block.
pub(super) use crate::files::through::BLOCK_BYTES_MIN;

/// One commit in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// Store it belongs to.
    pub store: u64,
    /// Number of the commit, from 1.
    pub sequence: u64,
    /// Tick of the commit.
    pub tick: u64,
    /// Encoded rows.
    pub payload: Vec<u8>,
}

/// Length of a record with such a payload in blocks of `block` bytes, bytes.
pub(super) const fn record_bytes(payload: usize, block: usize) -> usize {
    (HEADER_BYTES + payload).div_ceil(block) * block
}

impl Record {
    /// Writes the record to the front of `to`, which has [`record_bytes`] zeros.
    pub fn write(&self, to: &mut [u8]) {
        let end = HEADER_BYTES + self.payload.len();
        let words = [self.payload.len(), to.len()].map(|bytes| bytes as u32);
        to[8..12].copy_from_slice(&words[0].to_le_bytes());
        to[12..16].copy_from_slice(&words[1].to_le_bytes());
        for (at, word) in [self.store, self.sequence, self.tick].iter().enumerate() {
            to[16 + 8 * at..24 + 8 * at].copy_from_slice(&word.to_le_bytes());
        }
        to[HEADER_BYTES..end].copy_from_slice(&self.payload);
        let crc = crc32fast::hash(&to[8..end]);
        to[..4].copy_from_slice(&MAGIC.to_le_bytes());
        to[4..8].copy_from_slice(&crc.to_le_bytes());
    }

    /// The record at the front of `bytes` and its length, if there is a whole one.
    pub fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let half = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let word = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        if half(0)? != MAGIC {
            return None;
        }
        let end = HEADER_BYTES.checked_add(half(8)? as usize)?;
        let length = half(12)? as usize;
        let whole = length >= end && length.is_multiple_of(BLOCK_BYTES_MIN);
        if !whole || length > bytes.len() || crc32fast::hash(bytes.get(8..end)?) != half(4)? {
            return None;
        }
        let record = Self {
            store: word(16)?,
            sequence: word(24)?,
            tick: word(32)?,
            payload: bytes[HEADER_BYTES..end].to_vec(),
        };
        Some((record, length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_and_no_changed_byte_goes_unnoticed() {
        let record = Record {
            store: 7,
            sequence: 3,
            tick: 9,
            payload: (0..1000u32).map(|at| at as u8).collect(),
        };
        let mut bytes = vec![0; record_bytes(record.payload.len(), 512)];
        record.write(&mut bytes);
        assert_eq!(Record::read(&bytes), Some((record.clone(), 1536)));
        for at in 0..HEADER_BYTES + record.payload.len() {
            let mut bent = bytes.clone();
            bent[at] ^= 0x40;
            assert_eq!(Record::read(&bent), None, "{at}");
        }
        for cut in 0..bytes.len() {
            assert_eq!(Record::read(&bytes[..cut]), None, "{cut}");
        }
    }
}
