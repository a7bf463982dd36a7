//! Units of columns of shares, by their values.

use csv::ReaderBuilder;

use super::{Table, number};

/// Units of a whole, of a percent table and of batman's TQ.
const PERCENT: f64 = 100.0;
const TQ: f64 = 255.0;

/// The number that stands for a whole in the column of a share: 1, or 100 and 255 where most of its values above 0 are
/// above 1 and none is above that; 1 for the column of another value.
pub(super) fn unit(key: &str, table: &Table<'_>, column: usize) -> f64 {
    if !["delivery_prob", "quality"].contains(&key) {
        return 1.0;
    }
    let mut rows =
        ReaderBuilder::new().flexible(true).delimiter(table.delimiter).from_reader(table.octets);
    let rows = rows.records().filter_map(Result::ok);
    let values: Vec<f64> = rows.filter_map(|row| number(&row, column)).collect();
    let count = |minimum: f64| values.iter().filter(|value| **value > minimum).count();
    let maximum = values.iter().copied().fold(0.0, f64::max);
    match maximum {
        _ if count(1.0) * 2 < count(0.0) || maximum <= 1.0 => 1.0,
        percent if percent <= PERCENT => PERCENT,
        tq if tq <= TQ && key == "quality" => TQ,
        _ => 1.0,
    }
}
