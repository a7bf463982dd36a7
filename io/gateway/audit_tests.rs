//! Audit log: chain, damage, rotation, operations on record before they are carried out.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use groundwave_files::rotated::{Bounds, RotatedFile};

use super::audit_slots::SLOTS;
use super::{Audit, AuditEntry, AuditError, AuditQuery};

fn entry(actor: &str, at_ns: u64) -> AuditEntry {
    AuditEntry {
        at_ns,
        actor: actor.to_owned(),
        kind: "user".to_owned(),
        action: "nodes_delete".to_owned(),
        target: "/v1/nodes/1".to_owned(),
        outcome: 204,
        source_ip: "127.0.0.1".to_owned(),
        request_id: "r".to_owned(),
        repeated: 0,
        name: None,
        token: None,
    }
}

const KEY: [u8; 32] = [7; 32];

fn filled(path: &Path) -> String {
    let audit = Audit::open(path, &KEY).unwrap();
    for at_ns in 0..5 {
        let actor = if at_ns % 2 == 0 { "ada" } else { "bob" };
        audit.add(entry(actor, at_ns)).unwrap();
    }
    std::fs::read_to_string(path).unwrap()
}

/// Damaged lines, first and last.
fn damage(path: &Path) -> Vec<(usize, usize)> {
    let report = Audit::verify(path, &KEY).unwrap();
    let damage = report.damage.iter();
    damage.map(|one| (one.first_line, one.last_line)).collect()
}

#[test]
fn a_torn_line_is_taken_away_and_records_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let text = filled(&path);
    std::fs::write(&path, format!("{text}{{\"number\":6,\"at")).unwrap();
    let audit = Audit::open(&path, &KEY).unwrap();
    assert_eq!(audit.len(), 5);
    assert!(audit.report().is_intact() && audit.report().torn_bytes == 15);
    assert!(matches!(Audit::open(&path, &KEY), Err(AuditError::InUse { .. })));
    let mut login = entry("anonymous", 8);
    login.name = Some("ada".to_owned());
    audit.add(login).unwrap();
    audit.add(entry("ada", 9)).unwrap();
    let query = AuditQuery {
        actor: Some("ada".to_owned()),
        to_ns: u64::MAX,
        before: u64::MAX,
        limit: 3,
        ..AuditQuery::default()
    };
    let records = audit.find(&query).unwrap();
    let records: Vec<_> = records.iter().map(|record| record.number).collect();
    assert_eq!(records, [7, 6, 5]);
    // The number of all that match, whatever the page.
    let all = AuditQuery { before: u64::MAX, limit: 100, ..query.clone() };
    let count = audit.find(&all).unwrap().len();
    let page = AuditQuery { before: 6, limit: 1, ..query };
    let (records, total) = audit.find_counted(&page).unwrap();
    assert_eq!((records.len(), total), (1, count));
    drop(audit);
    assert_eq!(damage(&path), []);
}

#[test]
fn after_damage_it_goes_on_in_a_new_segment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let text = filled(&path);
    let without = text.lines().enumerate().filter(|(at, _)| *at != 2);
    let without: Vec<_> = without.map(|(_, line)| line).collect();
    let without = without.join("\n") + "\n";
    let garbled = [text.as_bytes(), &[0xff, 0xfe, b'\n']].concat();
    for (damaged, lines) in [
        (text.replacen("bob", "eve", 1).into_bytes(), (2, 5)),
        (without.into_bytes(), (3, 4)),
        (garbled, (6, 6)),
    ] {
        std::fs::write(&path, &damaged).unwrap();
        assert_eq!(damage(&path), [lines]);
        let audit = Audit::open(&path, &KEY).unwrap();
        assert!(!audit.report().is_intact());
        audit.add(entry("ada", 20)).unwrap();
        drop(audit);
        let report = Audit::verify(&path, &KEY).unwrap();
        assert!(report.is_intact() && damage(&path) == [lines]);
        // The segment vouches for what was there: more damage before it shows.
        let text = std::fs::read(&path).unwrap();
        let bent: Vec<u8> = [b"x", &text[1..]].concat();
        std::fs::write(&path, bent).unwrap();
        assert!(!Audit::verify(&path, &KEY).unwrap().is_intact());
    }
}

#[test]
fn a_chain_computed_anew_without_the_key_shows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    drop(filled(&path));
    let own = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let forged = Audit::open(&path, &[8; 32]).unwrap();
    for at_ns in 0..5 {
        forged.add(entry("eve", at_ns)).unwrap();
    }
    drop(forged);
    assert_eq!(damage(&path), [(1, 5)]);
    // Neither do lines without a keyed digest follow one that has it.
    let tail: String = own
        .lines()
        .map(|line| line.split(",\"mac\"").next().unwrap().to_owned() + "}\n")
        .skip(4)
        .collect();
    let head: String = own.lines().take(4).map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, head + &tail).unwrap();
    assert_eq!(damage(&path), [(5, 5)]);
}

#[test]
fn the_chain_goes_on_over_rotated_files_and_the_oldest_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let bounds = Bounds { file_bytes: 2_000, older_files: 2 };
    for at_ns in 0..100 {
        let audit = Audit::open_within(&path, &KEY, bounds).unwrap();
        audit.add(entry("ada", at_ns)).unwrap();
    }
    let files = RotatedFile::files(&path);
    let bytes: u64 = files.iter().map(|file| file.metadata().unwrap().len()).sum();
    assert!(files.len() == 3 && bytes <= 6_000, "{bytes} bytes");
    let audit = Audit::open_within(&path, &KEY, bounds).unwrap();
    assert_eq!(audit.len(), 100);
    let query =
        AuditQuery { to_ns: u64::MAX, before: u64::MAX, limit: 100, ..AuditQuery::default() };
    let records = audit.find(&query).unwrap();
    let numbers: Vec<_> = records.iter().rev().map(|record| record.number).collect();
    assert!(numbers.len() > 10 && numbers[0] > 1);
    assert_eq!(numbers, (numbers[0]..=100).collect::<Vec<_>>());
    drop(audit);
    assert_eq!(damage(&path), []);
    // A file that is gone from the middle is noticed.
    std::fs::remove_file(&files[1]).unwrap();
    std::fs::rename(&files[0], &files[1]).unwrap();
    assert_eq!(damage(&path).len(), 1);
    // The segment after damage holds when the files before it are gone.
    for at_ns in 100..200 {
        let audit = Audit::open_within(&path, &KEY, bounds).unwrap();
        audit.add(entry("ada", at_ns)).unwrap();
    }
    assert!(Audit::verify(&path, &KEY).unwrap().is_intact());
}

fn operation(number: usize) -> AuditEntry {
    AuditEntry { request_id: format!("r{number}"), ..entry("ada", 1) }
}

/// Request ids and outcomes on record.
fn outcomes(audit: &Audit) -> BTreeSet<(String, u16)> {
    let query =
        AuditQuery { to_ns: u64::MAX, before: u64::MAX, limit: 5_000, ..AuditQuery::default() };
    let records = audit.find(&query).unwrap().into_iter();
    records.map(|record| (record.entry.request_id, record.entry.outcome)).collect()
}

#[test]
fn operation_that_is_cut_off_is_on_record_with_an_unknown_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let audit = Arc::new(Audit::open(&path, &KEY).unwrap());
    audit.begin(operation(1)).unwrap().end(Some(operation(1))).unwrap();
    // Counted elsewhere.
    audit.begin(operation(2)).unwrap().end(None).unwrap();
    // The client goes away.
    drop(audit.begin(operation(3)).unwrap());
    assert_eq!(outcomes(&audit), BTreeSet::from([("r1".to_owned(), 204), ("r3".to_owned(), 0)]));
    // The program is killed.
    let killed = audit.begin(operation(4)).unwrap();
    let slots = std::fs::read(path.with_extension("begun")).unwrap();
    std::mem::forget(killed);
    drop(audit);
    let again = folder.path().join("again.jsonl");
    std::fs::copy(&path, &again).unwrap();
    std::fs::write(again.with_extension("begun"), &slots).unwrap();
    for _ in 0..2 {
        let audit = Audit::open(&again, &KEY).unwrap();
        assert!(outcomes(&audit).contains(&("r4".to_owned(), 0)));
        assert_eq!(audit.len(), 3);
        drop(audit);
        // Killed once more between the line and its slot.
        std::fs::write(again.with_extension("begun"), &slots).unwrap();
    }
    assert_eq!(damage(&again), []);
}

#[test]
fn operation_on_a_disk_that_fills_up_is_on_record_with_its_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let audit = Arc::new(Audit::open(&path, &KEY).unwrap());
    let intents: Vec<_> = (0..SLOTS).map(|n| audit.begin(operation(n)).unwrap()).collect();
    // No operation without a record.
    assert!(audit.begin(operation(SLOTS)).is_err());
    audit.fail_writes(true);
    assert!(audit.begin(operation(SLOTS)).is_err());
    for (number, intent) in intents.into_iter().enumerate() {
        assert!(intent.end(Some(operation(number))).is_err());
    }
    assert!(outcomes(&audit).is_empty());
    let slots = std::fs::read(path.with_extension("begun")).unwrap();
    // Killed before there is space.
    let again = folder.path().join("again.jsonl");
    std::fs::write(again.with_extension("begun"), slots).unwrap();
    let later = Audit::open(&again, &KEY).unwrap();
    let expected: BTreeSet<_> = (0..SLOTS).map(|n| (format!("r{n}"), 204)).collect();
    assert_eq!(outcomes(&later), expected);
    // With space the entries follow, and slots are free.
    audit.fail_writes(false);
    audit.flush().unwrap();
    assert_eq!(outcomes(&audit), expected);
    assert!(audit.begin(operation(SLOTS)).is_ok());
}
