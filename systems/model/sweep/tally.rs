//! Areas by what the network offers, summed cell by cell in a fixed order.

use serde::Serialize;

use super::network::Network;

/// Areas of a network, m². Each field but the last two is a part of `answered_m2`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Cells within the radius of some site, whose ground is known.
    pub answered_m2: f64,
    /// Covered by at least one site at the required margin.
    pub covered_m2: f64,
    /// Covered by two sites or more.
    pub overlap_m2: f64,
    /// Answered, but covered by none.
    pub gap_m2: f64,
    /// Covered, but the path to the best server crosses ground without data.
    pub covered_over_unknown_m2: f64,
    /// By the verdict of the best server, from `no_link` to `excellent`.
    pub by_verdict_m2: [f64; 5],
    /// Within the radius of some site, but the ground of the cell itself is not known: never
    /// counted as covered.
    pub no_data_m2: f64,
    /// Each site's part.
    pub sites: Vec<SiteTally>,
}

/// Areas of one site, m².
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SiteTally {
    /// Covered by this site.
    pub covered_m2: f64,
    /// Area where this site is the best server.
    pub best_m2: f64,
    /// Covered by this site and by no other: what the network would lose without it.
    pub only_m2: f64,
}

impl Tally {
    /// A tally of nothing, for this many sites.
    #[must_use]
    pub fn new(sites: usize) -> Self {
        Self { sites: vec![SiteTally::default(); sites], ..Self::default() }
    }

    /// Adds a cell: what the network offers, and which sites serve it.
    pub fn add(&mut self, area_m2: f64, network: &Network, servers: &[u16]) {
        if network.margin_db.is_none() {
            if network.no_data {
                self.no_data_m2 += area_m2;
            }
            return;
        }
        self.answered_m2 += area_m2;
        self.by_verdict_m2[network.verdict as usize] += area_m2;
        let covered = network.best.is_some();
        *(if covered { &mut self.covered_m2 } else { &mut self.gap_m2 }) += area_m2;
        if covered && !network.path_known {
            self.covered_over_unknown_m2 += area_m2;
        }
        if network.servers > 1 {
            self.overlap_m2 += area_m2;
        }
        for &site in servers {
            let tally = &mut self.sites[usize::from(site)];
            tally.covered_m2 += area_m2;
            if network.best == Some(site) {
                tally.best_m2 += area_m2;
            }
            if network.servers == 1 {
                tally.only_m2 += area_m2;
            }
        }
    }

    /// Adds another tally, of the same sites.
    pub fn add_all(&mut self, other: &Self) {
        self.answered_m2 += other.answered_m2;
        self.covered_m2 += other.covered_m2;
        self.overlap_m2 += other.overlap_m2;
        self.gap_m2 += other.gap_m2;
        self.covered_over_unknown_m2 += other.covered_over_unknown_m2;
        self.no_data_m2 += other.no_data_m2;
        let verdicts = self.by_verdict_m2.iter_mut().zip(other.by_verdict_m2);
        verdicts.for_each(|(sum, part)| *sum += part);
        for (sum, part) in self.sites.iter_mut().zip(&other.sites) {
            sum.add(part);
        }
    }
}

impl SiteTally {
    /// Adds another part of the same site.
    pub fn add(&mut self, other: &Self) {
        self.covered_m2 += other.covered_m2;
        self.best_m2 += other.best_m2;
        self.only_m2 += other.only_m2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::Verdict;
    use crate::sweep::Answer;

    /// Adds 2000 cells of 2 m² by chance, each to the tally that `part` names.
    fn fill(tallies: &mut [Tally], part: impl Fn(u16) -> usize) {
        let mut chance = groundwave_values::Seed(4).stream("tally", 0, 0);
        for cell in 0..2000 {
            let mut network = Network::default();
            let mut servers = Vec::new();
            for site in 0..3 {
                let margin_db = chance.between(-20.0, 25.0) as f32;
                let answer = if cell % 10 == 0 {
                    Answer::NoData
                } else {
                    Answer::Margin {
                        margin_db,
                        verdict: Verdict::of(f64::from(margin_db) / 25.0),
                        path_known: cell % 7 != 0,
                    }
                };
                if network.hear(site, answer, 0.0) {
                    servers.push(site);
                }
            }
            tallies[part(cell)].add(2.0, &network, &servers);
        }
    }

    #[test]
    fn the_parts_add_up_to_the_whole() {
        let mut tally = [Tally::new(3)];
        fill(&mut tally, |_| 0);
        let [tally] = tally;
        assert_eq!(tally.answered_m2, 3600.0);
        assert_eq!(tally.no_data_m2, 400.0);
        assert_eq!(tally.covered_m2 + tally.gap_m2, tally.answered_m2);
        assert_eq!(tally.by_verdict_m2.iter().sum::<f64>(), tally.answered_m2);
        // Of chances between -0.8 and 1 a tenth begins "poor".
        assert!(tally.by_verdict_m2[0] > tally.gap_m2);
        assert!(tally.by_verdict_m2.iter().all(|area_m2| *area_m2 > 0.0));
        let best: f64 = tally.sites.iter().map(|site| site.best_m2).sum();
        assert_eq!(best, tally.covered_m2);
        let only: f64 = tally.sites.iter().map(|site| site.only_m2).sum();
        assert_eq!(only + tally.overlap_m2, tally.covered_m2);
        assert!(tally.covered_over_unknown_m2 > 0.0);
    }

    #[test]
    fn tallies_of_parts_add_up_to_that_of_the_whole() {
        let (mut whole, mut parts) = ([Tally::new(3)], [Tally::new(3), Tally::new(3)]);
        fill(&mut whole, |_| 0);
        fill(&mut parts, |cell| usize::from(cell % 3 == 0));
        let [mut sum, rest] = parts;
        sum.add_all(&rest);
        assert_eq!(sum, whole[0]);
    }
}
