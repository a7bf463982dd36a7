//! One cell, many sites.

use crate::radio::Verdict;

/// Answer of one site for a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    /// The cell lies outside its radius.
    Outside,
    /// The ground under the cell is not known.
    NoData,
    /// It was evaluated.
    Margin {
        /// Link margin, dB.
        margin_db: f32,
        /// Verdict of the link.
        verdict: Verdict,
        /// True if the terrain is known all along the path.
        path_known: bool,
    },
}

/// Combined coverage of a cell by all sites.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Network {
    /// The site with the largest margin, if any reaches the required one.
    pub best: Option<u16>,
    /// The next one, if it reaches the required margin too.
    pub second: Option<u16>,
    /// The largest link margin of any site, dB; `None` where no site has an answer.
    pub margin_db: Option<f32>,
    /// Verdict of the site with the largest margin.
    pub verdict: Verdict,
    /// Number of sites that reach the required margin.
    pub servers: u16,
    /// True if the path to the best server is known throughout, or there is none.
    pub path_known: bool,
    /// True if some site reaches the cell but has no terrain data for it.
    pub no_data: bool,
    second_db: f32,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            best: None,
            second: None,
            margin_db: None,
            verdict: Verdict::NoLink,
            servers: 0,
            path_known: true,
            no_data: false,
            second_db: f32::NEG_INFINITY,
        }
    }
}

impl Network {
    /// Adds the next site; each site is added once, in order. Returns `true` if it serves the cell.
    #[inline]
    pub fn hear(&mut self, site: u16, answer: Answer, required_db: f32) -> bool {
        let (margin_db, verdict, path_known) = match answer {
            Answer::Outside => return false,
            Answer::NoData => {
                self.no_data = true;
                return false;
            }
            Answer::Margin { margin_db, verdict, path_known } => (margin_db, verdict, path_known),
        };
        let best_db = self.margin_db.unwrap_or(f32::NEG_INFINITY);
        let serves = margin_db >= required_db;
        self.servers += u16::from(serves);
        // Strictly larger: of equals the lower site stays.
        if self.margin_db.is_none() || margin_db > best_db {
            (self.second, self.second_db) = (self.best, best_db);
            self.best = serves.then_some(site);
            self.path_known = path_known || !serves;
            (self.margin_db, self.verdict) = (Some(margin_db), verdict);
        } else if serves && margin_db > self.second_db {
            (self.second, self.second_db) = (Some(site), margin_db);
        }
        serves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(margins: &[f32]) -> Network {
        let mut network = Network::default();
        for (site, &margin_db) in margins.iter().enumerate() {
            let answer = if margin_db.is_nan() {
                Answer::Outside
            } else {
                Answer::Margin { margin_db, verdict: Verdict::Good, path_known: margin_db > 4.0 }
            };
            let serves = network.hear(site as u16, answer, 3.0);
            assert_eq!(serves, margin_db >= 3.0);
        }
        network
    }

    #[test]
    fn best_second_and_count_follow_the_margins() {
        let network = of(&[5.0, 9.0, 1.0, 7.0]);
        let ranking = (network.best, network.second, network.margin_db);
        assert_eq!(ranking, (Some(1), Some(3), Some(9.0)));
        assert_eq!(network.servers, 3);
        assert_eq!(of(&[9.0, 5.0]).second, Some(1));
        assert_eq!(of(&[5.0, 9.0]).second, Some(0));
    }

    #[test]
    fn ties_go_to_the_lower_site_and_gaps_stay_gaps() {
        assert_eq!(of(&[4.0, 4.0, 4.0]).best, Some(0));
        assert_eq!(of(&[4.0, 4.0, 4.0]).second, Some(1));
        let gap = of(&[f32::NAN, 2.0]);
        assert_eq!((gap.best, gap.margin_db, gap.servers), (None, Some(2.0), 0));
        assert_eq!(of(&[f32::NAN]).margin_db, None);
    }

    #[test]
    fn the_path_that_counts_is_that_of_the_best_server() {
        assert!(!of(&[3.5]).path_known);
        assert!(of(&[3.5, 6.0]).path_known);
        assert!(of(&[6.0, 3.5]).path_known);
        assert!(of(&[1.0]).path_known, "no server, no path");
        let mut network = Network::default();
        assert!(!network.hear(0, Answer::NoData, 3.0));
        assert!(network.no_data && network.margin_db.is_none());
    }

    #[test]
    fn second_is_never_better_than_best_in_any_order() {
        let mut chance = groundwave_values::Seed(1).stream("fold", 0, 0);
        for _ in 0..500 {
            let margins: Vec<f32> = (0..6).map(|_| chance.between(-5.0, 10.0) as f32).collect();
            let network = of(&margins);
            let mut sorted: Vec<_> =
                (0..6u16).filter(|i| margins[usize::from(*i)] >= 3.0).collect();
            sorted.sort_by(|a, b| margins[usize::from(*b)].total_cmp(&margins[usize::from(*a)]));
            assert_eq!(network.best, sorted.first().copied());
            assert_eq!(network.second, sorted.get(1).copied());
            assert_eq!(usize::from(network.servers), sorted.len());
        }
    }
}
