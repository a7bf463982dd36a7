//! A disk without space: commands are refused before they are applied.

use super::*;

/// A store on a disk that is full, read-only or failing, as the test sets.
struct Disk(Arc<Mutex<Option<FaultKind>>>, Shelf);

impl Store for Disk {
    fn load(&mut self) -> Result<Vec<Row>, StoreFault> {
        self.1.load()
    }
    fn space(&mut self) -> Result<(), StoreFault> {
        self.0.lock().unwrap().map_or(Ok(()), |kind| {
            let (operation, cause) = ("make space", "the disk".to_owned());
            Err(StoreFault { kind, operation, cause })
        })
    }
    fn commit(&mut self, tick: u64, rows: &[Row]) -> Result<(), StoreFault> {
        self.space()?;
        self.1.commit(tick, rows)
    }
}

#[test]
fn full_disk_refuses_commands_until_it_has_space() {
    for kind in [FaultKind::Full, FaultKind::ReadOnly] {
        let disk = Arc::new(Mutex::new(None));
        let shelf = Shelf::default();
        let mut engine = engine();
        engine.keep(Disk(Arc::clone(&disk), shelf.clone())).unwrap();
        let handle = engine.handle();
        let first = handle.submit(fill("a", 1.0)).unwrap();
        engine.tick(None).unwrap();
        assert_eq!(first.wait(), Ok(1.0));
        let before = (engine.clock().tick, engine.digest());

        *disk.lock().unwrap() = Some(kind);
        for _ in 0..3 {
            let refused = handle.submit(fill("a", 1.0)).unwrap();
            assert_eq!(engine.tick(None).unwrap().commands, 0);
            assert!(matches!(refused.wait(), Err(Refusal::Full { .. })));
            assert!(matches!(handle.health(), Health::Full(_)));
        }
        assert_eq!((engine.clock().tick, engine.digest()), before);
        assert_eq!(shelf.0.lock().unwrap().1.len(), 1, "nothing was stored");

        *disk.lock().unwrap() = None;
        engine.look_for_space();
        assert_eq!(handle.health(), Health::Ready, "noticed without a command");
        let second = handle.submit(fill("a", 1.0)).unwrap();
        engine.tick(None).unwrap();
        let level = second.wait().unwrap();
        assert!(level > 1.0 && level <= 2.0, "the refused ones left no trace: {level}");
    }
}

#[test]
fn failing_disk_ends_the_world() {
    let disk = Arc::new(Mutex::new(Some(FaultKind::Failed)));
    let mut engine = engine();
    engine.keep(Disk(disk, Shelf::default())).unwrap();
    let handle = engine.handle();
    let waiting = handle.submit(fill("a", 1.0)).unwrap();
    assert!(engine.tick(None).is_err());
    assert!(waiting.wait().is_err());
    assert!(matches!(handle.health(), Health::Broken(_)));
}
