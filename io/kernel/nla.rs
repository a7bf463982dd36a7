//! Netlink attributes: length, type, value, padded to four bytes, in the machine's byte order.

use super::KernelError;

/// Bytes of an attribute's head.
const HEAD: usize = 4;
/// Bits of the type that are flags: nested, network byte order.
const FLAGS: u16 = 0xc000;

/// Appends an attribute.
///
/// # Panics
/// When `value` is longer than an attribute can say, which the callers' types rule out.
pub(crate) fn put(out: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length =
        u16::try_from(HEAD + value.len()).expect("an attribute says its length in 16 bits");
    out.extend_from_slice(&length.to_ne_bytes());
    out.extend_from_slice(&kind.to_ne_bytes());
    out.extend_from_slice(value);
    pad(out);
}

/// Fills up to the next boundary of four bytes.
pub(crate) fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(4), 0);
}

/// The attributes in `bytes`, in order, flags taken off their types.
pub(crate) fn attributes(mut bytes: &[u8]) -> Result<Vec<(u16, &[u8])>, KernelError> {
    let mut found = Vec::new();
    while bytes.len() >= HEAD {
        let length = usize::from(u16::from_ne_bytes([bytes[0], bytes[1]]));
        let kind = u16::from_ne_bytes([bytes[2], bytes[3]]) & !FLAGS;
        let value = bytes.get(HEAD..length).ok_or_else(|| {
            let why = format!(
                "attribute {kind} says {length} bytes, {} are there",
                bytes.len()
            );
            KernelError::garbled("read an attribute", why)
        })?;
        found.push((kind, value));
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(found)
}

/// The `at`-th 32-bit word of `bytes`.
pub(crate) fn word(what: &str, bytes: &[u8], at: usize) -> Result<u32, KernelError> {
    let found = bytes
        .get(at * 4..at * 4 + 4)
        .and_then(|word| word.try_into().ok());
    found
        .map(u32::from_ne_bytes)
        .ok_or_else(|| short(what, bytes))
}

/// The 64-bit number that `bytes` begin with.
pub(crate) fn long(what: &str, bytes: &[u8]) -> Result<u64, KernelError> {
    let found = bytes.get(..8).and_then(|long| long.try_into().ok());
    found
        .map(u64::from_ne_bytes)
        .ok_or_else(|| short(what, bytes))
}

fn short(what: &str, bytes: &[u8]) -> KernelError {
    let why = format!("{} bytes are too few", bytes.len());
    KernelError::garbled(format!("read {what}"), why)
}

/// Appends words one after the other.
pub(crate) fn put_words(out: &mut Vec<u8>, words: &[u32]) {
    out.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
}

/// Words as the value of an attribute.
pub(crate) fn words(words: &[u32]) -> Vec<u8> {
    let mut out = Vec::with_capacity(words.len() * 4);
    put_words(&mut out, words);
    out
}
