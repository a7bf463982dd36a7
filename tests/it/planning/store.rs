//! The store: layouts, copies, one process.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use groundwave_engine::Store;
use groundwave_gateway::{Snapshot, world};
use groundwave_model::terrain::Flat;
use groundwave_simulation::site::NodeId;
use groundwave_store::{RedbStore, SCHEMA};

use crate::support::{command, root};

/// Unpacks the store that a program of layout `schema` wrote.
fn unpack(schema: u64, to: &Path) {
    let name = format!("tests/fixtures/store/schema_{schema}.redb.gz");
    let packed = std::fs::read(root().join(name)).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    std::fs::write(to, bytes).unwrap();
}

#[test]
fn stores_of_every_older_layout_open_with_all_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    for schema in 1..SCHEMA {
        let path = folder.path().join(format!("{schema}.redb"));
        unpack(schema, &path);
        for round in ["migrating", "migrated"] {
            let store = RedbStore::open(&path).unwrap();
            let ground = Flat { elevation_msl_m: 0.0 };
            let mut engine = world(Arc::new(ground)).build::<Snapshot>(0, 1_000_000).unwrap();
            assert_eq!(engine.keep(store), Ok(2), "{round} from layout {schema}");
            engine.tick(None).unwrap();
            let view = engine.view();
            let mut names: Vec<_> = view.nodes.iter().map(|node| node.name.as_str()).collect();
            names.sort_unstable();
            assert_eq!(names, ["a", "b"], "{round} from layout {schema}");
            assert!(view.node(NodeId::named("a")).is_some());
            assert!(view.plan.is_empty());
        }
    }
}

#[test]
fn a_backup_restores_to_the_same_documents_and_never_half() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| path(name).to_str().unwrap().to_owned();
    unpack(1, &path("plan.db"));
    let run = |args: &[&str]| command(args).output().unwrap();
    let output = run(&["backup", "--db", &text("plan.db"), &text("copy.redb")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let twice = run(&["backup", "--db", &text("plan.db"), &text("copy.redb")]);
    assert_eq!(twice.status.code(), Some(2), "a backup is never overwritten");

    let unasked = run(&["restore", "--db", &text("plan.db"), &text("copy.redb")]);
    assert_eq!(unasked.status.code(), Some(2), "a store is not replaced unasked");
    let back = run(&["restore", "--db", &text("new.db"), &text("copy.redb")]);
    assert!(back.status.success(), "{}", String::from_utf8_lossy(&back.stderr));
    let rows = |name: &str| RedbStore::open(&path(name)).unwrap().load().unwrap();
    assert_eq!(rows("new.db"), rows("plan.db"));

    std::fs::write(path("torn.redb"), &std::fs::read(path("copy.redb")).unwrap()[..5000]).unwrap();
    let before = rows("new.db");
    let torn = run(&["restore", "--force", "--db", &text("new.db"), &text("torn.redb")]);
    assert_eq!(torn.status.code(), Some(2));
    assert_eq!(rows("new.db"), before, "the store is as it was");
    let names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 4, "no litter: {names:?}");
}
