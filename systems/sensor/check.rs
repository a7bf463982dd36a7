//! Checks of a template beyond its types and ranges: names, references, waits, frames.

use std::collections::BTreeSet;

use groundwave_values::bounds;
use groundwave_values::bounds::BadValue;

use super::expr::Expr;
use super::template::{Frame, ID_BYTES_MAX, Metric, Register, SensorTemplate, Step};

/// Longest name, except that of a template, bytes.
const NAME_BYTES_MAX: usize = 48;
/// Longest total wait of one reading, ms: it blocks the agent.
const WAIT_MS_MAX: u64 = 1_000;

/// `true` for 1 to `most` of a-z 0-9 _.
pub(super) fn is_word(text: &str, most: usize) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=most).contains(&text.len()) && text.bytes().all(fits)
}

fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let begins = text.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    begins && text.len() <= NAME_BYTES_MAX && text.bytes().all(fits)
}

impl SensorTemplate {
    /// Errors of a template, with their keys; none for a valid one.
    #[must_use]
    pub fn problems(&self) -> Vec<BadValue> {
        if let Err(bad) = bounds::check(self, "") {
            return vec![bad];
        }
        let mut check = Check::default();
        check.template(self);
        check.problems
    }
}

#[derive(Default)]
struct Check<'a> {
    problems: Vec<BadValue>,
    /// Names defined so far, for formulas.
    known: BTreeSet<&'a str>,
    /// Names of frames, which have no value.
    frames: BTreeSet<&'a str>,
}

impl<'a> Check<'a> {
    fn invalid(&mut self, key: &str, found: String, allowed: impl Into<String>) {
        self.problems.push(BadValue::new(key, found, allowed.into()));
    }

    fn template(&mut self, template: &'a SensorTemplate) {
        let id = &template.template_id;
        if !is_word(id, ID_BYTES_MAX) {
            let what = format!("{id:?} is not a template name");
            let allowed = format!("1 to {ID_BYTES_MAX} of a-z 0-9 _");
            self.invalid("template_id", what, allowed);
        }
        self.registers("calibration", &template.calibration);
        self.registers("read", &template.read);
        for (at, frame) in template.frames.iter().enumerate() {
            self.frame(&format!("frames[{at}]"), frame);
        }
        self.waits(template);
        for (at, value) in template.values.iter().enumerate() {
            self.formula(&format!("let[{at}].expr"), &value.expr);
            self.name(&format!("let[{at}].name"), &value.name);
        }
        for (at, metric) in template.metrics.iter().enumerate() {
            self.metric(&format!("metrics[{at}]"), metric);
        }
    }

    fn registers(&mut self, list: &str, registers: &'a [Register]) {
        for (at, register) in registers.iter().enumerate() {
            self.name(&format!("{list}[{at}].name"), &register.name);
        }
    }

    fn frame(&mut self, path: &str, frame: &'a Frame) {
        if !is_name(&frame.name) || !self.frames.insert(&frame.name) {
            let what = format!("{:?}", frame.name);
            self.invalid(&format!("{path}.name"), what, "a name that no other frame has");
        }
        if let Some(crc8) = frame.crc8
            && !frame.len.is_multiple_of(crc8.every + 1)
        {
            let what = format!("groups of {} and a checksum in {} bytes", crc8.every, frame.len);
            self.invalid(&format!("{path}.crc8.every"), what, "groups that fill the frame");
        }
        for (at, field) in frame.fields.iter().enumerate() {
            if field.at.saturating_add(field.len) > frame.len {
                let what = format!("byte {} of {}", field.at + field.len, frame.len);
                self.invalid(&format!("{path}.fields[{at}].at"), what, "bytes of the frame");
            }
            self.name(&format!("{path}.fields[{at}].name"), &field.name);
        }
    }

    fn waits(&mut self, template: &SensorTemplate) {
        let steps = template.init.iter().chain(&template.start).map(|step| match step {
            Step::Write(_) => 0,
            Step::DelayMs(wait_ms) => u64::from(*wait_ms),
        });
        let registers = template
            .calibration
            .iter()
            .chain(&template.read)
            .map(|register| u64::from(register.delay_ms));
        let frames = template.frames.iter().map(|frame| u64::from(frame.delay_ms));
        let all: u64 = steps.chain(registers).chain(frames).sum();
        if all > WAIT_MS_MAX {
            let allowed = format!("at most {WAIT_MS_MAX} ms");
            self.invalid("start", format!("a reading waits for {all} ms"), allowed);
        }
    }

    /// Defines a name for later formulas.
    fn name(&mut self, path: &str, name: &'a str) {
        if !is_name(name) {
            let allowed =
                format!("a letter or _, then letters, digits, _; {NAME_BYTES_MAX} at most");
            self.invalid(path, format!("{name:?} is not a name"), allowed);
        } else if !self.known.insert(name) {
            self.invalid(path, format!("{name:?} is a duplicate"), "names that differ");
        }
    }

    fn formula(&mut self, path: &str, formula: &Expr) {
        for name in formula.names() {
            if !self.known.contains(name) {
                let known: Vec<&str> = self.known.iter().copied().collect();
                let allowed = match known.is_empty() {
                    true => "no name".to_owned(),
                    false => known.join(", "),
                };
                self.invalid(path, format!("undefined name {name:?}"), allowed);
            }
        }
    }

    fn metric(&mut self, path: &str, metric: &'a Metric) {
        self.formula(&format!("{path}.expr"), &metric.expr);
        let name = metric.name.as_str();
        if !is_word(name, NAME_BYTES_MAX) {
            let what = format!("{name:?} is not a metric name");
            let allowed = format!("1 to {NAME_BYTES_MAX} of a-z 0-9 _");
            self.invalid(&format!("{path}.name"), what, allowed);
        } else if !self.known.insert(name) {
            let what = format!("{name:?} is a duplicate");
            self.invalid(&format!("{path}.name"), what, "a name that no other frame has");
        }
        if let (Some(min), Some(max)) = (metric.min, metric.max)
            && min > max
        {
            let what = format!("{min} is more than max, {max}");
            self.invalid(&format!("{path}.min"), what, "at most max");
        }
    }
}
