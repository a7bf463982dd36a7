//! Ids that sort by time.

use uuid::Uuid;

/// An id whose first bits are the time, and whose others follow from a name within a namespace.
pub(crate) fn timed_id(at_ms: u64, namespace: Uuid, name: &[u8]) -> Uuid {
    let hash = Uuid::new_v5(&namespace, name);
    let mut random = [0; 10];
    random.copy_from_slice(&hash.as_bytes()[..10]);
    uuid::Builder::from_unix_timestamp_millis(at_ms, &random).into_uuid()
}
