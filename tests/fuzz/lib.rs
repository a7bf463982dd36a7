//! Fuzz targets: a parser of foreign bytes, documents it reads, and changes of them.
//!
//! `cargo test` parses each document of the corpus once, whole and with a fixed series of changes.
//! `make fuzz` sets `FUZZ_SECONDS`: changes are then chosen at random for that time a target. Without
//! coverage of branches, which needs a nightly compiler, documents are what leads into a parser.

mod change;

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

/// Fixed changes of each document in an ordinary test run.
const FIXED_CHANGES: u32 = 64;

/// Time a target runs for; `None` parses the corpus once.
///
/// # Panics
/// When `FUZZ_SECONDS` is no whole number.
#[must_use]
pub fn time() -> Option<Duration> {
    let text = std::env::var("FUZZ_SECONDS").ok()?;
    let seconds = text.parse().expect("FUZZ_SECONDS is a whole number");
    Some(Duration::from_secs(seconds))
}

/// Documents that a parser reads: those in `tests/fuzz/corpus/NAME`, and others a target adds.
#[derive(Debug)]
pub struct Corpus {
    name: &'static str,
    documents: Vec<Vec<u8>>,
}

impl Corpus {
    /// The documents of a target, in the order of their names.
    ///
    /// # Panics
    /// When there is none: changes of nothing reach no parser.
    #[must_use]
    pub fn open(name: &'static str, others: Vec<Vec<u8>>) -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        paths.sort_unstable();
        let read = |path: &PathBuf| std::fs::read(path).expect("a readable document");
        let mut documents: Vec<_> = paths.iter().map(read).collect();
        documents.extend(others);
        assert!(!documents.is_empty(), "target {name} has no documents");
        Self { name, documents }
    }

    /// Parses each document, whole and with fixed changes.
    pub fn replay(&self, parse: impl Fn(&[u8])) {
        self.parse(&parse, &[]);
        for (number, document) in self.documents.iter().enumerate() {
            self.parse(&parse, document);
            for seed in 0..FIXED_CHANGES {
                let choices = change::series(number as u64 + 1, seed);
                self.parse(&parse, &change::change(document, &self.documents, &choices));
            }
        }
    }

    /// Parses changed documents for a time, other ones in each run.
    #[expect(
        clippy::disallowed_methods,
        reason = "a search is bounded by time and differs each time"
    )]
    pub fn search(&self, time: Duration, parse: impl Fn(&[u8])) {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let begin = since.map_or(0, |since| since.as_nanos() as u64);
        let end = Instant::now() + time;
        let mut turn = 0;
        while Instant::now() < end {
            let choices = change::series(begin, turn);
            self.parse_changed(&parse, &choices);
            turn = turn.wrapping_add(1);
        }
    }

    /// Parses the document that `choices` selects, with the changes that they name.
    fn parse_changed(&self, parse: impl Fn(&[u8]), choices: &[u8]) {
        let (number, choices) = choices.split_first().unwrap_or((&0, &[]));
        // One in so many inputs is no change of a document.
        let bytes = match self.documents.get(usize::from(*number) % (self.documents.len() + 1)) {
            Some(document) => change::change(document, &self.documents, choices),
            None => choices.to_vec(),
        };
        self.parse(&parse, &bytes);
    }

    fn parse(&self, parse: &impl Fn(&[u8]), bytes: &[u8]) {
        let case = CurrentCase { name: self.name, bytes };
        parse(bytes);
        drop(case);
    }
}

/// Input in work; written to a file when the parser panics.
struct CurrentCase<'a> {
    name: &'static str,
    bytes: &'a [u8],
}

impl Drop for CurrentCase<'_> {
    #[expect(clippy::print_stderr, reason = "the place of the input is all that remains of it")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let path = std::env::temp_dir().join(format!("groundwave-fuzz-{}", self.name));
            match std::fs::write(&path, self.bytes) {
                Ok(()) => eprintln!("the input is in {}", path.display()),
                Err(err) => eprintln!("the input cannot be written to {}: {err}", path.display()),
            }
        }
    }
}

/// A test that feeds a parser: its name, documents beside its corpus, the parser of bytes.
#[macro_export]
macro_rules! fuzz_target {
    ($name:ident, $others:expr, $parse:expr) => {
        #[test]
        fn $name() {
            let corpus = $crate::Corpus::open(stringify!($name), $others);
            let parse = $parse;
            match $crate::time() {
                None => corpus.replay(parse),
                Some(time) => corpus.search(time, parse),
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_many_and_always_the_same() {
        let documents = vec![b"{\"lat\": 57.7, \"lon\": 11.9}".to_vec(), vec![0; 40]];
        let all = || -> std::collections::BTreeSet<Vec<u8>> {
            let one = |seed| change::change(&documents[0], &documents, &change::series(1, seed));
            (0..FIXED_CHANGES).map(one).collect()
        };
        assert!(all().len() > 50, "{}", all().len());
        assert_eq!(all(), all());
        assert!(all().iter().all(|bytes| bytes.len() < 4_000));
    }

    #[test]
    fn any_choices_are_changes() {
        let corpus = Corpus { name: "own", documents: vec![Vec::new(), vec![7]] };
        for length in 0..40 {
            for byte in [0, 1, 2, 127, 255] {
                corpus.parse_changed(|_| (), &vec![byte; length]);
            }
        }
    }
}
