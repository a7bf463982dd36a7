//! Rows of a commit as the payload of a record.
//!
//! ```text
//! table bytes 1 | table | key 16 | form 1 | value bytes 4 | packed bytes 4 | packed
//! ```
//!
//! A heartbeat changes a few numbers of a document of kilobytes, so a value is compressed with the
//! value before it as its dictionary: what did not change costs next to nothing.

use std::io;
use std::sync::Arc;

use groundwave_engine::Row;
use zstd::zstd_safe::{self, CCtx, CParameter, DCtx};

/// zstd level.
const LEVEL: i32 = 3;
/// Longest value that is accepted in a record, bytes.
const VALUE_BYTES_MAX: usize = 64 << 20;

/// The row is gone.
const GONE: u8 = 0;
/// A value, compressed.
const WHOLE: u8 = 1;
/// A value, compressed with the value before as dictionary.
const CHANGED: u8 = 2;

/// Value of a row.
pub(in crate::store) type Value = Arc<[u8]>;

fn packing(code: usize) -> io::Error {
    io::Error::other(zstd_safe::get_error_name(code))
}

fn damaged() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "a record of the journal is malformed",
    )
}

/// Rows as a payload; `before` is the value that a reader of the journal knows of a row.
pub(super) fn encode<'a>(
    rows: &'a [Row],
    before: impl Fn(&Row) -> Option<&'a [u8]>,
) -> io::Result<Vec<u8>> {
    let mut packer = CCtx::create();
    let level = packer.set_parameter(CParameter::CompressionLevel(LEVEL));
    level.map_err(packing)?;
    let mut payload = Vec::new();
    let mut earlier: std::collections::BTreeMap<(&str, [u8; 16]), Option<&[u8]>> =
        std::collections::BTreeMap::new();
    for row in rows {
        let name = u8::try_from(row.table.len()).map_err(|_| damaged())?;
        payload.push(name);
        payload.extend_from_slice(row.table.as_bytes());
        payload.extend_from_slice(&row.key);
        let place = (row.table.as_str(), row.key);
        // A commit may change a row twice: the second change follows from the first.
        let base = match earlier.get(&place) {
            Some(value) => *value,
            None => before(row),
        };
        earlier.insert(place, row.value.as_deref());
        let Some(value) = row.value.as_deref() else {
            payload.push(GONE);
            continue;
        };
        payload.push(match base {
            Some(base) => {
                packer.ref_prefix(base).map_err(packing)?;
                CHANGED
            }
            None => WHOLE,
        });
        let mut packed = Vec::with_capacity(zstd_safe::compress_bound(value.len()));
        packer.compress2(&mut packed, value).map_err(packing)?;
        let lengths = [value.len(), packed.len()].map(|bytes| bytes as u32);
        payload.extend(lengths.iter().flat_map(|bytes| bytes.to_le_bytes()));
        payload.extend_from_slice(&packed);
    }
    Ok(payload)
}

/// Takes the front off `bytes`.
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> io::Result<&'a [u8]> {
    let (front, rest) = bytes.split_at_checked(count).ok_or_else(damaged)?;
    *bytes = rest;
    Ok(front)
}

/// Reads a payload and hands over each row; `before` is the value known of a row, and `put` the next
/// one.
pub(super) fn decode<T>(
    mut payload: &[u8],
    known: &mut T,
    before: impl Fn(&T, &str, [u8; 16]) -> io::Result<Option<Value>>,
    mut put: impl FnMut(&mut T, &str, [u8; 16], Option<Value>),
) -> io::Result<()> {
    let bytes = &mut payload;
    while !bytes.is_empty() {
        let length = usize::from(take(bytes, 1)?[0]);
        let table = str::from_utf8(take(bytes, length)?).map_err(|_| damaged())?;
        let key: [u8; 16] = take(bytes, 16)?.try_into().map_err(|_| damaged())?;
        let form = take(bytes, 1)?[0];
        if form == GONE {
            put(known, table, key, None);
            continue;
        }
        let mut word = || -> io::Result<usize> {
            let word: [u8; 4] = take(bytes, 4)?.try_into().map_err(|_| damaged())?;
            Ok(u32::from_le_bytes(word) as usize)
        };
        let (value_bytes, packed_bytes) = (word()?, word()?);
        let packed = take(bytes, packed_bytes)?;
        if value_bytes > VALUE_BYTES_MAX {
            return Err(damaged());
        }
        let base = match form {
            WHOLE => None,
            CHANGED => Some(before(known, table, key)?.ok_or_else(damaged)?),
            _ => return Err(damaged()),
        };
        let mut unpacker = DCtx::create();
        if let Some(base) = &base {
            unpacker.ref_prefix(base).map_err(packing)?;
        }
        let mut value = Vec::with_capacity(value_bytes);
        unpacker.decompress(&mut value, packed).map_err(packing)?;
        if value.len() != value_bytes {
            return Err(damaged());
        }
        put(known, table, key, Some(value.into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    type Known = BTreeMap<(String, [u8; 16]), Option<Value>>;

    fn row(table: &str, key: u8, value: Option<Vec<u8>>) -> Row {
        Row {
            table: table.to_owned(),
            key: [key; 16],
            value,
        }
    }

    fn decoded(payload: &[u8], known: &mut Known) -> io::Result<()> {
        let before = |known: &Known, table: &str, key| {
            Ok(known.get(&(table.to_owned(), key)).cloned().flatten())
        };
        decode(payload, known, before, |known, table, key, value| {
            known.insert((table.to_owned(), key), value);
        })
    }

    #[test]
    fn values_follow_from_the_values_before_them_and_cost_what_changed() {
        let first: Vec<u8> = (0..4000u32).map(|at| (at * at / 7) as u8).collect();
        let mut second = first.clone();
        second[2000] ^= 1;
        let mut known = Known::new();
        let whole = [row("a", 1, Some(first.clone())), row("a", 2, None)];
        decoded(&encode(&whole, |_| None).unwrap(), &mut known).unwrap();
        let changed = [
            row("a", 1, Some(second.clone())),
            row("a", 1, None),
            row("a", 1, Some(first.clone())),
        ];
        let payload = encode(&changed, |_| Some(first.as_slice())).unwrap();
        decoded(&payload, &mut known).unwrap();
        assert_eq!(
            known[&("a".to_owned(), [1; 16])].as_deref(),
            Some(first.as_slice())
        );
        assert_eq!(known[&("a".to_owned(), [2; 16])], None);
        let payload = encode(&changed[..1], |_| Some(first.as_slice())).unwrap();
        assert!(payload.len() < 100, "{} bytes", payload.len());
        decoded(&payload, &mut known).unwrap();
        assert_eq!(
            known[&("a".to_owned(), [1; 16])].as_deref(),
            Some(second.as_slice())
        );
    }

    #[test]
    fn malformed_payloads_are_errors() {
        let rows = [row("a", 1, Some(vec![5; 100]))];
        let payload = encode(&rows, |_| None).unwrap();
        for cut in 1..payload.len() {
            assert!(
                decoded(&payload[..cut], &mut Known::new()).is_err(),
                "{cut}"
            );
        }
        let changed = encode(&rows, |_| Some(b"base".as_slice())).unwrap();
        assert!(
            decoded(&changed, &mut Known::new()).is_err(),
            "without its base"
        );
    }
}
