use std::collections::BTreeMap;

use super::*;

fn header() -> Header {
    let inputs = BTreeMap::from([("terrain".to_owned(), "flat".to_owned())]);
    Header {
        format: FORMAT,
        seed: u64::MAX,
        step_ns: 1_000_000,
        inputs,
    }
}

fn entries() -> Vec<Entry> {
    let record = |tick: u64, len: u8| {
        let body = (0..len).collect();
        Entry::Command(Record {
            tick,
            wall_ns: tick * 7,
            name: "node.move".to_owned(),
            body,
        })
    };
    let mark = Mark {
        tick: 3,
        digest: "00ff".to_owned(),
    };
    vec![
        record(1, 0),
        record(1, 200),
        record(2, 9),
        Entry::Mark(mark),
    ]
}

/// The log and the offset after its header and after each entry.
fn written() -> (Vec<u8>, Vec<usize>) {
    let mut bytes = Vec::new();
    write_header(&mut bytes, &header()).unwrap();
    let mut ends = vec![bytes.len()];
    for entry in entries() {
        write_entry(&mut bytes, &entry).unwrap();
        ends.push(bytes.len());
    }
    (bytes, ends)
}

fn read(bytes: &[u8]) -> Result<(Vec<Entry>, u64, u64), LogError> {
    let mut reader = Reader::open(bytes)?;
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_entry()? {
        entries.push(entry);
    }
    Ok((entries, reader.offset(), reader.torn_bytes()))
}

#[test]
fn what_was_written_is_read() {
    let (bytes, _) = written();
    assert_eq!(Reader::open(&bytes[..]).unwrap().header(), &header());
    assert_eq!(read(&bytes).unwrap(), (entries(), bytes.len() as u64, 0));
}

#[test]
fn a_log_cut_anywhere_keeps_its_whole_frames() {
    let (bytes, ends) = written();
    for cut in 0..bytes.len() {
        let whole = ends.iter().filter(|&&end| end <= cut).count();
        match read(&bytes[..cut]) {
            Err(LogError::NoHeader) => assert_eq!(whole, 0, "cut at {cut}"),
            Ok((found, offset, torn)) => {
                assert_eq!(found, entries()[..whole - 1], "cut at {cut}");
                assert_eq!(offset, ends[whole - 1] as u64, "cut at {cut}");
                assert_eq!(torn, (cut - ends[whole - 1]) as u64, "cut at {cut}");
            }
            Err(other) => panic!("cut at {cut}: {other}"),
        }
    }
}

#[test]
fn a_tail_of_zeros_is_torn_and_a_tail_of_anything_else_is_damage() {
    let (mut bytes, _) = written();
    let end = bytes.len();
    bytes.resize(end + 10_000, 0);
    assert_eq!(read(&bytes).unwrap(), (entries(), end as u64, 10_000));
    bytes[end + 9_000] = 1;
    assert!(matches!(read(&bytes), Err(LogError::Damage { offset, .. }) if offset == end as u64));
}

#[test]
fn a_flipped_bit_is_never_read_as_truth() {
    let (bytes, ends) = written();
    for at in 0..bytes.len() {
        let mut bent = bytes.clone();
        bent[at] ^= 0x10;
        // A longer length in the last frame looks torn; nothing else may pass.
        match read(&bent) {
            Err(LogError::Magic | LogError::NoHeader | LogError::Damage { .. }) => {}
            Ok((found, ..)) => {
                assert!(at >= ends[0], "byte {at} of the header");
                assert!(found.len() < entries().len(), "byte {at}");
                assert_eq!(found, entries()[..found.len()], "byte {at}");
            }
            Err(other) => panic!("byte {at}: {other}"),
        }
    }
}

#[test]
fn foreign_files_and_formats_are_named() {
    assert!(matches!(
        read(b"PK\x03\x04 a zip file"),
        Err(LogError::Magic)
    ));
    assert!(matches!(read(b""), Err(LogError::NoHeader)));
    let mut bytes = Vec::new();
    write_header(
        &mut bytes,
        &Header {
            format: 9,
            ..header()
        },
    )
    .unwrap();
    assert!(matches!(read(&bytes), Err(LogError::Format { found: 9 })));
}

#[test]
fn a_frame_beyond_the_limit_is_refused_by_both_sides() {
    let body = vec![0; LOG_FRAME_BYTES_MAX];
    let entry = Entry::Command(Record {
        tick: 1,
        wall_ns: 0,
        name: "x".to_owned(),
        body,
    });
    let mut bytes = written().0;
    let end = bytes.len();
    assert_eq!(
        write_entry(&mut bytes, &entry).unwrap_err().kind(),
        io::ErrorKind::InvalidInput
    );
    assert_eq!(bytes.len(), end, "nothing of it was written");
    bytes.extend_from_slice(&u32::MAX.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    assert!(matches!(read(&bytes), Err(LogError::Damage { .. })));
}
