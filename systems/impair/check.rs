//! Checks of parts of an impairment that no range expresses, and the bounds its attributes name.

use groundwave_engine::Refusal;

/// Longest name of a distribution table, characters.
pub const TABLE_NAME_CHARS_MAX: usize = 64;

/// Longest duration, ns: the kernel counts it in 64 bits with a sign.
pub const DURATION_NS_MAX: u64 = i64::MAX as u64;

/// Lowest rate, bit/s: the shaper counts whole bytes per second.
pub const RATE_BPS_MIN: u64 = 8;

/// Names of distribution tables that are accepted.
const TABLE_NAMES: &str = "1 to 64 of a-z, 0-9, '_' and '-'";

/// Refuses names that are not those of a table: they become file names.
///
/// # Errors
/// [`Refusal::Invalid`] at `key` unless `name` is 1 to 64 of `a-z0-9_-`.
pub fn check_table_name(key: &str, name: &str) -> Result<(), Refusal> {
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    if (1..=TABLE_NAME_CHARS_MAX).contains(&name.len()) && name.bytes().all(allowed) {
        return Ok(());
    }
    Err(Refusal::invalid(key, format!("{name:?}"), TABLE_NAMES))
}

/// [`check_table_name`] as the check of a field.
pub(super) fn table_name(name: &str, _: &()) -> garde::Result {
    check_table_name("name", name).map_err(|_| garde::Error::new(TABLE_NAMES))
}
