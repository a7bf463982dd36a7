//! The store: rows, versions, and what a crash leaves.

mod crash;
mod fleet;
mod power;

use super::*;

fn row(key: u8, value: Option<&[u8]>) -> Row {
    Row { table: "nodes".to_owned(), key: [key; 16], value: value.map(<[u8]>::to_owned) }
}

#[test]
fn rows_come_back_in_key_order_and_removed_ones_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.db");
    let mut store = RedbStore::open(&path).unwrap();
    assert_eq!((store.load().unwrap(), store.last_tick().unwrap()), (vec![], 0));
    store.commit(4, &[row(9, Some(b"nine")), row(1, Some(b"one"))]).unwrap();
    store
        .commit(5, &[row(9, None), row(5, Some(b"")), row(1, None), row(1, Some(b"two"))])
        .unwrap();
    drop(store);
    let mut store = RedbStore::open(&path).unwrap();
    assert_eq!(store.load().unwrap(), [row(1, Some(b"two")), row(5, Some(b""))]);
    assert_eq!(store.last_tick().unwrap(), 5);
}

#[test]
fn one_process_holds_a_store_and_foreign_or_later_files_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.db");
    let store = RedbStore::open(&path).unwrap();
    assert!(matches!(RedbStore::open(&path), Err(StoreError::InUse { .. })));
    let raise = store.shared.with("test", |database| {
        let write = database.begin_write()?;
        write.open_table(METADATA)?.insert("schema", SCHEMA + 1)?;
        Ok(write.commit()?)
    });
    raise.unwrap();
    drop(store);
    assert!(matches!(
        RedbStore::open(&path),
        Err(StoreError::Schema { found, .. }) if found == SCHEMA + 1
    ));
    let foreign = folder.path().join("thesis.txt");
    std::fs::write(&foreign, "two years of work").unwrap();
    assert!(matches!(RedbStore::open(&foreign), Err(StoreError::Open { .. })));
    assert_eq!(std::fs::read_to_string(&foreign).unwrap(), "two years of work");
}
