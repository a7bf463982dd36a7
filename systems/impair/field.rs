//! The fields of an impairment: one list makes the structure and the enumeration.

/// Random share of packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw {
    /// Percentage, [0, 100].
    pub pct: f64,
    /// Correlation of consecutive draws, [0, 1].
    pub correlation: Option<f64>,
}

/// Properties of a kind of impairment that side effects depend on.
pub trait Kind {
    /// Share of packets, where the kind draws for each packet.
    fn draw(&self) -> Option<Draw> {
        None
    }

    /// True if a super-packet counts as one packet.
    fn counts_packets(&self) -> bool {
        false
    }
}

/// Makes the structure with an optional field for each kind, [`ImpairmentField`] and its methods.
/// Attributes after the type are those of the structure's field alone.
///
/// [`ImpairmentField`]: super::ImpairmentField
macro_rules! impairment_fields {
    (
        $(#[$attr:meta])*
        $Impairment:ident {
            $($(#[$doc:meta])* $field:ident: $Kind:ident $(#[$field_attr:meta])*,)+
        }
    ) => {
        $(#[$attr])*
        #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema, Validate)]
        #[serde(deny_unknown_fields)]
        pub struct $Impairment {
            $(
                $(#[$doc])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[garde(dive)]
                $(#[$field_attr])*
                pub $field: Option<$Kind>,
            )+
        }

        /// Field of an impairment.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
            JsonSchema,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum ImpairmentField {
            $($(#[$doc])* $Kind,)+
        }

        impl ImpairmentField {
            /// All, in the order of an impairment.
            pub const ALL: [Self; [$(Self::$Kind),+].len()] = [$(Self::$Kind),+];

            /// Name on the wire.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Kind => stringify!($field),)+
                }
            }

            /// Copies this field from one impairment to another.
            pub fn copy(self, from: &$Impairment, to: &mut $Impairment) {
                match self {
                    $(Self::$Kind => to.$field.clone_from(&from.$field),)+
                }
            }

            /// True if two impairments have the same in this field.
            #[must_use]
            pub fn is_equal(self, one: &$Impairment, other: &$Impairment) -> bool {
                match self {
                    $(Self::$Kind => one.$field == other.$field,)+
                }
            }

            /// Value of this field in an impairment.
            #[must_use]
            pub fn value(self, impairment: &$Impairment) -> Option<&dyn Kind> {
                match self {
                    $(Self::$Kind => impairment.$field.as_ref().map(|value| value as &dyn Kind),)+
                }
            }

            /// True if an impairment has this field.
            #[must_use]
            pub fn is_in(self, impairment: &$Impairment) -> bool {
                self.value(impairment).is_some()
            }
        }
    };
}

/// Makes kinds that are a share of packets drawn at random: a percentage, own fields, a correlation.
/// `pct: packets` counts super-packets as one packet.
macro_rules! random_shares {
    (@counts) => {};
    (@counts packets) => {
        fn counts_packets(&self) -> bool {
            true
        }
    };
    ($(
        $(#[$attr:meta])*
        $Share:ident {
            $(#[$pct:meta])* pct $(: $counts:ident)?,
            $($(#[$own:meta])* $field:ident: $type:ty,)*
        }
    )+) => {
        $(
            $(#[$attr])*
            #[derive(
                Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate,
            )]
            #[serde(deny_unknown_fields)]
            pub struct $Share {
                $(#[$pct])*
                #[garde(range(min = 0.0, max = 100.0), custom(finite))]
                pub pct: f64,
                $($(#[$own])* pub $field: $type,)*
                /// Correlation of consecutive draws, [0, 1].
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[garde(range(min = 0.0, max = 1.0), custom(finite_if_some))]
                pub correlation: Option<f64>,
            }

            impl Kind for $Share {
                fn draw(&self) -> Option<Draw> {
                    Some(Draw { pct: self.pct, correlation: self.correlation })
                }

                random_shares! { @counts $($counts)? }
            }
        )+
    };
}

pub(super) use {impairment_fields, random_shares};
