//! Comparison of the requested and the observed impairment, fact by fact.

use super::observed::{DivergenceItem, DivergenceKind, Value};

/// One field of one layer, as requested or as read back.
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
    items.map(|(requested, observed)| item(requested, observed)).collect()
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
    let counts =
        move |fact: &Fact, other: &[Fact]| fact.field == "kind" || !lacks(other, fact.layer);
    let first = requested.iter().filter(move |fact| counts(fact, observed));
    let first = first.filter_map(move |fact| {
        let other = observed.iter().find(|other| same(fact, other));
        let equal =
            other.is_some_and(|other| (fact.raw - other.raw).abs() <= fact.slack.max(other.slack));
        (!equal).then_some((Some(fact), other))
    });
    let rest = observed.iter().filter(move |fact| counts(fact, requested));
    let only = rest.filter(move |fact| !requested.iter().any(|other| same(other, fact)));
    first.chain(only.map(|fact| (None, Some(fact))))
}

fn item(requested: Option<&Fact>, observed: Option<&Fact>) -> DivergenceItem {
    let fact = requested.or(observed).expect("one of them is there");
    let text = |fact: Option<&Fact>| fact.map_or_else(|| "nothing".to_owned(), Fact::text);
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
            text(requested),
            text(observed)
        ),
    }
}

impl Fact {
    fn text(&self) -> String {
        match &self.value {
            Value::Whole(value) => value.to_string(),
            Value::Real(value) => value.to_string(),
            Value::Text(value) => value.clone(),
        }
    }
}
