//! The nodes of a table of tracks none of whose columns names them.

use std::collections::{BTreeMap, BTreeSet};

use csv::StringRecord;

use super::super::levels::bare;

/// Endings of the names of columns whose numbers may be identifiers.
const ENDINGS: [&str; 4] = ["id", "nr", "number", "name"];

/// The first column that differs between the rows of one time which have several positions; `None` where there are no such
/// rows, and where no column does.
pub(super) fn column<'r>(
    header: &StringRecord,
    times: [Option<usize>; 2],
    place: [usize; 2],
    rows: impl Iterator<Item = &'r StringRecord> + Clone,
) -> Option<usize> {
    let cell = |row: &'r StringRecord, column: usize| row.get(column).unwrap_or_default().trim();
    let is_apart = |own: Option<usize>| {
        let mut places = BTreeMap::new();
        rows.clone().all(|row| {
            let at = times.map(|column| column.map_or("", |column| cell(row, column)));
            let key = (at, own.map_or("", |column| cell(row, column)));
            let here = place.map(|column| cell(row, column));
            *places.entry(key).or_insert(here) == here
        })
    };
    if is_apart(None) {
        return None;
    }
    let is_identifier = |column: usize| {
        let name = bare(header.get(column).unwrap_or_default());
        let is_named = ENDINGS.iter().any(|ending| name.ends_with(ending));
        let mut cells = BTreeSet::new();
        let mut is_again = false;
        let is_text = rows.clone().all(|row| {
            let text = cell(row, column);
            is_again |= !cells.insert(text);
            !text.is_empty() && (is_named || text.contains(char::is_alphabetic))
        });
        is_text && is_again
    };
    let is_other = |column: &usize| !times.contains(&Some(*column)) && !place.contains(column);
    let mut columns = (0..header.len()).filter(is_other);
    columns.find(|column| is_identifier(*column) && is_apart(Some(*column)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(header: &str, rows: &[&str]) -> Option<usize> {
        let record = |line: &str| line.split(',').collect::<StringRecord>();
        let rows: Vec<StringRecord> = rows.iter().map(|row| record(row)).collect();
        column(&record(header), [Some(0), None], [1, 2], rows.iter())
    }

    #[test]
    fn rows_of_one_time_are_separated_by_a_column() {
        let header = "time,lat,lon,satellites,kind,boat,gearnumber";
        let rows =
            ["0,57.70,11.9,8,x,Anna,1", "0,57.71,11.9,9,x,Bert,2", "1,57.70,11.9,8,x,Anna,1"];
        assert_eq!(of(header, &rows), Some(5));
        let numbers = rows.map(|row| row.replace("Anna", "7").replace("Bert", "8"));
        assert_eq!(of(header, &numbers.each_ref().map(String::as_str)), Some(6));
        // A receiver with several fixes a second.
        let rows =
            ["0,57.70,11.9,8,x,Anna,1", "0,57.71,11.9,8,x,Anna,2", "1,57.70,11.9,8,x,Anna,3"];
        assert_eq!(of(header, &rows), None);
        // One position at each time.
        assert_eq!(of(header, &["0,57.70,11.9,8,x,Anna,1", "1,57.71,11.9,9,x,Bert,2"]), None);
    }
}
