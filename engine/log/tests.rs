use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};

use groundwave_values::Seed;

use super::chunk::HEAD;
use super::*;
use crate::limits::LOG_FRAME_BYTES_MAX;

fn header() -> Header {
    let inputs = BTreeMap::from([("terrain".to_owned(), "flat".to_owned())]);
    Header { format: FORMAT, seed: u64::MAX, step_ns: 1_000_000, inputs }
}

fn command(tick: u64, body: Vec<u8>) -> Entry {
    Entry::Command(Record { tick, wall_ns: tick * 7, name: "node.move".to_owned(), body })
}

fn entries() -> Vec<Entry> {
    let mark = Mark {
        tick: 3,
        digest: "00ff".to_owned(),
        parts: vec![("nodes".to_owned(), vec![1, u32::MAX])],
        files: BTreeMap::from([("tile".to_owned(), "11ee".to_owned())]),
    };
    vec![
        command(1, vec![]),
        command(1, (0..200).collect()),
        command(2, (0..9).collect()),
        Entry::Mark(mark),
        command(4, vec![7; 5000]),
    ]
}

/// The log, a commit after each entry, and the offset after its header and after each entry.
fn written(entries: &[Entry]) -> (Vec<u8>, Vec<usize>) {
    let mut log = Writer::begin(Vec::new(), &header()).unwrap();
    let mut ends = vec![log.get_ref().len()];
    for entry in entries {
        log.append(entry).unwrap();
        log.flush().unwrap();
        ends.push(log.get_ref().len());
    }
    (log.get_ref().clone(), ends)
}

fn closed(entries: &[Entry]) -> Vec<u8> {
    let mut log = Writer::begin(Vec::new(), &header()).unwrap();
    for entry in entries {
        log.append(entry).unwrap();
    }
    log.close().unwrap();
    log.get_ref().clone()
}

/// Readable entries, and the end of the log: bytes of a torn tail, or the damage.
fn read(bytes: &[u8]) -> Result<(Vec<Entry>, Result<u64, LogError>), LogError> {
    let mut reader = Reader::open(bytes)?;
    let mut entries = Vec::new();
    loop {
        match reader.next_entry() {
            Ok(Some(entry)) => entries.push(entry),
            Ok(None) => return Ok((entries, Ok(reader.torn_bytes()))),
            Err(err) => return Ok((entries, Err(err))),
        }
    }
}

fn whole(bytes: &[u8]) -> (Vec<Entry>, u64) {
    let (entries, end) = read(bytes).unwrap();
    (entries, end.unwrap())
}

#[test]
fn what_was_written_is_read() {
    let (bytes, _) = written(&entries());
    assert_eq!(Reader::open(&bytes[..]).unwrap().header(), &header());
    assert_eq!(whole(&bytes), (entries(), 0));
    assert_eq!(whole(&closed(&entries())), (entries(), 0));
    assert_eq!(whole(&closed(&[])), (vec![], 0));
}

#[test]
fn a_log_cut_anywhere_keeps_its_whole_chunks() {
    let (bytes, ends) = written(&entries());
    for cut in 0..bytes.len() {
        let whole = ends.iter().filter(|&&end| end <= cut).count();
        match read(&bytes[..cut]) {
            Err(LogError::NoHeader) => assert_eq!(whole, 0, "cut at {cut}"),
            Ok((read_entries, Ok(torn))) => {
                assert_eq!(read_entries, entries()[..whole - 1], "cut at {cut}");
                assert_eq!(torn, (cut - ends[whole - 1]) as u64, "cut at {cut}");
            }
            other => panic!("cut at {cut}: {other:?}"),
        }
    }
    let bytes = closed(&entries());
    let index = bytes.len() - 16 - HEAD - 16;
    for cut in index..bytes.len() {
        let expected = (entries(), (cut - index) as u64);
        assert_eq!(whole(&bytes[..cut]), expected, "cut at {cut}");
    }
}

#[test]
fn a_tail_of_zeros_is_torn_and_a_tail_of_anything_else_is_damage() {
    let (mut bytes, _) = written(&entries());
    let end = bytes.len();
    bytes.resize(end + 10_000, 0);
    assert_eq!(whole(&bytes), (entries(), 10_000));
    bytes[end + 9_000] = 1;
    let (read_entries, error) = read(&bytes).unwrap();
    assert_eq!(read_entries, entries());
    assert!(matches!(error, Err(LogError::Damage { offset, .. }) if offset == end as u64));
    let mut closed = closed(&entries());
    closed.push(0);
    assert!(matches!(read(&closed).unwrap().1, Err(LogError::Damage { .. })));
}

#[test]
fn flipped_bit_gives_an_error_or_the_same_entries() {
    let (bytes, ends) = written(&entries());
    for at in 0..bytes.len() {
        let mut bent = bytes.clone();
        bent[at] ^= 0x10;
        let hit = ends.iter().filter(|&&end| end <= at).count();
        match read(&bent) {
            Err(LogError::Magic | LogError::NoHeader | LogError::Damage { .. }) => {
                assert_eq!(hit, 0, "byte {at}");
            }
            Ok((read_entries, Err(LogError::Damage { offset, .. }))) => {
                // Everything before the damage is there, and its place is in the error.
                assert_eq!(read_entries, entries()[..hit - 1], "byte {at}");
                assert_eq!(offset, ends[hit - 1] as u64, "byte {at}");
            }
            other => panic!("byte {at}: {other:?}"),
        }
    }
}

/// Chunks lost, doubled, swapped, cut and bent, in any combination.
#[test]
fn ten_thousand_spoilt_logs_give_what_came_before_and_no_more() {
    let all: Vec<Entry> =
        (0..12).map(|at| command(1 + at / 2, vec![at as u8; (at * at) as usize])).collect();
    let (bytes, ends) = written(&all);
    let chunks: Vec<&[u8]> = ends.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
    for round in 0..10_000 {
        let mut chance = Seed(7).stream("spoil", round, 0);
        let mut draw = |most: usize| (chance.bits() % most as u64) as usize;
        let mut order: Vec<usize> = (0..chunks.len()).collect();
        match draw(4) {
            0 => drop(order.remove(draw(chunks.len()))),
            1 => order.insert(draw(chunks.len()), draw(chunks.len())),
            2 => order.swap(draw(chunks.len()), draw(chunks.len())),
            _ => {}
        }
        let mut spoilt = bytes[..ends[0]].to_vec();
        for at in &order {
            spoilt.write_all(chunks[*at]).unwrap();
        }
        match draw(3) {
            0 => spoilt.truncate(ends[0] + draw(spoilt.len() - ends[0])),
            1 => {
                let at = ends[0] + draw(spoilt.len() - ends[0]);
                spoilt[at] ^= 1 << draw(8);
            }
            _ => {}
        }
        let (read_entries, end) = read(&spoilt).unwrap();
        let intact = order.iter().enumerate().take_while(|(due, at)| due == *at).count();
        let prefix = ends[..=intact]
            .iter()
            .filter(|end| spoilt.get(..**end).is_some_and(|start| *start == bytes[..**end]));
        assert_eq!(read_entries, all[..prefix.count() - 1], "round {round}: {end:?}");
        match end {
            Ok(torn) => assert!(ends.contains(&(spoilt.len() - torn as usize)), "round {round}"),
            Err(LogError::Damage { offset, .. }) => {
                assert!(ends.contains(&(offset as usize)), "round {round}");
            }
            Err(other) => panic!("round {round}: {other}"),
        }
    }
}

#[test]
fn repeated_words_are_packed_across_commits() {
    let all: Vec<Entry> = (1..2000).map(|tick| command(tick, vec![1, 2, 3, 4])).collect();
    let (bytes, _) = written(&all);
    let plain: usize = all.iter().map(|entry| rmp_serde::to_vec_named(entry).unwrap().len()).sum();
    let heads = all.len() * HEAD;
    assert!((bytes.len() - heads) * 3 < plain, "{} of {plain}", bytes.len() - heads);
    assert!(closed(&all).len() * 10 < plain);
}

#[test]
fn a_jump_lands_before_the_tick_and_not_far() {
    // Incompressible enough to need several frames.
    let all: Vec<Entry> = (1..=400)
        .map(|tick| {
            let mut stream = Seed(3).stream("noise", u128::from(tick), 0);
            command(tick, (0..9000).map(|_| stream.bits() as u8).collect())
        })
        .collect();
    for bytes in [closed(&all), written(&all).0] {
        for tick in [0, 1, 57, 200, 333, 400, 9999] {
            let mut reader = Reader::open(Cursor::new(&bytes)).unwrap();
            reader.jump(tick).unwrap();
            let first = reader.next_entry().unwrap().unwrap();
            assert!(first.tick() <= tick.max(1), "{} for {tick}", first.tick());
            assert!(first.tick() + 250 > tick.min(400), "{} for {tick}", first.tick());
            let mut last = first;
            while let Some(entry) = reader.next_entry().unwrap() {
                assert_eq!(entry.tick(), last.tick() + 1);
                last = entry;
            }
            assert_eq!(last, all[399]);
        }
    }
}

#[test]
fn a_log_goes_on_after_its_last_whole_chunk() {
    let (bytes, ends) = written(&entries());
    for (prefix, from) in [(&bytes[..ends[3] + 5], 3), (&closed(&entries()), 5)] {
        let mut reader = Reader::open(prefix).unwrap();
        while reader.next_entry().unwrap().is_some() {}
        let mut out = Vec::new();
        let mut log = reader
            .writer(|end| {
                out.extend_from_slice(&prefix[..end as usize]);
                Ok(&mut out)
            })
            .unwrap();
        log.append(&command(9, vec![1])).unwrap();
        log.close().unwrap();
        drop(log);
        let (read_entries, torn) = whole(&out);
        assert_eq!((read_entries.len(), torn), (from + 1, 0));
        assert_eq!(read_entries[from], command(9, vec![1]));
    }
}

/// Frames as format 1 had them.
fn first_format(format: u32) -> Vec<u8> {
    let mut bytes = b"GWAVELOG".to_vec();
    let mut frame = |payload: Vec<u8>| {
        bytes.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
        bytes.extend_from_slice(&payload);
    };
    let header = Header { format, ..header() };
    frame(rmp_serde::to_vec_named(&header).unwrap());
    for entry in entries() {
        frame(rmp_serde::to_vec_named(&entry).unwrap());
    }
    bytes
}

#[test]
fn logs_of_the_first_format_are_read() {
    let bytes = first_format(1);
    assert_eq!(whole(&bytes), (entries(), 0));
    let torn = &bytes[..bytes.len() - 3];
    assert_eq!(whole(torn).0, entries()[..4]);
    let mut bent = bytes.clone();
    *bent.last_mut().unwrap() ^= 1;
    let (read_entries, end) = read(&bent).unwrap();
    assert_eq!(read_entries, entries()[..4]);
    assert!(matches!(end, Err(LogError::Damage { .. })));
}

#[test]
fn foreign_files_and_formats_are_named() {
    let zip = b"PK\x03\x04 a zip file";
    assert!(matches!(read(zip), Err(LogError::Magic)));
    assert!(matches!(read(b""), Err(LogError::NoHeader)));
    assert!(matches!(read(&first_format(9)), Err(LogError::Format { found: 9 })));
}

#[test]
fn an_entry_beyond_the_limit_is_refused() {
    let mut log = Writer::begin(Vec::new(), &header()).unwrap();
    let refused = log.append(&command(1, vec![0; LOG_FRAME_BYTES_MAX]));
    assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    log.append(&command(1, vec![1])).unwrap();
    log.close().unwrap();
    assert_eq!(whole(log.get_ref()).0, [command(1, vec![1])]);
}

#[test]
fn a_jump_misses_nothing_of_a_tick_that_is_cut_by_chunks() {
    let all: Vec<Entry> = (0..400)
        .map(|at| {
            let mut stream = Seed(3).stream("noise", at, 0);
            let body = (0..9000).map(|_| stream.bits() as u8).collect();
            command(if at < 100 { 1 } else { 2 }, body)
        })
        .collect();
    let bytes = closed(&all);
    let mut reader = Reader::open(Cursor::new(&bytes)).unwrap();
    reader.jump(2).unwrap();
    let mut count = 0;
    while let Some(entry) = reader.next_entry().unwrap() {
        count += usize::from(entry.tick() == 2);
    }
    assert_eq!(count, 300);
}
