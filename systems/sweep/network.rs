//! One cell, many sites.

/// What the network offers in a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Network {
    /// The site with the largest margin, if any reaches the required one.
    pub best: Option<u16>,
    /// The next one, if it reaches the required margin too.
    pub second: Option<u16>,
    /// The largest link margin of any site, dB; `None` where no site has an answer.
    pub margin_db: Option<f32>,
    /// How many sites reach the required margin.
    pub servers: u16,
}

/// Folds the link margins of a cell, given in site order; `None` where a site has no answer: out
/// of its radius, or no terrain under the cell.
#[must_use]
pub fn fold(margins: impl IntoIterator<Item = (u16, Option<f32>)>, required_db: f32) -> Network {
    let mut network = Network {
        best: None,
        second: None,
        margin_db: None,
        servers: 0,
    };
    let mut second_db = f32::NEG_INFINITY;
    for (site, margin_db) in margins {
        let Some(margin_db) = margin_db else { continue };
        let best_db = network.margin_db.unwrap_or(f32::NEG_INFINITY);
        let serves = margin_db >= required_db;
        network.servers += u16::from(serves);
        // Strictly larger: of equals the lower site stays.
        if network.margin_db.is_none() || margin_db > best_db {
            (network.second, second_db) = (network.best, best_db);
            network.best = serves.then_some(site);
            network.margin_db = Some(margin_db);
        } else if serves && margin_db > second_db {
            (network.second, second_db) = (Some(site), margin_db);
        }
    }
    network
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(margins: &[f32]) -> Network {
        let cells = margins.iter().enumerate();
        let cells = cells.map(|(i, m)| (i as u16, (!m.is_nan()).then_some(*m)));
        fold(cells, 3.0)
    }

    #[test]
    fn best_second_and_count_follow_the_margins() {
        let network = of(&[5.0, 9.0, 1.0, 7.0]);
        let expected = Network {
            best: Some(1),
            second: Some(3),
            margin_db: Some(9.0),
            servers: 3,
        };
        assert_eq!(network, expected);
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
    fn second_is_never_better_than_best_in_any_order() {
        let mut chance = groundwave_engine::Seed(1).stream("fold", 0, 0);
        for _ in 0..500 {
            let margins: Vec<f32> = (0..6).map(|_| chance.between(-5.0, 10.0) as f32).collect();
            let network = of(&margins);
            let mut sorted: Vec<_> = (0..6u16)
                .filter(|i| margins[usize::from(*i)] >= 3.0)
                .collect();
            sorted.sort_by(|a, b| margins[usize::from(*b)].total_cmp(&margins[usize::from(*a)]));
            assert_eq!(network.best, sorted.first().copied());
            assert_eq!(network.second, sorted.get(1).copied());
            assert_eq!(usize::from(network.servers), sorted.len());
        }
    }
}
