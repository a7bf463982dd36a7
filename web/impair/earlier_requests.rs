//! Last requests, over a restart of the daemon: a kernel does not report names of rules and distributions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use groundwave_impair::{Direction, Impairment, Rules};
use groundwave_io_impair::state_file;
use serde::{Deserialize, Serialize};

/// Request in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum StoredRequest {
    /// The whole.
    Impairment(Box<Impairment>),
    /// The rules alone, as earlier versions wrote them.
    Rules(Rules),
}

/// Requests of each direction that may be in force, the latest first, and their file.
#[derive(Debug, Default)]
pub struct EarlierRequests {
    requests: BTreeMap<Direction, Vec<Impairment>>,
    /// `None` keeps them in memory only.
    file: Option<PathBuf>,
}

impl EarlierRequests {
    /// Requests of a daemon that ran before, and from now on of this one, in `file`.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn open(file: PathBuf) -> std::io::Result<Self> {
        let stored: BTreeMap<Direction, Vec<StoredRequest>> = state_file::load(&file)?;
        let whole = |stored| match stored {
            StoredRequest::Impairment(impairment) => *impairment,
            StoredRequest::Rules(rules) => {
                Impairment { rules: Some(rules), ..Impairment::default() }
            }
        };
        let requests = stored.into_iter().map(|(direction, stored)| {
            (direction, stored.into_iter().map(whole).collect::<Vec<_>>())
        });
        Ok(Self { requests: requests.collect(), file: Some(file) })
    }

    /// Requests of a direction that may be in force, the latest first.
    #[must_use]
    pub fn of(&self, direction: Direction) -> &[Impairment] {
        self.requests.get(&direction).map_or(&[], Vec::as_slice)
    }

    /// Notes a request that is about to be put in force: until then, and if it is refused, that before it is.
    pub(super) fn begin(&mut self, direction: Direction, request: Option<&Impairment>) {
        let present = self.of(direction);
        let Some(request) = request.filter(|request| !request.is_empty()) else {
            return;
        };
        if present.first() == Some(request) {
            return;
        }
        let earlier = present.first().cloned();
        self.set(direction, std::iter::once(request.clone()).chain(earlier).collect());
    }

    /// Notes the outcome of [`Self::begin`].
    pub(super) fn end(
        &mut self,
        direction: Direction,
        request: Option<&Impairment>,
        is_in_force: bool,
    ) {
        let request = request.filter(|request| !request.is_empty());
        let remainder: Vec<_> = match is_in_force {
            true => request.cloned().into_iter().collect(),
            false => match self.of(direction) {
                [refused, earlier] if Some(refused) == request => vec![earlier.clone()],
                _ => return,
            },
        };
        if self.of(direction) != remainder {
            self.set(direction, remainder);
        }
    }

    fn set(&mut self, direction: Direction, requests: Vec<Impairment>) {
        match requests.is_empty() {
            true => self.requests.remove(&direction),
            false => self.requests.insert(direction, requests),
        };
        let Some(file) = &self.file else {
            return;
        };
        if let Err(err) = state_file::store(file, &self.requests) {
            let file = file.display();
            tracing::error!(%file, %err, "the last requests are in memory only");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(names: &[&str]) -> Impairment {
        let rules = names.iter().map(|name| {
            format!(r#"{{"name":"{name}","match":{{"protocol":"udp"}},"impairment":{{}}}}"#)
        });
        let rules: Vec<_> = rules.collect();
        serde_json::from_str(&format!(r#"{{"rules":[{}]}}"#, rules.join(","))).unwrap()
    }

    #[test]
    fn killed_change_leaves_both_candidates_and_a_refused_one_the_earlier() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rules");
        let open = || EarlierRequests::open(file.clone()).unwrap();
        let port = Direction::PORT2;
        let (one, two) = (request(&["a"]), request(&["b", "c"]));
        let mut requests = open();
        requests.begin(port, Some(&one));
        requests.end(port, Some(&one), true);
        assert_eq!(open().of(port), std::slice::from_ref(&one));
        requests.begin(port, Some(&two));
        assert_eq!(open().of(port), [two.clone(), one.clone()], "killed in between");
        requests.end(port, Some(&two), false);
        assert_eq!(open().of(port), std::slice::from_ref(&one), "refused");
        requests.begin(port, Some(&one));
        requests.end(port, Some(&one), false);
        assert_eq!(open().of(port), [one], "refused although equal");
        requests.begin(port, None);
        requests.end(port, None, true);
        assert!(open().of(port).is_empty());
        std::fs::write(&file, "{").unwrap();
        assert!(EarlierRequests::open(file).is_err());
    }

    #[test]
    fn a_file_of_rules_alone_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rules");
        let rules = request(&["a", "b"]).rules;
        let stored = BTreeMap::from([(Direction::PORT1, vec![rules])]);
        std::fs::write(&file, serde_json::to_vec(&stored).unwrap()).unwrap();
        let requests = EarlierRequests::open(file).unwrap();
        assert_eq!(requests.of(Direction::PORT1), [request(&["a", "b"])]);
    }
}
