//! Rows of a commit as the payload of a record.
//!
//! ```text
//! table bytes 1 | table | key 16 | form 1 | value bytes 4 | packed bytes 4 | packed
//! ```
//!
//! A heartbeat changes a few numbers of a document of kilobytes, so a value is compressed with the
//! value before it as its dictionary: what did not change costs next to nothing. Numbers of documents
//! are shortened first, here and in the dictionary ([`groundwave_files::short_form`]); such rows have forms of their own,
//! and both lengths as variable-length integers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use groundwave_engine::Row;
use groundwave_files::short_form::{lengthen, shorten};
use groundwave_values::decimal::{read_integer, write_integer};
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
/// A value, shortened and compressed.
const SHORT_WHOLE: u8 = 3;
/// A value, shortened and compressed with the shortened value before as dictionary.
const SHORT_CHANGED: u8 = 4;

/// Value of a row.
pub(crate) type Value = Arc<[u8]>;

fn packing(code: usize) -> io::Error {
    io::Error::other(zstd_safe::get_error_name(code))
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a record of the journal is malformed")
}

/// A value and its dictionary as they are compressed.
struct Prepared<'a> {
    form: u8,
    value: Cow<'a, [u8]>,
    base: Option<Cow<'a, [u8]>>,
}

impl<'a> Prepared<'a> {
    /// Shortens both, where that is possible.
    fn new(value: &'a [u8], base: Option<&'a [u8]>) -> Self {
        let short = shorten(value).map(Cow::Owned);
        let (form, value, base) = match (short, base.map(|base| (base, shorten(base)))) {
            (Some(short), None) => (SHORT_WHOLE, short, None),
            (Some(short), Some((_, Some(base)))) => (SHORT_CHANGED, short, Some(Cow::Owned(base))),
            (None, None) => (WHOLE, Cow::Borrowed(value), None),
            // Only a dictionary of the same form helps.
            (_, Some((base, _))) => (CHANGED, Cow::Borrowed(value), Some(Cow::Borrowed(base))),
        };
        Self { form, value, base }
    }
}

/// Rows as a payload; `before` is the value that a reader of the journal knows of a row.
pub(super) fn encode<'a>(
    rows: &'a [Row],
    before: impl Fn(&Row) -> Option<&'a [u8]>,
) -> io::Result<Vec<u8>> {
    let mut earlier: BTreeMap<(&str, [u8; 16]), Option<&[u8]>> = BTreeMap::new();
    let mut prepared = Vec::with_capacity(rows.len());
    for row in rows {
        // A commit may change a row twice: the second change follows from the first.
        let value = row.value.as_deref();
        let base = match earlier.insert((row.table.as_str(), row.key), value) {
            Some(earlier) => earlier,
            None => before(row),
        };
        prepared.push(value.map(|value| Prepared::new(value, base)));
    }
    let mut packer = CCtx::create();
    let level = packer.set_parameter(CParameter::CompressionLevel(LEVEL));
    level.map_err(packing)?;
    let mut payload = Vec::new();
    for (row, prepared) in rows.iter().zip(&prepared) {
        let name = u8::try_from(row.table.len()).map_err(|_| damaged())?;
        payload.push(name);
        payload.extend_from_slice(row.table.as_bytes());
        payload.extend_from_slice(&row.key);
        let (Some(prepared), Some(value)) = (prepared, &row.value) else {
            payload.push(GONE);
            continue;
        };
        payload.push(prepared.form);
        if let Some(base) = &prepared.base {
            packer.ref_prefix(base).map_err(packing)?;
        }
        let mut packed = Vec::with_capacity(zstd_safe::compress_bound(prepared.value.len()));
        let done = packer.compress2(&mut packed, &prepared.value);
        done.map_err(packing)?;
        for bytes in [value.len(), packed.len()] {
            match prepared.form {
                WHOLE | CHANGED => payload.extend_from_slice(&(bytes as u32).to_le_bytes()),
                _ => write_integer(bytes as u64, &mut payload),
            }
        }
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
        let is_short = matches!(form, SHORT_WHOLE | SHORT_CHANGED);
        let mut length = || -> io::Result<usize> {
            if is_short {
                let length = read_integer(bytes).ok_or_else(damaged)?;
                return usize::try_from(length).map_err(|_| damaged());
            }
            let word: [u8; 4] = take(bytes, 4)?.try_into().map_err(|_| damaged())?;
            Ok(u32::from_le_bytes(word) as usize)
        };
        let (value_bytes, packed_bytes) = (length()?, length()?);
        let packed = take(bytes, packed_bytes)?;
        if value_bytes > VALUE_BYTES_MAX {
            return Err(damaged());
        }
        let base = match form {
            WHOLE | SHORT_WHOLE => None,
            CHANGED | SHORT_CHANGED => Some(before(known, table, key)?.ok_or_else(damaged)?),
            _ => return Err(damaged()),
        };
        let short_base = match &base {
            Some(base) if is_short => Some(shorten(base).ok_or_else(damaged)?),
            _ => None,
        };
        let mut unpacker = DCtx::create();
        if let Some(base) = short_base.as_deref().or(base.as_deref()) {
            unpacker.ref_prefix(base).map_err(packing)?;
        }
        // A shortened value is at most two bytes a token longer, and a token has a byte.
        let mut held = Vec::with_capacity(if is_short { 2 * value_bytes } else { value_bytes });
        unpacker.decompress(&mut held, packed).map_err(packing)?;
        let value = match is_short {
            true => lengthen(&held, value_bytes).ok_or_else(damaged)?,
            false => held,
        };
        if value.len() != value_bytes {
            return Err(damaged());
        }
        put(known, table, key, Some(value.into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Known = BTreeMap<(String, [u8; 16]), Option<Value>>;

    fn row(table: &str, key: u8, value: Option<Vec<u8>>) -> Row {
        Row { table: table.to_owned(), key: [key; 16], value }
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
        assert_eq!(known[&("a".to_owned(), [1; 16])].as_deref(), Some(first.as_slice()));
        assert_eq!(known[&("a".to_owned(), [2; 16])], None);
        let payload = encode(&changed[..1], |_| Some(first.as_slice())).unwrap();
        assert!(payload.len() < 100, "{} bytes", payload.len());
        decoded(&payload, &mut known).unwrap();
        assert_eq!(known[&("a".to_owned(), [1; 16])].as_deref(), Some(second.as_slice()));
    }

    #[test]
    fn malformed_payloads_are_errors() {
        let rows = [row("a", 1, Some(vec![5; 100]))];
        let payload = encode(&rows, |_| None).unwrap();
        for cut in 1..payload.len() {
            assert!(decoded(&payload[..cut], &mut Known::new()).is_err(), "{cut}");
        }
        let changed = encode(&rows, |_| Some(b"base".as_slice())).unwrap();
        assert!(decoded(&changed, &mut Known::new()).is_err(), "without its base");
    }
}
