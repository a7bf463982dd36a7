//! Contents of a unit of work: one tile of one variant, site by site.

use std::collections::BTreeSet;

use groundwave_model::sweep::Answer;
use groundwave_simulation::coverage::Flags;
use serde::{Deserialize, Serialize};

/// A layer that units hold only where the plan asks for it; they stand in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// Total path loss, dB.
    PathLoss,
    /// Field strength at the receiver, dBµV/m.
    FieldStrength,
    /// Rate left to payload, bit/s. A margin rounded to `f32` does not tell it: at the border of two
    /// modulations it may be on either side.
    Rate,
    /// Probability that the link works, percent: the spread beside the margin decides it.
    Probability,
}

/// A value of a cell towards one site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Received power, dBm, which all units hold.
    Power,
    /// A layer that units hold where the plan asks for it.
    Column(Column),
}

/// Margins and flags of one site in one tile; row-major order of the tile's cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answers {
    /// Link margin, dB.
    pub margin_db: Vec<f32>,
    /// Flags and verdict as stored ([`Flags::stored`]).
    pub flags: Vec<u8>,
}

impl Answers {
    /// Number of cells.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.flags.len()
    }

    /// The margin of a cell where the site has an answer.
    #[must_use]
    pub fn margin_db(&self, cell: usize) -> Option<f32> {
        is_answered(self.flags[cell]).then(|| self.margin_db[cell])
    }

    /// Answer of the site for a cell.
    #[must_use]
    pub fn answer(&self, cell: usize) -> Answer {
        let flags = Flags::from_stored(self.flags[cell]);
        match self.margin_db(cell) {
            Some(margin_db) => Answer::Margin {
                margin_db,
                verdict: Flags::stored_verdict(self.flags[cell]),
                path_known: !flags.intersects(Flags::PATH_UNKNOWN),
            },
            None if !flags.intersects(Flags::OUTSIDE) => Answer::NoData,
            None => Answer::Outside,
        }
    }
}

/// True if a cell with the stored `flags` has an answer, and so values in the layers.
#[must_use]
pub fn is_answered(flags: u8) -> bool {
    !Flags::from_stored(flags).intersects(Flags::OUTSIDE | Flags::NO_DATA)
}

/// One site in one tile; vectors in row-major order of the tile's cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SiteTile {
    /// Index of the site in the plan.
    pub site: u16,
    /// Link margin and flags.
    pub answers: Answers,
    /// Received power, dBm: the value of the `link` command, rounded to `f32`.
    pub rx_power_dbm: Vec<f32>,
    /// Received power exceeded in 10 % of links alike, dBm.
    pub p10_dbm: Vec<f32>,
    /// Received power exceeded in 90 % of links alike, dBm.
    pub p90_dbm: Vec<f32>,
    /// Columns that the plan asks for, in their order.
    pub columns: Vec<(Column, Vec<f32>)>,
}

impl SiteTile {
    /// A tile of so many cells with these columns, nothing known of them yet.
    #[must_use]
    pub fn blank(site: u16, cells: usize, columns: &BTreeSet<Column>) -> Self {
        let layer = || vec![0.0; cells];
        Self {
            site,
            answers: Answers { margin_db: layer(), flags: vec![0; cells] },
            rx_power_dbm: layer(),
            p10_dbm: layer(),
            p90_dbm: layer(),
            columns: columns.iter().map(|column| (*column, layer())).collect(),
        }
    }

    /// The values of a level.
    ///
    /// # Panics
    /// If it is a column that the tile does not have.
    #[must_use]
    pub fn level(&self, level: Level) -> &[f32] {
        match level {
            Level::Power => &self.rx_power_dbm,
            Level::Column(wanted) => {
                let mut columns = self.columns.iter();
                let found = columns.find(|(column, _)| *column == wanted);
                &found.expect("the plan asks for the column").1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use groundwave_model::radio::Verdict;

    use super::*;

    #[test]
    fn answers_are_none_where_nothing_is_known() {
        let answers = Answers {
            margin_db: vec![7.0; 4],
            flags: [Flags::NONE, Flags::OUTSIDE, Flags::NO_DATA, Flags::PATH_UNKNOWN]
                .map(|flags| flags.stored(Verdict::Good))
                .to_vec(),
        };
        let known =
            |path_known| Answer::Margin { margin_db: 7.0, verdict: Verdict::Good, path_known };
        let said: Vec<_> = (0..4).map(|cell| answers.answer(cell)).collect();
        let expected = [known(true), Answer::Outside, Answer::NoData, known(false)];
        assert_eq!(said, expected);
        assert_eq!(answers.margin_db(1), None);
        assert_eq!(answers.margin_db(3), Some(7.0));
    }
}
