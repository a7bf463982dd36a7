//! Contention sets: the maximal cliques of the graph of links that contend.

use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;

/// Maximum number of steps of the search for all maximal cliques, of which a graph may have exponentially
/// many. Beyond it, those already listed and a clique for each pair that contends are the sets.
pub const SETS_STEPS_MAX: usize = 50_000;

/// Maximum depth of that search: it recurs once for each link of a clique.
const DEPTH_MAX: usize = 1_000;

/// Links, numbered from 0, and which of them contend.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contention(Vec<FixedBitSet>);

impl Contention {
    /// `links` links of which none contend.
    #[must_use]
    pub fn new(links: usize) -> Self {
        Self(vec![FixedBitSet::with_capacity(links); links])
    }

    /// Notes that two different links contend.
    ///
    /// # Panics
    /// When there is no such link.
    pub fn insert(&mut self, one: usize, other: usize) {
        if one != other {
            self.0[one].insert(other);
            self.0[other].insert(one);
        }
    }

    /// `true` if two links contend.
    #[must_use]
    pub fn contains(&self, one: usize, other: usize) -> bool {
        self.0.get(one).is_some_and(|links| links.contains(other))
    }

    /// The contention sets in rising order, each with rising numbers of links. Every link is in one, a link
    /// that contends with none by itself.
    ///
    /// C. Bron and J. Kerbosch, "Finding all cliques of an undirected graph", CACM 16, 1973, with the pivot
    /// of E. Tomita, A. Tanaka and H. Takahashi, 2006.
    #[must_use]
    pub fn sets(&self) -> Vec<Vec<usize>> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let (groups, contention) = self.merged();
        let count = contention.0.len();
        let mut candidates = FixedBitSet::with_capacity(count);
        candidates.insert_range(..);
        let mut search = Search { contention: &contention, steps: 0, cliques: Vec::new() };
        let visited = FixedBitSet::with_capacity(count);
        let is_complete = search.extend(&mut Vec::new(), candidates, visited);
        let mut cliques = search.cliques;
        if !is_complete {
            cliques.extend(contention.cover());
        }
        let members = |clique: Vec<usize>| {
            let mut links: Vec<usize> =
                clique.iter().flat_map(|group| groups[*group].iter().copied()).collect();
            links.sort_unstable();
            links
        };
        let mut sets: Vec<Vec<usize>> = cliques.into_iter().map(members).collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// Links that contend with each other and with the same others are in the same cliques: groups of
    /// them, and the graph of those groups.
    fn merged(&self) -> (Vec<Vec<usize>>, Self) {
        let mut groups: BTreeMap<FixedBitSet, Vec<usize>> = BTreeMap::new();
        for (link, others) in self.0.iter().enumerate() {
            let mut closed = others.clone();
            closed.insert(link);
            groups.entry(closed).or_default().push(link);
        }
        let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
        groups.sort_unstable();
        let mut contention = Self::new(groups.len());
        for (one, links) in groups.iter().enumerate() {
            for (other, others) in groups.iter().enumerate().skip(one + 1) {
                if self.contains(links[0], others[0]) {
                    contention.insert(one, other);
                }
            }
        }
        (groups, contention)
    }

    /// A maximal clique around each pair that no clique before has.
    fn cover(&self) -> Vec<Vec<usize>> {
        let mut covered = Self::new(self.0.len());
        let mut cliques = Vec::new();
        for one in 0..self.0.len() {
            for other in self.0[one].ones().filter(|other| *other > one) {
                if covered.contains(one, other) {
                    continue;
                }
                let mut clique = vec![one, other];
                let mut candidates = self.0[one].clone();
                candidates.intersect_with(&self.0[other]);
                while let Some(next) = candidates.minimum() {
                    clique.push(next);
                    candidates.intersect_with(&self.0[next]);
                }
                for (at, member) in clique.iter().enumerate() {
                    clique[at + 1..].iter().for_each(|peer| covered.insert(*member, *peer));
                }
                cliques.push(clique);
            }
        }
        cliques
    }
}

struct Search<'a> {
    contention: &'a Contention,
    steps: usize,
    cliques: Vec<Vec<usize>>,
}

impl Search<'_> {
    /// Lists the maximal cliques of `clique` and some of the `candidates`, but none with one of the
    /// `visited`; `false` where the search ended before.
    fn extend(
        &mut self,
        clique: &mut Vec<usize>,
        mut candidates: FixedBitSet,
        mut visited: FixedBitSet,
    ) -> bool {
        self.steps += 1;
        if self.steps > SETS_STEPS_MAX || clique.len() > DEPTH_MAX {
            return false;
        }
        let contention = self.contention;
        let near = |link: &usize| contention.0[*link].intersection_count(&candidates);
        let Some(pivot) = candidates.ones().chain(visited.ones()).max_by_key(near) else {
            self.cliques.push(clique.clone());
            return true;
        };
        let mut branches = candidates.clone();
        branches.difference_with(&contention.0[pivot]);
        let mut is_complete = true;
        for link in branches.ones() {
            let within = |links: &FixedBitSet| {
                let mut links = links.clone();
                links.intersect_with(&contention.0[link]);
                links
            };
            clique.push(link);
            is_complete &= self.extend(clique, within(&candidates), within(&visited));
            clique.pop();
            candidates.remove(link);
            visited.insert(link);
        }
        is_complete
    }
}
