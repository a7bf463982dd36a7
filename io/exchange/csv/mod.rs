//! Comma-separated values (RFC 4180), one node a row, a column for every field.
//!
//! The header decides: columns come in any order, under their own names or common others
//! (`latitude`, `lng`, `x`, `title`, …). `radio` and `antenna` are ids of presets; columns such as
//! `frequency_mhz` go over them, and over the default station where no preset is named. The row
//! whose cell in the column `deployment` is not empty is the deployment's: its name under `name`,
//! all else as JSON in that cell.
//!
//! Rows may be separated by `,`, `;` or tabs. Numbers have a decimal point. A name that a
//! spreadsheet would take for a formula is written after an apostrophe, which reading takes off.

mod read;
mod write;

pub use read::read;
pub use write::write;

/// Characters that begin a formula in spreadsheets.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

/// A name as it is written: after an apostrophe where it would be a formula, or be taken for a
/// name that was written so.
fn guarded(name: &str) -> String {
    if name.starts_with(FORMULA) || is_guarded(name) {
        format!("'{name}")
    } else {
        name.to_owned()
    }
}

/// The name that was written as `cell`.
fn unguarded(cell: &str) -> &str {
    if is_guarded(cell) { &cell[1..] } else { cell }
}

/// Whether a cell is a name after an apostrophe.
fn is_guarded(cell: &str) -> bool {
    let rest = cell.trim_start_matches('\'');
    cell.starts_with('\'') && rest.starts_with(FORMULA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_spreadsheets() {
        for name in ["=1+1", "'=1", "''-x", "'t Harde", "'", "a", "-", "''"] {
            let cell = guarded(name);
            assert!(!cell.starts_with(FORMULA), "{cell}");
            assert_eq!(unguarded(&cell), name);
        }
        assert_eq!(guarded("'t Harde"), "'t Harde");
    }
}
