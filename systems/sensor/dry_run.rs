//! Dry run of a template over recorded registers.

use std::collections::BTreeMap;

use groundwave_values::bounds::BadValue;

use super::decode::{Computed, Known};
use super::template::{Register, SensorTemplate};

/// Most entries of a recording.
pub const ENTRIES_MAX: usize = 128;

/// Recorded bytes by register, or by the name of a register or frame of the template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    by_register: BTreeMap<u8, Vec<u8>>,
    by_name: BTreeMap<String, Vec<u8>>,
}

impl Recording {
    /// Parses bytes in hexadecimal digits by register (`0x88`, `88`) or by name. Bytes of a register
    /// that are longer than it are those of the registers after it.
    ///
    /// # Errors
    /// The first invalid entry.
    pub fn parse(entries: &BTreeMap<String, String>) -> Result<Self, BadValue> {
        if entries.len() > ENTRIES_MAX {
            let found = format!("{} entries", entries.len());
            return Err(BadValue::new("registers", found, format!("0 to {ENTRIES_MAX}")));
        }
        let mut recording = Self::default();
        for (key, text) in entries {
            let bytes = hex(text).ok_or_else(|| {
                BadValue::new(
                    format!("registers.{key}"),
                    text,
                    "1 to 256 bytes in pairs of hexadecimal digits",
                )
            })?;
            // A name begins with a letter.
            let bare =
                Some(key.as_str()).filter(|key| key.starts_with(|it: char| it.is_ascii_digit()));
            let digits = key.strip_prefix("0x").or(bare);
            match digits.map(|digits| u8::from_str_radix(digits, 16)) {
                Some(Ok(register)) => recording.by_register.insert(register, bytes),
                Some(Err(_)) => {
                    return Err(BadValue::new(
                        format!("registers.{key}"),
                        key,
                        "00 to ff, 0x00 to 0xff, or a name",
                    ));
                }
                None => recording.by_name.insert(key.clone(), bytes),
            };
        }
        Ok(recording)
    }

    /// Bytes of a register: by its name, at its address, or within a block before it.
    fn register(&self, register: &Register) -> Option<&[u8]> {
        let len = usize::from(register.len);
        let long = |bytes: &'_ Vec<u8>| bytes.len() >= len;
        if let Some(named) = self.by_name.get(&register.name).filter(|bytes| long(bytes)) {
            return named.get(..len);
        }
        let mut blocks = self.by_register.range(..=register.reg).rev();
        blocks.find_map(|(first, bytes)| {
            let skipped = usize::from(register.reg - first);
            bytes.get(skipped..skipped + len)
        })
    }
}

/// Bytes of hexadecimal digits; spaces are ignored.
fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|letter| *letter != ' ')
        .map(|letter| letter.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let digits =
        digits.filter(|digits| (2..=512).contains(&digits.len()) && digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| (pair[0] << 4) | pair[1]).collect())
}

impl SensorTemplate {
    /// The metrics of recorded registers.
    ///
    /// # Errors
    /// A register or frame that the recording lacks, or a wrong checksum.
    pub fn dry_run(&self, recording: &Recording) -> Result<Computed<'_>, BadValue> {
        let mut known = Known::new();
        for register in self.calibration.iter().chain(&self.read) {
            let missing = || {
                let key = format!("registers.{:#04x}", register.reg);
                let allowed = format!("{} bytes of {:?}", register.len, register.name);
                BadValue::new(key, "nothing", allowed)
            };
            let bytes = recording.register(register).ok_or_else(missing)?;
            known.insert(register.name.clone(), register.decode(bytes));
        }
        for frame in &self.frames {
            let key = format!("registers.{}", frame.name);
            let bytes = recording.by_name.get(&frame.name);
            let bytes = bytes.and_then(|bytes| bytes.get(..usize::from(frame.len)));
            let missing = || BadValue::new(&key, "nothing", format!("{} bytes", frame.len));
            frame.decode(bytes.ok_or_else(missing)?, &mut known).map_err(|group| {
                let found = format!("a wrong checksum of group {group}");
                BadValue::new(&key, found, "valid checksums")
            })?;
        }
        Ok(self.compute(known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_hexadecimal_with_and_without_a_prefix() {
        let parse =
            |key: &str| Recording::parse(&BTreeMap::from([(key.to_owned(), "ffff".to_owned())]));
        for key in ["0", "00", "0x00"] {
            let recording = parse(key).unwrap();
            assert_eq!(recording.by_register.keys().copied().collect::<Vec<_>>(), [0], "{key}");
        }
        assert!(parse("100").is_err() && parse("0x100").is_err());
        assert!(parse("raw").unwrap().by_name.contains_key("raw"));
    }
}
