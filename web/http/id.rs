//! New ids.

use uuid::Uuid;

/// UUID version 7: ids sort by time of creation, so that neighbours share pages of
/// the store.
#[must_use]
pub fn mint() -> Uuid {
    Uuid::now_v7()
}
