//! Where new ids come from.

use uuid::Uuid;

/// A new id: version 7, so that ids sort by the time they were made and neighbours share pages of
/// the store.
#[must_use]
pub fn mint() -> Uuid {
    Uuid::now_v7()
}
