//! Comparison of the requested and the observed impairment, fact by fact.

use super::observed::{DivergenceItem, DivergenceKind, Value};

/// One field of one layer, as asked for or as read back.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The layer, for example `netem`.
    pub layer: &'static str,
    /// The field, for example `loss.pct`.
    pub field: &'static str,
    /// The number the kernel holds, by which facts are compared.
    pub raw: i128,
    /// Tolerance of `raw` where the kernel rounds, in its units.
    pub slack: i128,
    /// The number in the units of the interface, by which facts are shown.
    pub value: Value,
}

/// Differences between `requested` and `observed`, in the order of `requested`, then what is only
/// in `observed`. Every layer has a fact `kind`.
#[must_use]
pub fn compare(requested: &[Fact], observed: &[Fact]) -> Vec<DivergenceItem> {
    let items = differences(requested, observed);
    items.map(|(asked, found)| item(asked, found)).collect()
}

/// `true` if [`compare`] finds nothing.
#[must_use]
pub fn equal(requested: &[Fact], observed: &[Fact]) -> bool {
    differences(requested, observed).next().is_none()
}

/// The facts that differ, requested and observed, first those requested.
fn differences<'f>(
    requested: &'f [Fact],
    observed: &'f [Fact],
) -> impl Iterator<Item = (Option<&'f Fact>, Option<&'f Fact>)> {
    let same = |a: &Fact, b: &Fact| a.layer == b.layer && a.field == b.field;
    let lacks = |facts: &[Fact], layer| !facts.iter().any(|fact| fact.layer == layer);
    // Of a layer that only one side has, one fact is enough: that it is there.
    let told = move |fact: &Fact, other: &[Fact]| fact.field == "kind" || !lacks(other, fact.layer);
    let asked = requested.iter().filter(move |fact| told(fact, observed));
    let asked = asked.filter_map(move |asked| {
        let found = observed.iter().find(|found| same(asked, found));
        let equal = found
            .is_some_and(|found| (asked.raw - found.raw).abs() <= asked.slack.max(found.slack));
        (!equal).then_some((Some(asked), found))
    });
    let found = observed.iter().filter(move |fact| told(fact, requested));
    let only = found.filter(move |found| !requested.iter().any(|asked| same(asked, found)));
    asked.chain(only.map(|found| (None, Some(found))))
}

fn item(requested: Option<&Fact>, observed: Option<&Fact>) -> DivergenceItem {
    let fact = requested.or(observed).expect("one of them is there");
    let shown = |fact: Option<&Fact>| fact.map_or_else(|| "nothing".to_owned(), Fact::shown);
    DivergenceItem {
        layer: fact.layer.to_owned(),
        field: fact.field.to_owned(),
        requested: requested.map(|fact| fact.value.clone()),
        observed: observed.map(|fact| fact.value.clone()),
        kind: DivergenceKind::Differs,
        message: format!(
            "{} {}: asked for {}, the kernel holds {}",
            fact.layer,
            fact.field,
            shown(requested),
            shown(observed)
        ),
    }
}

impl Fact {
    fn shown(&self) -> String {
        match &self.value {
            Value::Whole(value) => value.to_string(),
            Value::Real(value) => value.to_string(),
            Value::Text(value) => value.clone(),
        }
    }
}
