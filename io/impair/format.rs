//! Texts of an impairment: read, printed, laid over others.

use groundwave_impair::{Impairment, ImpairmentField};

use super::impairment_spec::{ImpairmentSpec, KNOBS, ParseError};
use super::knob::Knob;

/// Text that removes the value of a knob.
const NONE: &str = "none";

impl ImpairmentSpec {
    /// The texts of an impairment. A burst derived from the rate is left out.
    #[must_use]
    pub fn of(impairment: &Impairment) -> Self {
        let mut spec = Self::default();
        for (knob, text) in KNOBS.iter().zip(spec.texts_mut()) {
            *text = (knob.get)(impairment);
        }
        spec
    }

    /// The impairment.
    ///
    /// # Errors
    /// The first knob whose text is invalid, or that needs or excludes another.
    pub fn impairment(&self) -> Result<Impairment, ParseError> {
        let mut impairment = Impairment::default();
        for (knob, text) in KNOBS.iter().zip(self.texts()) {
            if let Some(text) = text {
                knob.set(&mut impairment, text)?;
            }
        }
        Ok(impairment)
    }

    /// The text of the knob with this key.
    pub fn field(&mut self, key: &str) -> Option<&mut Option<String>> {
        let place = Self::KEYS.iter().position(|other| *other == key)?;
        self.texts_mut().into_iter().nth(place)
    }

    /// `true` without any text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Fields of an impairment that the texts are about.
    #[must_use]
    pub fn fields(&self) -> Vec<ImpairmentField> {
        let texts = || KNOBS.iter().zip(self.texts());
        let fields = ImpairmentField::ALL.into_iter();
        let named = |field: &ImpairmentField| {
            texts().any(|(knob, text)| knob.field == *field && text.is_some())
        };
        fields.filter(named).collect()
    }

    /// These texts with those of `over` in their place. `none` removes a text: those of a whole kind of
    /// impairment where it is the main one of the kind.
    #[must_use]
    pub fn with(mut self, over: &Self) -> Self {
        for (knob, text) in KNOBS.iter().zip(over.texts()) {
            let Some(text) = text else {
                continue;
            };
            let none = text.trim() == NONE;
            let mut removed = vec![knob.key];
            knob.collect_removed(none, &mut removed);
            for (other, text) in KNOBS.iter().zip(self.texts_mut()) {
                if removed.contains(&other.key) {
                    *text = None;
                }
            }
            if let Some(place) = self.field(knob.key) {
                *place = (!none).then(|| text.clone());
            }
        }
        self
    }

    /// The texts with their keys, in order.
    #[must_use]
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let entry = |(key, text): (_, &Option<String>)| Some((key, text.clone()?));
        Self::KEYS.into_iter().zip(self.texts()).filter_map(entry).collect()
    }

    /// The texts behind the words of their keys, in order: `delay 50ms`.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let entries = self.entries().into_iter();
        entries.map(|(key, text)| format!("{} {text}", key.replace('_', " "))).collect()
    }
}

impl Knob {
    /// Adds the keys of the knobs that a text of this one removes, directly or with another that it
    /// removes.
    fn collect_removed(&self, none: bool, keys: &mut Vec<&'static str>) {
        for other in KNOBS.iter().filter(|other| self.removes(other, none)) {
            if !keys.contains(&other.key) {
                keys.push(other.key);
                other.collect_removed(true, keys);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::knob::Beside;
    use super::*;

    fn spec(value: serde_json::Value) -> ImpairmentSpec {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn texts_of_impairment_read_back() {
        let cases = [
            json!({}),
            json!({ "delay": "50ms" }),
            json!({ "delay": "50ms", "jitter": "1.5ms", "distribution": "urban-1",
                    "delay_correlation": "25%", "loss": "0.3%", "loss_correlation": "10%",
                    "rate": "10mbit", "burst": "32kb", "queue": "64kb", "duplicate": "1%",
                    "reorder": "25%", "gap": "5", "corrupt": "0.1%",
                    "corrupt_correlation": "33.3333%" }),
            json!({ "loss_gemodel": "0.01 0.1 0 0.7", "rate": "64kbit", "queue": "100packets" }),
        ];
        for case in cases {
            let entry = spec(case);
            let impairment = entry.impairment().unwrap();
            assert_eq!(ImpairmentSpec::of(&impairment), entry);
        }
    }

    #[test]
    fn text_over_others_replaces_and_removes() {
        let was = spec(json!({ "delay": "50ms", "jitter": "5ms", "distribution": "normal",
                                "loss": "1%", "loss_correlation": "5%", "rate": "1mbit",
                                "burst": "32kb" }));
        let over = spec(json!({ "jitter": "none", "loss_gemodel": "1% 10%", "rate": "2mbit" }));
        let want = spec(json!({ "delay": "50ms", "loss_gemodel": "1% 10%", "rate": "2mbit" }));
        assert_eq!(was.clone().with(&over), want);
        let none = spec(json!({ "delay": "none", "loss": "none", "rate": "none" }));
        assert!(was.with(&none).is_empty());
    }

    /// The spec of a knob and of those it needs, each with a text of its kind.
    fn with_needs(knob: &Knob) -> ImpairmentSpec {
        let text = match knob.value_name {
            "TIME" => "50ms",
            "NAME" => "normal",
            "PERCENT" => "1%",
            "SHARE" => "25%",
            "SHARES" => "0.01 0.1 0 0.7",
            "RATE" => "10mbit",
            "SIZE" => "32kb",
            "LIMIT" => "100packets",
            "PACKETS" => "5",
            other => panic!("{other} has no example"),
        };
        let mut spec = match knob.beside {
            Beside::Alone | Beside::Replaces(_) => ImpairmentSpec::default(),
            Beside::Joins(key) | Beside::Needs(key) | Beside::Refines(key) => {
                with_needs(KNOBS.iter().find(|other| other.key == key).unwrap())
            }
        };
        *spec.field(knob.key).unwrap() = Some(text.to_owned());
        spec
    }

    #[test]
    fn every_knob_reads_back_and_is_removed_by_none() {
        for knob in &KNOBS {
            let spec = with_needs(knob);
            let impairment = spec.impairment().unwrap();
            impairment.validate().unwrap();
            let mut back = ImpairmentSpec::of(&impairment);
            for (key, text) in spec.entries() {
                assert_eq!(back.field(key), Some(&mut Some(text)), "{}", knob.key);
            }
            assert_eq!(spec.fields(), [knob.field]);
            let mut none = ImpairmentSpec::default();
            *none.field(knob.key).unwrap() = Some(NONE.to_owned());
            let mut rest = back.with(&none);
            assert_eq!(rest.field(knob.key), Some(&mut None), "{}", knob.key);
            rest.impairment().unwrap();
        }
    }

    #[test]
    fn knob_without_the_one_it_needs_gives_error() {
        for knob in &KNOBS {
            let (Beside::Needs(other) | Beside::Refines(other)) = knob.beside else {
                continue;
            };
            let mut spec = with_needs(knob);
            let text = spec.field(knob.key).unwrap().take();
            let mut alone = ImpairmentSpec::default();
            *alone.field(knob.key).unwrap() = text;
            let error = alone.impairment().unwrap_err();
            assert_eq!(error.key, knob.key);
            assert_eq!(error.reason, format!("found without {other}, allowed beside it"));
        }
    }
}
