//! Knobs: the texts that an impairment is made of, each declared once in a table.

use groundwave_impair::{Impairment, ImpairmentField};

/// An invalid text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid {key}: {reason}")]
pub struct ParseError {
    /// Key of the knob.
    pub key: &'static str,
    /// Value found and values allowed.
    pub reason: String,
}

/// Relation of a knob to another one of its field, by key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// Usable without others.
    Alone,
    /// Usable without that one, and removed with it.
    Joins(&'static str),
    /// Only beside that one, and removed with it.
    Needs(&'static str),
    /// Only beside that one, and removed with it or by a new value of it.
    Refines(&'static str),
    /// Only in place of that one: a text of one removes the other.
    Replaces(&'static str),
}

/// One text of an impairment.
#[derive(Debug)]
pub struct Knob {
    /// Key in timelines and presets; with hyphens, the option of the command line.
    pub key: &'static str,
    /// Field of the impairment that it is about.
    pub field: ImpairmentField,
    /// Name of its values in usages, for example `TIME`.
    pub value_name: &'static str,
    /// One line of help, with an example.
    pub help: &'static str,
    /// Other knob that it depends on.
    pub beside: Beside,
    /// Sets the value of a text; `Ok(None)` where the knob it depends on forbids it.
    pub(super) set: fn(&mut Impairment, &str) -> Result<Option<()>, String>,
    /// Text of the value that an impairment has.
    pub(super) get: fn(&Impairment) -> Option<String>,
}

impl Knob {
    /// Sets the value of `text`.
    ///
    /// # Errors
    /// For an invalid text, without the knob it needs, and beside the one it replaces.
    pub fn set(&self, impairment: &mut Impairment, text: &str) -> Result<(), ParseError> {
        let outcome = (self.set)(impairment, text).and_then(|place| match (place, self.beside) {
            (Some(()), _) | (None, Beside::Alone) => Ok(()),
            (None, Beside::Replaces(other)) => {
                let field = self.field.name();
                Err(format!("found beside {other}, allowed one model of {field}"))
            }
            (None, Beside::Joins(other) | Beside::Needs(other) | Beside::Refines(other)) => {
                Err(format!("found without {other}, allowed beside it"))
            }
        });
        outcome.map_err(|reason| ParseError { key: self.key, reason })
    }

    /// True if a text of this knob removes the value of `other`; `none` is the text that removes the
    /// value of this one.
    #[must_use]
    pub fn removes(&self, other: &Self, none: bool) -> bool {
        match other.beside {
            Beside::Alone => self.beside == Beside::Replaces(other.key),
            Beside::Joins(key) | Beside::Needs(key) => none && key == self.key,
            Beside::Refines(key) | Beside::Replaces(key) => key == self.key,
        }
    }
}

/// Makes a structure with an optional text for each knob, and the table `KNOBS` of their descriptors.
///
/// A row is `key: KIND of Field, relation, "help"`, then a function that sets the value of its kind in
/// an impairment, `None` where the relation forbids it, and one that gets it.
macro_rules! impairment_knobs {
    (
        $(#[$attr:meta])*
        $Spec:ident {
            $(
                $key:ident: $KIND:ident of $Field:ident, $beside:expr, $help:literal =>
                    $set:expr, $get:expr;
            )+
        }
    ) => {
        $(#[$attr])*
        #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $Spec {
            $(
                #[doc = concat!("Text of the knob `", stringify!($key), "`.")]
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $key: Option<String>,
            )+
        }

        /// Every knob, in the order of an impairment; of a field, those first that others need.
        pub static KNOBS: [Knob; [$(stringify!($key)),+].len()] = [
            $(Knob {
                key: stringify!($key),
                field: ImpairmentField::$Field,
                value_name: $KIND.name,
                help: $help,
                beside: $beside,
                set: |impairment, text| $KIND.set(text, impairment, $set),
                get: |impairment| $KIND.get(impairment, $get),
            },)+
        ];

        impl $Spec {
            /// Keys of the knobs: the columns of a timeline.
            pub const KEYS: [&'static str; [$(stringify!($key)),+].len()] =
                [$(stringify!($key)),+];

            /// Text of each knob, in the order of [`KNOBS`].
            #[must_use]
            pub fn texts(&self) -> [&Option<String>; Self::KEYS.len()] {
                [$(&self.$key),+]
            }

            /// Text of each knob, to be set.
            pub fn texts_mut(&mut self) -> [&mut Option<String>; Self::KEYS.len()] {
                [$(&mut self.$key),+]
            }
        }
    };
}

pub(super) use impairment_knobs;
