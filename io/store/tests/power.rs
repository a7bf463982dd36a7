//! The store after a loss of power ([`crate::files::simulated`]).

use super::super::*;
use super::crash::{Rows, commit, rows};
use crate::files::simulated::{Noise, Recording, every_loss};

/// Commits through checkpoints, closes and starts; returns the rows after each commit.
fn recorded() -> (Arc<Recording>, Vec<Rows>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("world.db");
    let (record, files) = Recording::new();
    let (mut model, mut noise) = (Rows::new(), Noise(11));
    let mut states = vec![model.clone()];
    for start in 0..3u64 {
        let mut store = RedbStore::open_files(&path, files.clone()).unwrap();
        store.load().unwrap();
        for tick in start * 100..start * 100 + 14 {
            let large = noise.bytes(if tick % 3 == 0 { 250_000 } else { 1_500 });
            let gone = (tick % 2 == 0).then(|| noise.bytes(40));
            let changed =
                [(1, Some(noise.bytes(700))), (tick as u8 % 4 + 2, Some(large)), (9, gone)];
            commit(&mut store, &mut model, tick + 1, &changed);
            states.push(model.clone());
            record.acknowledge(states.len() - 1);
        }
    }
    (record, states)
}

#[test]
fn whatever_a_loss_of_power_leaves_has_every_acknowledged_commit() {
    let (record, states) = recorded();
    let checked = every_loss(&record, |left, acknowledged, when| {
        let opened = RedbStore::open(&left.join("world.db"));
        let mut store = opened.unwrap_or_else(|err| panic!("{when}: {err}"));
        let found = rows(&mut store);
        // The commit that was being written may be there, if all of it is.
        let allowed = &states[acknowledged..states.len().min(acknowledged + 2)];
        let at = states.iter().position(|state| *state == found);
        assert!(allowed.contains(&found), "{when}: {acknowledged} are acknowledged, found {at:?}");
    });
    assert!(checked > 300, "{checked}");
}
