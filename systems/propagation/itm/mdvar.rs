//! Which kinds of variability count as one (TR 82-100 section 7; Algorithm section 5).

use serde::{Deserialize, Serialize};

use super::Invalid;

/// Combination of variability in time, over locations and between situations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VariabilityMode {
    /// All three together, at the situation quantile: a message gets through or not.
    SingleMessage,
    /// Time on its own; location with situation: an accidental (interfering) path.
    Accidental,
    /// Time with location; situation on its own: a vehicle on the move.
    Mobile,
    /// Each on its own: broadcasting to many places.
    Broadcast,
}

/// The mode of variability, with the two parts that may be left out. Serialized as NTIA's code,
/// a number such as 12.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Mdvar {
    /// Combination of the kinds of variability.
    pub mode: VariabilityMode,
    /// Leave location variability out (+10 in the code): both terminals stay exactly put, as in
    /// point-to-point work.
    pub without_location: bool,
    /// Leave direct situation variability out (+20 in the code), as for interference problems. A
    /// small residual remains.
    pub without_situation: bool,
}

impl Mdvar {
    /// NTIA's code: 0 single message, 1 accidental, 2 mobile, 3 broadcast; +10 without location
    /// variability, +20 without situation variability.
    ///
    /// # Errors
    /// [`Invalid::Mdvar`] on any other number.
    pub const fn from_code(code: u8) -> Result<Self, Invalid> {
        let mode = match code % 10 {
            0 => VariabilityMode::SingleMessage,
            1 => VariabilityMode::Accidental,
            2 => VariabilityMode::Mobile,
            3 => VariabilityMode::Broadcast,
            _ => return Err(Invalid::Mdvar(code)),
        };
        if code > 33 {
            return Err(Invalid::Mdvar(code));
        }
        Ok(Self { mode, without_location: code / 10 % 2 == 1, without_situation: code >= 20 })
    }

    /// The code [`Mdvar::from_code`] reads.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.mode as u8 + 10 * self.without_location as u8 + 20 * self.without_situation as u8
    }
}

impl TryFrom<u8> for Mdvar {
    type Error = Invalid;

    fn try_from(code: u8) -> Result<Self, Invalid> {
        Self::from_code(code)
    }
}

impl From<Mdvar> for u8 {
    fn from(mdvar: Mdvar) -> Self {
        mdvar.code()
    }
}
