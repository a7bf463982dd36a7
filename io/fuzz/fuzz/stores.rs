//! Files of our own that come back from disks and people: logs, units of sweeps, backups, audit.

use std::collections::BTreeSet;
use std::io::Cursor;

use groundwave_credentials::{read_words, seal};
use groundwave_engine::log::Reader;
use groundwave_fuzz::fuzz_target;
use groundwave_io_gateway::Audit;
use groundwave_sweep::{Column, SiteTile, UnitReader, UnitWriter};

use super::{as_file, shipped};

fuzz_target!(
    gwlog,
    vec![
        shipped("tests/fixtures/compat/two_nodes.gwlog"),
        shipped("tests/fixtures/compat/failover.gwlog")
    ],
    |bytes: &[u8]| {
        if let Ok(mut reader) = Reader::open(Cursor::new(bytes)) {
            while let Ok(Some(_)) = reader.next_entry() {}
        }
        as_file("fuzz.gwlog", bytes, |path| drop(groundwave_store::journal_file::open(path)));
    }
);
/// A column beside those that all units have.
fn columns() -> BTreeSet<Column> {
    BTreeSet::from([Column::Rate])
}

/// A unit of two sites, without the digest at its end.
fn unit() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("unit");
    let mut unit = UnitWriter::create(&path).unwrap();
    for site in [0, 7] {
        let mut tile = SiteTile::blank(site, 16, &columns());
        tile.answers.flags = (0..16).collect();
        unit.push(&tile).unwrap();
    }
    unit.commit().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.truncate(bytes.len() - 32);
    bytes
}

fuzz_target!(sweep_unit, vec![unit()], |bytes: &[u8]| {
    use sha2::{Digest, Sha256};
    // With the digest that a whole file ends with, so that changes reach the parser.
    let whole = [bytes, Sha256::digest(bytes).as_slice()].concat();
    as_file("unit", &whole, |path| {
        if let Ok(Some(mut unit)) = UnitReader::open(path) {
            for site in unit.sites().map_while(Result::ok) {
                drop(site.answers());
                drop(site.tile(&columns()));
            }
        }
    });
});
fuzz_target!(sealed_backup, vec![seal::seal(&[7; 32], b"a backup").unwrap()], |bytes: &[u8]| {
    if seal::unseal(&[7; 32], bytes).is_ok() {
        assert!(seal::is_sealed(bytes));
    }
});
fuzz_target!(audit_log, vec![shipped("tests/fixtures/compat/audit.jsonl")], |bytes: &[u8]| {
    as_file("audit.jsonl", bytes, |path| drop(Audit::open(path, &[7; 32])));
    as_file("words", bytes, |path| drop(read_words(path)));
});
