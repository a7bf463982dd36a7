//! Checks of a template beyond its types: names, counts, order.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::expr::Expr;
use super::template::{ADDRESSES, ID_BYTES_MAX, Metric, Register, SensorTemplate, Step};
use crate::toml_document::TomlDocument;
use crate::toml_document::suggest;

/// Longest name, except that of a template, bytes.
const NAME_BYTES_MAX: usize = 48;
/// Most entries of a list.
const ENTRIES_MAX: usize = 32;
/// Most metrics of one template.
const METRICS_MAX: usize = 16;
/// Longest total wait of one reading, ms: it blocks the agent.
const WAIT_MS_MAX: u64 = 1_000;

/// Reports the errors of a template to its document.
pub(super) struct Check<'a, 's> {
    document: &'a mut TomlDocument<'s>,
    /// Names defined so far, for formulas.
    known: BTreeSet<String>,
}

fn is_word(text: &str, most: usize) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=most).contains(&text.len()) && text.bytes().all(fits)
}

fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let begins = text
        .bytes()
        .next()
        .is_some_and(|byte| !byte.is_ascii_digit());
    begins && text.len() <= NAME_BYTES_MAX && text.bytes().all(fits)
}

impl<'a, 's> Check<'a, 's> {
    pub(super) fn new(document: &'a mut TomlDocument<'s>) -> Self {
        Self {
            document,
            known: BTreeSet::new(),
        }
    }

    pub(super) fn template(mut self, template: &SensorTemplate) {
        let id = &template.template_id;
        if !is_word(id, ID_BYTES_MAX) {
            let what = format!("{id:?} is not a template name");
            let allowed = format!("1 to {ID_BYTES_MAX} of a-z 0-9 _");
            self.document.invalid("template_id", what, allowed);
        }
        self.many("addresses", template.addresses.len(), 1..=16);
        for (at, address) in template.addresses.iter().enumerate() {
            if !ADDRESSES.contains(address) {
                let what = format!("{address:#04x} is not a sensor address");
                let path = format!("addresses[{at}]");
                self.document.invalid(&path, what, "0x08 to 0x77");
            }
        }
        if let Some(identify) = &template.identify {
            self.bytes("identify.len", identify.len.into(), 1..=2);
        }
        self.steps("init", &template.init);
        self.steps("start", &template.start);
        self.registers("calibration", &template.calibration);
        self.registers("read", &template.read);
        self.waits(template);
        self.many("let", template.values.len(), 0..=ENTRIES_MAX);
        for (at, value) in template.values.iter().enumerate() {
            self.formula(&format!("let[{at}].expr"), &value.expr);
            self.name(&format!("let[{at}].name"), &value.name);
        }
        self.many("metrics", template.metrics.len(), 1..=METRICS_MAX);
        for (at, metric) in template.metrics.iter().enumerate() {
            self.metric(&format!("metrics[{at}]"), metric);
        }
    }

    fn many(&mut self, path: &str, found: usize, allowed: RangeInclusive<usize>) {
        self.count(path, (found, "entries"), allowed);
    }

    fn bytes(&mut self, path: &str, found: usize, allowed: RangeInclusive<usize>) {
        self.count(path, (found, "bytes"), allowed);
    }

    fn count(&mut self, path: &str, (found, of): (usize, &str), allowed: RangeInclusive<usize>) {
        if !allowed.contains(&found) {
            let allowed = format!("{} to {}", allowed.start(), allowed.end());
            self.document
                .invalid(path, format!("{found} {of}"), allowed);
        }
    }

    fn steps(&mut self, list: &str, steps: &[Step]) {
        self.many(list, steps.len(), 0..=ENTRIES_MAX);
        for (at, step) in steps.iter().enumerate() {
            if let Step::Write(write) = step {
                let path = format!("{list}[{at}].write.bytes");
                self.bytes(&path, write.bytes.len(), 1..=32);
            }
        }
    }

    fn registers(&mut self, list: &str, registers: &[Register]) {
        self.many(list, registers.len(), 0..=ENTRIES_MAX);
        for (at, register) in registers.iter().enumerate() {
            self.bytes(&format!("{list}[{at}].len"), register.len.into(), 1..=4);
            self.name(&format!("{list}[{at}].name"), &register.name);
        }
    }

    fn waits(&mut self, template: &SensorTemplate) {
        let steps = template.init.iter().chain(&template.start);
        let steps = steps.map(|step| match step {
            Step::Write(_) => 0,
            Step::DelayMs(wait_ms) => u64::from(*wait_ms),
        });
        let registers = template.calibration.iter().chain(&template.read);
        let registers = registers.map(|register| u64::from(register.delay_ms));
        let all: u64 = steps.chain(registers).sum();
        if all > WAIT_MS_MAX {
            let allowed = format!("at most {WAIT_MS_MAX} ms");
            self.document
                .invalid("start", format!("a reading waits for {all} ms"), allowed);
        }
    }

    /// Defines a name for later formulas.
    fn name(&mut self, path: &str, name: &str) {
        if !is_name(name) {
            let allowed =
                format!("a letter or _, then letters, digits, _; {NAME_BYTES_MAX} at most");
            self.document
                .invalid(path, format!("{name:?} is not a name"), allowed);
        } else if !self.known.insert(name.to_owned()) {
            let what = format!("{name:?} is a duplicate");
            self.document.invalid(path, what, "names that differ");
        }
    }

    fn formula(&mut self, path: &str, formula: &Expr) {
        for name in formula.names() {
            if !self.known.contains(name) {
                let allowed = suggest::one_of(name, self.known.iter().map(String::as_str));
                let what = format!("undefined name {name:?}");
                self.document.invalid(path, what, allowed);
            }
        }
    }

    fn metric(&mut self, path: &str, metric: &Metric) {
        self.formula(&format!("{path}.expr"), &metric.expr);
        let name = &metric.name;
        if !is_word(name, NAME_BYTES_MAX) {
            let what = format!("{name:?} is not a metric name");
            let allowed = format!("1 to {NAME_BYTES_MAX} of a-z 0-9 _");
            self.document
                .invalid(&format!("{path}.name"), what, allowed);
        } else if !self.known.insert(name.clone()) {
            let what = format!("{name:?} is a duplicate");
            self.document
                .invalid(&format!("{path}.name"), what, "names that differ");
        }
        if let (Some(min), Some(max)) = (metric.min, metric.max)
            && min > max
        {
            let what = format!("{min} is more than max, {max}");
            self.document
                .invalid(&format!("{path}.min"), what, "at most max");
        }
    }
}
