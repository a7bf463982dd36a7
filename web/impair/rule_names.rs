//! Names of the rules in force, which a kernel does not have, over a restart of the daemon.

use std::collections::BTreeMap;
use std::path::PathBuf;

use groundwave_impair::{Direction, Impairment, Rules};
use groundwave_io_impair::state_file;

/// Rules of each direction that may be in force, the latest first, and their file.
#[derive(Debug, Default)]
pub struct RuleNames {
    rules: BTreeMap<Direction, Vec<Rules>>,
    /// `None` keeps them in memory only.
    file: Option<PathBuf>,
}

impl RuleNames {
    /// Rules of a daemon that ran before, and from now on of this one, in `file`.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn open(file: PathBuf) -> std::io::Result<Self> {
        Ok(Self { rules: state_file::load(&file)?, file: Some(file) })
    }

    /// Rules of a direction that may be in force, the latest first.
    #[must_use]
    pub fn of(&self, direction: Direction) -> &[Rules] {
        self.rules.get(&direction).map_or(&[], Vec::as_slice)
    }

    /// Notes rules that are about to be put in force: until then, and if they are refused, those before
    /// them are.
    pub(super) fn begin(&mut self, direction: Direction, impairment: Option<&Impairment>) {
        let rules = impairment.and_then(|impairment| impairment.rules.clone());
        let present = self.of(direction);
        if rules.is_none() || present.first() == rules.as_ref() {
            return;
        }
        let earlier = present.first().cloned();
        self.set(direction, rules.into_iter().chain(earlier).collect());
    }

    /// Notes the outcome of [`Self::begin`].
    pub(super) fn end(
        &mut self,
        direction: Direction,
        impairment: Option<&Impairment>,
        is_in_force: bool,
    ) {
        let rules = impairment.and_then(|impairment| impairment.rules.clone());
        let remainder: Vec<_> = match is_in_force {
            true => rules.into_iter().collect(),
            false => match self.of(direction) {
                [refused, earlier] if Some(refused) == rules.as_ref() => vec![earlier.clone()],
                _ => return,
            },
        };
        if self.of(direction) != remainder {
            self.set(direction, remainder);
        }
    }

    fn set(&mut self, direction: Direction, rules: Vec<Rules>) {
        match rules.is_empty() {
            true => self.rules.remove(&direction),
            false => self.rules.insert(direction, rules),
        };
        let Some(file) = &self.file else {
            return;
        };
        if let Err(err) = state_file::store(file, &self.rules) {
            let file = file.display();
            tracing::error!(%file, %err, "names of rules are in memory only");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn impairment(names: &[&str]) -> Impairment {
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
        let open = || RuleNames::open(file.clone()).unwrap();
        let port = Direction::PORT2;
        let (one, two) = (impairment(&["a"]), impairment(&["b", "c"]));
        let rules = |impairment: &Impairment| impairment.rules.clone().unwrap();
        let mut names = open();
        names.begin(port, Some(&one));
        names.end(port, Some(&one), true);
        assert_eq!(open().of(port), [rules(&one)]);
        names.begin(port, Some(&two));
        assert_eq!(open().of(port), [rules(&two), rules(&one)], "killed in between");
        names.end(port, Some(&two), false);
        assert_eq!(open().of(port), [rules(&one)], "refused");
        names.begin(port, Some(&one));
        names.end(port, Some(&one), false);
        assert_eq!(open().of(port), [rules(&one)], "refused although equal");
        names.begin(port, None);
        names.end(port, None, true);
        assert!(open().of(port).is_empty());
        std::fs::write(&file, "{").unwrap();
        assert!(RuleNames::open(file).is_err());
    }
}
