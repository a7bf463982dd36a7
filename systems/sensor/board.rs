//! Boards: their headers and pins, and the GPIO line of a pin.

use std::collections::BTreeSet;

use garde::Validate;
use groundwave_values::Kind;
use groundwave_values::bounds;
use groundwave_values::bounds::BadValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::is_word;

/// Longest name of a board, bytes.
const ID_BYTES_MAX: usize = 64;

/// A board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[cfg_attr(feature = "bevy", derive(bevy_ecs::component::Component))]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// Name in paths: a-z 0-9 _.
    #[garde(length(min = 1, max = 64))]
    #[schemars(regex(pattern = "^[a-z0-9_]{1,64}$"))]
    pub board_id: String,
    /// Name for people.
    #[garde(length(chars, min = 1, max = 128))]
    pub name: String,
    /// Machines that are such a board; a board without any is chosen by its name only.
    #[serde(default, rename = "match")]
    #[garde(dive)]
    pub matches: BoardMatch,
    /// Headers.
    #[serde(default)]
    #[garde(length(max = 16), dive)]
    pub headers: Vec<Header>,
    /// Pins of the headers.
    #[serde(default)]
    #[garde(length(max = 256), dive)]
    pub pins: Vec<Pin>,
}

impl Kind for Board {
    const NAME: &'static str = "board";
}

/// Machines that are a board.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct BoardMatch {
    /// Compatible strings of the device tree; one of them is enough.
    #[serde(default)]
    #[garde(length(max = 16), inner(length(min = 1, max = 128)))]
    pub compatible: Vec<String>,
    /// Beginnings of the model, for machines whose compatible strings match no board.
    #[serde(default)]
    #[garde(length(max = 16), inner(length(min = 1, max = 128)))]
    pub model_prefix: Vec<String>,
}

/// A header of a board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BoardHeader")]
pub struct Header {
    /// Name on the board, such as `J8`.
    #[garde(length(chars, min = 1, max = 32))]
    pub name: String,
    /// Number of pins, [1, 256].
    #[garde(range(min = 1, max = 256))]
    pub pins: u16,
}

/// Function of a pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PinFunction {
    /// Supply.
    Power,
    /// Ground.
    Ground,
    /// GPIO line.
    Gpio,
    /// I2C bus.
    I2c,
    /// SPI bus.
    Spi,
    /// Serial port.
    Uart,
    /// PWM output.
    Pwm,
}

/// A pin of a header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BoardPin")]
pub struct Pin {
    /// Header.
    #[garde(length(chars, min = 1, max = 32))]
    pub header: String,
    /// Number on the header, from 1.
    #[garde(range(min = 1, max = 256))]
    pub pin: u16,
    /// Function.
    #[garde(skip)]
    pub function: PinFunction,
    /// Label of the GPIO chip, for pins with a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(min = 1, max = 64))]
    pub chip: Option<String>,
    /// Line of the chip, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(max = 65_535))]
    pub offset: Option<u32>,
    /// Name of the signal.
    #[serde(default)]
    #[garde(length(chars, max = 64))]
    pub name: String,
}

impl Board {
    /// Errors of a definition, with their keys; none for a valid one.
    #[must_use]
    pub fn problems(&self) -> Vec<BadValue> {
        if let Err(bad) = bounds::check(self, "") {
            return vec![bad];
        }
        let mut problems = Vec::new();
        let mut invalid = |key: String, found: String, allowed: &str| {
            problems.push(BadValue::new(key, found, allowed));
        };
        if !is_word(&self.board_id, ID_BYTES_MAX) {
            invalid("board_id".to_owned(), format!("{:?}", self.board_id), "1 to 64 of a-z 0-9 _");
        }
        let mut headers = BTreeSet::new();
        for (at, header) in self.headers.iter().enumerate() {
            if !headers.insert(header.name.as_str()) {
                invalid(
                    format!("headers[{at}].name"),
                    format!("{:?}", header.name),
                    "names that differ",
                );
            }
        }
        let (mut pins, mut lines) = (BTreeSet::new(), BTreeSet::new());
        for (at, pin) in self.pins.iter().enumerate() {
            let header = self.headers.iter().find(|header| header.name == pin.header);
            match header {
                None => invalid(
                    format!("pins[{at}].header"),
                    format!("{:?}", pin.header),
                    "a header of the board",
                ),
                Some(header) if pin.pin > header.pins => {
                    invalid(format!("pins[{at}].pin"), pin.pin.to_string(), "a pin of the header");
                }
                Some(_) if !pins.insert((pin.header.as_str(), pin.pin)) => {
                    invalid(format!("pins[{at}].pin"), pin.pin.to_string(), "each pin once");
                }
                Some(_) => {}
            }
            match (&pin.chip, pin.offset) {
                (Some(chip), Some(offset)) => {
                    if !lines.insert((chip.as_str(), offset)) {
                        invalid(format!("pins[{at}].offset"), offset.to_string(), "each line once");
                    }
                }
                (None, None) => {}
                _ => invalid(
                    format!("pins[{at}].offset"),
                    "a chip or an offset alone".to_owned(),
                    "both or none",
                ),
            }
        }
        problems
    }

    /// Pin of a GPIO line.
    #[must_use]
    pub fn pin_of(&self, label: &str, offset: u32) -> Option<&Pin> {
        let is = |pin: &&Pin| pin.chip.as_deref() == Some(label) && pin.offset == Some(offset);
        self.pins.iter().find(is)
    }
}

/// The board of a machine: the most specific compatible string that a board has decides, then the
/// longest beginning of the model.
pub fn board_of<'b>(
    boards: impl IntoIterator<Item = &'b Board> + Clone,
    compatible: &[String],
    model: Option<&str>,
) -> Option<&'b Board> {
    let by_tree = compatible.iter().find_map(|found| {
        let mut boards = boards.clone().into_iter();
        boards.find(|board| board.matches.compatible.contains(found))
    });
    let model = model.unwrap_or_default();
    let beginning = |board: &&'b Board| {
        let prefixes =
            board.matches.model_prefix.iter().filter(|prefix| model.starts_with(prefix.as_str()));
        prefixes.map(String::len).max()
    };
    by_tree.or_else(|| {
        let boards = boards.into_iter().filter(|board| beginning(board).is_some());
        boards.max_by_key(|board| beginning(board))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(id: &str, compatible: &[&str], model_prefix: &[&str]) -> Board {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Board {
            board_id: id.to_owned(),
            name: id.to_owned(),
            matches: BoardMatch {
                compatible: owned(compatible),
                model_prefix: owned(model_prefix),
            },
            headers: vec![Header { name: "J8".to_owned(), pins: 2 }],
            pins: Vec::new(),
        }
    }

    fn pin(header: &str, pin: u16, line: Option<(&str, u32)>) -> Pin {
        Pin {
            header: header.to_owned(),
            pin,
            function: PinFunction::Gpio,
            chip: line.map(|(chip, _)| chip.to_owned()),
            offset: line.map(|(_, offset)| offset),
            name: String::new(),
        }
    }

    #[test]
    fn the_most_specific_compatible_string_decides() {
        let boards = [
            board("chip", &["brcm,bcm2837"], &[]),
            board("three", &["raspberrypi,3-model-b"], &["Raspberry Pi"]),
            board("four", &[], &["Raspberry Pi 4"]),
        ];
        let tree: Vec<String> = ["raspberrypi,3-model-b", "brcm,bcm2837"].map(str::to_owned).into();
        let found = |compatible: &[String], model| {
            board_of(&boards, compatible, model).map(|board| board.board_id.as_str())
        };
        assert_eq!(found(&tree, None), Some("three"));
        assert_eq!(found(&tree[1..], None), Some("chip"));
        assert_eq!(found(&[], Some("Raspberry Pi 4 Model B Rev 1.5")), Some("four"));
        assert_eq!(found(&[], Some("Raspberry Pi 2")), Some("three"));
        assert_eq!(found(&[], Some("PC")), None);
    }

    #[test]
    fn pins_belong_to_headers_and_lines_to_one_pin() {
        let mut one = board("one", &[], &[]);
        one.pins = vec![pin("J8", 1, Some(("chip", 4))), pin("J8", 2, None)];
        assert_eq!(one.problems(), []);
        assert_eq!(one.pin_of("chip", 4).unwrap().pin, 1);
        for (wrong, key) in [
            (pin("J9", 1, None), "pins[2].header"),
            (pin("J8", 3, None), "pins[2].pin"),
            (pin("J8", 2, None), "pins[2].pin"),
        ] {
            let mut other = one.clone();
            other.pins.push(wrong);
            assert_eq!(other.problems()[0].key, key);
        }
        let mut other = one.clone();
        other.pins[1] = pin("J8", 2, Some(("chip", 4)));
        assert_eq!(other.problems()[0].key, "pins[1].offset");
        other.board_id = "One".to_owned();
        assert_eq!(other.problems()[0].key, "board_id");
    }
}
