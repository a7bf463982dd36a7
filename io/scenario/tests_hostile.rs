//! For any bytes, the answer is a scenario or an error, within bounded time.

use std::path::Path;

use groundwave_toml_document::limits::{FILE_BYTES_MAX, NESTING_MAX};

use super::placement::SplitMix64;
use super::tests::HEAD;
use super::{load, parse};

/// A scenario with every section and most forms of values.
pub(super) const EVERYTHING: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/fixtures/scenario/everything.toml"
));

/// Parses and formats the errors, whose text must not be empty.
fn survive(text: &str) -> bool {
    match parse(text, "x.toml", Path::new("")) {
        Ok(scenario) => {
            assert_eq!(scenario.lines.len(), scenario.records.len());
            assert!(scenario.records.is_sorted_by_key(|r| r.at_ns));
            true
        }
        Err(errors) => {
            assert!(!errors.errors.is_empty());
            assert!(errors.errors.iter().all(|e| !e.what.is_empty()), "{errors}");
            assert!(!errors.to_string().is_empty());
            false
        }
    }
}

#[test]
fn everything_is_a_scenario() {
    assert!(
        survive(EVERYTHING),
        "{}",
        parse(EVERYTHING, "everything.toml", Path::new("")).unwrap_err()
    );
}

#[test]
fn every_truncation_is_answered() {
    let mut good = 0;
    for end in (0..=EVERYTHING.len()).filter(|end| EVERYTHING.is_char_boundary(*end)) {
        good += usize::from(survive(&EVERYTHING[..end]));
    }
    assert!(good > 5, "a scenario cut between tables is still a scenario");
}

#[test]
fn mutated_documents_give_errors_or_data() {
    const PIECES: [&str; 22] = [
        "nan",
        "-inf",
        "1e999",
        "-1",
        "0",
        "99999999999999999999",
        "\"\"",
        "[",
        "]",
        "{",
        "}",
        "[[",
        "'''",
        "\"\"\"",
        "\n",
        "=",
        ".",
        "\u{0}",
        "é",
        "1979-05-27T07:32:00Z",
        "true",
        "\"node\" = { a.b = [[]] }\n",
    ];
    let mut random = SplitMix64::for_table(2024, 0);
    let mut below = |bound: usize| (random.next_u64() % bound as u64) as usize;
    let mut good = 0;
    for _ in 0..4_000 {
        let mut bytes = EVERYTHING.as_bytes().to_vec();
        for _ in 0..=below(3) {
            let at = below(bytes.len());
            match below(5) {
                0 => bytes[at] = below(128) as u8,
                1 => drop(bytes.drain(at..(at + below(40)).min(bytes.len()))),
                2 => {
                    let copy = bytes[at..(at + below(80)).min(bytes.len())].to_vec();
                    bytes.splice(at..at, copy);
                }
                3 => {
                    // A whole value replaced: what follows an equals sign.
                    let from = bytes[at..]
                        .iter()
                        .position(|b| *b == b'=')
                        .map_or(at, |skip| at + skip + 1);
                    let to = bytes[from..]
                        .iter()
                        .position(|b| b"\n,}".contains(b))
                        .map_or(from, |len| from + len);
                    bytes.splice(from..to, PIECES[below(PIECES.len())].bytes());
                }
                _ => drop(bytes.splice(at..at, PIECES[below(PIECES.len())].bytes())),
            }
            if bytes.is_empty() {
                bytes.push(b'#');
            }
        }
        good += usize::from(survive(&String::from_utf8_lossy(&bytes)));
    }
    assert!(good > 20, "some mutations fall into comments: {good}");
}

#[test]
fn deep_nesting_is_refused() {
    let inside = |deep: String| format!("{HEAD}[[command]]\nat_s = 1\ncommand = \"a.b\"\n{deep}\n");
    let arrays = |n: usize| inside(format!("x = {}{}", "[".repeat(n), "]".repeat(n)));
    // command, [0] and x are three levels already.
    assert!(survive(&arrays(NESTING_MAX - 3)));
    for levels in [NESTING_MAX, 100, 1_000, 200_000] {
        assert!(!survive(&arrays(levels)));
        assert!(!survive(&inside(format!("x = {}1{}", "{a=".repeat(levels), "}".repeat(levels)))));
        assert!(!survive(&inside(format!("x{} = 1", ".a".repeat(levels)))));
        assert!(!survive(&format!("[x{}]", ".a".repeat(levels))));
        assert!(!survive(&inside(format!("x = {}", "[".repeat(levels)))));
    }
}

#[test]
fn a_large_file_is_refused_unread() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("large.toml");
    let file = std::fs::File::create(&path).unwrap();
    // A hole: no byte of it is stored, and none is read.
    file.set_len(100_000_000).unwrap();
    let error = load(&path).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "large.toml: 100000000 bytes are too many; allowed: at most 16777216 bytes (16 MiB)"
        ),
        "{error}"
    );
    let text = " ".repeat(usize::try_from(FILE_BYTES_MAX).unwrap() + 1);
    assert!(!survive(&text));
}

#[test]
fn files_that_are_no_text_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.toml");
    let check = |bytes: &[u8], expect: &str| {
        std::fs::write(&path, bytes).unwrap();
        let error = load(&path).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check(b"# fine\n# \xff\n", "x.toml: byte 9 (line 2) is not UTF-8; allowed: UTF-8 text");
    check(b"\xff\xfe[\0s\0", "byte 0 (line 1) is not UTF-8");
    check(b"", "scenario: missing section");
    assert!(
        load(dir.path()).unwrap_err().to_string().ends_with(": not a file; allowed: a plain file")
    );
    assert!(load(&dir.path().join("none")).unwrap_err().to_string().contains("cannot be read: "));
}

#[test]
fn floods_of_errors_are_bounded() {
    for flood in ["]\n", "=", "x\n", "[[a\n", "\"\n", "[a]\n"] {
        assert!(!survive(&flood.repeat(400_000 / flood.len())));
    }
    let items = "[[failure]]\nnode = \"x\"\nat_s = 1\n".repeat(20_000);
    assert!(!survive(&format!("{HEAD}{items}")));
    let places = "{ at_s = 1, lat_deg = 91, lon_deg = 181 },\n".repeat(50_000);
    assert!(!survive(&format!("{HEAD}[[motion]]\nnode = \"a\"\nwaypoints = [{places}]\n")));
    let far = "[[coverage.point]]\nname = \"p\"\nlat_deg = 91\nlon_deg = 1\n".repeat(5_000);
    assert!(!survive(&format!("{HEAD}[coverage]\nradius_km = 1\n{far}")));
    let flow = "[[flow]]\nname = \"f\"\nsource = \"a\"\ntarget = \"b\"\nrate_bps = 0\n";
    assert!(!survive(&format!("{HEAD}{}", flow.repeat(9_000))));
    assert!(!survive(&format!("{HEAD}{}", "[[node]]\nx = 1\n".repeat(5_000))));
}

#[test]
fn node_count_beyond_the_limit_is_refused_before_counting() {
    assert!(!survive(&format!(
        "{HEAD}[[generate]]\ncount = {}\nprefix = \"g\"\n\
         area = {{ south_deg = 1, west_deg = 1, north_deg = 2, east_deg = 2 }}\n\
         station = {{ height_agl_m = 2, radio = \"ptp_5g8\" }}\n\
         wander = {{ speed_min_m_s = 1, speed_max_m_s = 2 }}\n",
        u32::MAX
    )));
}

#[test]
fn as_many_nodes_as_allowed_are_read() {
    let text = format!(
        "{HEAD}[[generate]]\ncount = 99998\nprefix = \"g\"\nplacement = \"grid\"\n\
         area = {{ south_deg = 1, west_deg = 1, north_deg = 2, east_deg = 2 }}\n\
         station = {{ height_agl_m = 2, radio = \"ptp_5g8\" }}\n"
    );
    let scenario = parse(&text, "x", Path::new("")).unwrap();
    assert_eq!(scenario.node_names.len(), 100_000);
    assert!(!survive(&format!(
        "{text}[[command]]\nat_s = 1\ncommand = \"node.add\"\nnode = \"one-more\"\n"
    )));
}
