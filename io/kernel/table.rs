//! Distribution tables of delays: inverse cumulative distributions, sampled evenly, in 1/8192 of
//! the jitter around the mean.
//!
//! The built-in tables follow the formulas of iproute2's `normal.c`, `pareto.c` and
//! `paretonormal.c`, entry for entry. An operator's table is text: numbers separated by white
//! space, comments after `#`.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use groundwave_impair::Distribution;

use super::KernelError;

/// Most entries of a table in the kernel.
pub const ENTRIES_MAX: usize = 16_384;
/// Entries of a built-in table.
const ENTRIES: usize = 4096;
/// One jitter, in units of an entry.
const SCALE: f64 = 8192.0;
/// Most bytes of a table file: the longest entries and some comments.
const FILE_BYTES_MAX: u64 = 1 << 20;

type Table = Arc<[i16]>;

/// Uniform from one jitter below the mean to one above.
static UNIFORM: LazyLock<Table> = LazyLock::new(|| {
    let step = 2.0 * SCALE / ENTRIES as f64;
    collect((0..ENTRIES).map(|entry| -SCALE + (entry as f64 + 0.5) * step))
});
static NORMAL: LazyLock<Table> = LazyLock::new(|| collect(normal()));
static PARETO: LazyLock<Table> = LazyLock::new(|| collect(pareto()));
static PARETO_NORMAL: LazyLock<Table> = LazyLock::new(|| {
    let mixed = normal().zip(pareto());
    collect(mixed.map(|(normal, pareto)| {
        let pareto = pareto.round_ties_even().min(f64::from(i16::MAX));
        ((normal.round_ties_even() + 3.0 * pareto) / 4.0).trunc()
    }))
});

/// Table of a distribution; also of `uniform`, since the kernel cannot be messages to drop a previous
/// table. An operator's table is read from `folder` each time.
///
/// # Errors
/// [`KernelError::Table`] for a missing or invalid file.
pub fn table(distribution: &Distribution, folder: &Path) -> Result<Table, KernelError> {
    Ok(match distribution {
        Distribution::Uniform {} => Arc::clone(&UNIFORM),
        Distribution::Normal {} => Arc::clone(&NORMAL),
        Distribution::Pareto {} => Arc::clone(&PARETO),
        Distribution::ParetoNormal {} => Arc::clone(&PARETO_NORMAL),
        Distribution::Table { name } => operators(name, folder)?,
    })
}

fn collect(entries: impl Iterator<Item = f64>) -> Table {
    // The cast saturates, which cuts the heavy tails.
    entries.map(|entry| entry.round_ties_even() as i16).collect()
}

/// For each entry the largest number on a grid of 5e-5 whose cumulative probability rounds to it.
fn normal() -> impl Iterator<Item = f64> {
    const STEP: f64 = 5e-5;
    const LAST: u32 = 400_000;
    let at = |step: u32| -10.0 + f64::from(step) * STEP;
    (0..ENTRIES).map(move |entry| {
        let bound = (4.0 * entry as f64 + 0.5) / 16_384.0;
        let (mut low, mut high) = (0, LAST);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if 0.5 * libm::erfc(-at(middle) / std::f64::consts::SQRT_2) < bound {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        at(low) * SCALE
    })
}

/// A Pareto distribution of shape 3, shifted and scaled to mean 0.
fn pareto() -> impl Iterator<Item = f64> {
    (0..ENTRIES).map(|entry| {
        let survival = (65_536 - 16 * entry) as f64 / 65_536.0;
        SCALE * 4.0 / 3.0 * (survival.powf(-1.0 / 3.0) - 1.5)
    })
}

fn operators(name: &str, folder: &Path) -> Result<Table, KernelError> {
    let path = folder.join(format!("{name}.table"));
    let refused = |problem: String| KernelError::Table {
        name: name.to_owned(),
        problem: format!("{}: {problem}", path.display()),
    };
    let length = std::fs::metadata(&path).map_err(|err| refused(err.to_string()))?.len();
    if length > FILE_BYTES_MAX {
        return Err(refused(format!("{length} bytes; allowed: {FILE_BYTES_MAX}")));
    }
    let text = std::fs::read_to_string(&path).map_err(|err| refused(err.to_string()))?;
    parse(&text).map_err(refused)
}

/// Table of a text.
///
/// # Errors
/// Line, found text and allowed range.
pub fn parse(text: &str) -> Result<Table, String> {
    let mut entries = Vec::new();
    for (line, content) in text.lines().enumerate() {
        let numbers = content.split('#').next().unwrap_or_default();
        for word in numbers.split_whitespace() {
            let entry: i16 = word.parse().map_err(|_| {
                format!("line {}: {word:?} is not allowed; allowed: -32768 to 32767", line + 1)
            })?;
            if entries.len() == ENTRIES_MAX {
                return Err(format!("line {}: more than {ENTRIES_MAX} entries", line + 1));
            }
            entries.push(entry);
        }
    }
    if entries.is_empty() {
        return Err(format!("no entries; allowed: 1 to {ENTRIES_MAX}"));
    }
    Ok(entries.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built_in(distribution: &Distribution) -> Table {
        table(distribution, Path::new("/nowhere")).unwrap()
    }

    #[groundwave_needs::needs(iproute2_tables)]
    #[test]
    fn tables_are_those_of_iproute2_entry_for_entry() {
        let folders = ["/usr/lib/x86_64-linux-gnu/tc", "/usr/lib/tc", "/usr/share/tc"];
        let folder = folders.into_iter().find(|folder| Path::new(folder).exists()).unwrap();
        for (name, ours) in [
            ("normal", Distribution::Normal {}),
            ("pareto", Distribution::Pareto {}),
            ("paretonormal", Distribution::ParetoNormal {}),
        ] {
            let path = Path::new(folder).join(format!("{name}.dist"));
            let theirs = parse(&std::fs::read_to_string(path).unwrap()).unwrap();
            assert_eq!(built_in(&ours), theirs, "{name}");
        }
    }

    #[test]
    fn tables_have_the_moments_they_promise() {
        for (distribution, mean, deviation) in [
            (Distribution::Uniform {}, 0.0, 1.0 / 3f64.sqrt()),
            (Distribution::Normal {}, 0.0, 1.0),
            (Distribution::Pareto {}, -0.03, 0.82),
        ] {
            let table = built_in(&distribution);
            assert_eq!(table.len(), ENTRIES);
            assert!(table.is_sorted());
            let count = table.len() as f64;
            let of = |entry: &i16| f64::from(*entry) / SCALE;
            let found = table.iter().map(of).sum::<f64>() / count;
            let square = table.iter().map(|entry| (of(entry) - found).powi(2)).sum::<f64>();
            assert!((found - mean).abs() < 5e-3, "{distribution:?} mean {found}");
            let sd = (square / count).sqrt();
            assert!((sd - deviation).abs() < 5e-3, "{distribution:?} deviation {sd}");
        }
    }

    #[test]
    fn an_operators_table_is_read_or_refused_by_line() {
        assert_eq!(&*parse("# head\n 1 -2\n3 # three\n").unwrap(), [1, -2, 3]);
        let check = |text: &str, words: &str| {
            let problem = parse(text).unwrap_err();
            assert!(problem.contains(words), "{problem}");
        };
        check("1\n2 x 3\n", "line 2: \"x\"");
        check("1\n\n40000", "line 3: \"40000\" is not allowed; allowed: -32768 to 32767");
        check("# nothing\n", "no entries; allowed: 1 to 16384");
        assert_eq!(parse(&"7 ".repeat(ENTRIES_MAX)).unwrap().len(), ENTRIES_MAX);
        check(&"7 ".repeat(ENTRIES_MAX + 1), "more than 16384");
        let named = Distribution::Table { name: "absent".to_owned() };
        let folder = tempfile::tempdir().unwrap();
        let problem = table(&named, folder.path()).unwrap_err().to_string();
        assert!(problem.contains("absent.table"), "{problem}");
        std::fs::write(folder.path().join("absent.table"), "5 6").unwrap();
        assert_eq!(&*table(&named, folder.path()).unwrap(), [5, 6]);
    }
}
