//! Partial values: structures in which every field of another type is optional, read over a base.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// Properties of a field's schema that its optional twin shares.
const SHARED: [&str; 5] =
    ["description", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];

/// Copies description, range and names of values of each field of `T` to the field of that name in
/// `schema`, which may be null as well.
pub fn describe_as<T: JsonSchema>(schema: &mut Schema) {
    let of = SchemaGenerator::default().into_root_schema_for::<T>();
    let of = of.get("properties").and_then(Value::as_object);
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    let (Some(of), Some(fields)) = (of, fields) else {
        return;
    };
    for (name, field) in fields {
        if let (Some(Value::Object(from)), Value::Object(field)) = (of.get(name), field) {
            copy(from, field);
        }
    }
}

fn copy(from: &Map<String, Value>, field: &mut Map<String, Value>) {
    for key in SHARED {
        if let Some(value) = from.get(key) {
            field.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(Value::Array(names)) = from.get("enum") {
        let mut names = names.clone();
        names.push(Value::Null);
        field.insert("enum".to_owned(), Value::Array(names));
    }
}

/// A structure with `own` fields and an optional twin of each field of another type, whose
/// descriptions and ranges the schema takes over. A field with `= value` is that value where
/// neither the patch nor a base has one. Fields named behind `own` are those of the
/// base and have no twin.
///
/// The structure must derive `JsonSchema` and one of serde's traits.
#[macro_export]
macro_rules! patch_of {
    (@absent $field:ident) => { return Err(stringify!($field)) };
    (@absent $field:ident $default:expr) => { $default };
    (
        $(#[$attr:meta])*
        $vis:vis struct $name:ident of $target:ident {
            own $([$($kept:ident),+])? { $($own:tt)* }
            $($(#[$field_attr:meta])* $field:ident: $type:ty $(= $default:expr)?),+ $(,)?
        }
    ) => {
        $(#[$attr])*
        #[schemars(transform = $crate::patch::describe_as::<$target>)]
        $vis struct $name {
            $($own)*
            $(
                #[doc = concat!("[`", stringify!($target), "::", stringify!($field), "`].")]
                #[serde(default, skip_serializing_if = "Option::is_none")]
                $(#[$field_attr])*
                pub $field: Option<$type>,
            )+
        }

        impl $name {
            /// These values over `base`.
            ///
            /// # Errors
            /// The first field that neither has.
            pub fn over(&self, base: Option<&$target>) -> Result<$target, &'static str> {
                Ok($target {
                    $($field: match (&self.$field, base) {
                        (Some(own), _) => own.clone(),
                        (None, Some(base)) => base.$field.clone(),
                        (None, None) => $crate::patch_of!(@absent $field $($default)?),
                    },)+
                    $($($kept: base.map(|base| base.$kept.clone()).unwrap_or_default(),)+)?
                })
            }

            /// These values with all those of `whole`.
            #[must_use]
            pub fn with(mut self, whole: &$target) -> Self {
                $(self.$field = Some(whole.$field.clone());)+
                self
            }
        }
    };
}

/// A [`patch_of`] a radio; `Radio`, `Waveform` and the derives' traits must be in scope.
#[macro_export]
macro_rules! radio_patch {
    ($(#[$attr:meta])* $vis:vis struct $name:ident { $($own:tt)* }) => {
        $crate::patch_of! {
            $(#[$attr])*
            $vis struct $name of Radio {
                own { $($own)* }
                frequency_mhz: f64,
                bandwidth_hz: f64,
                tx_power_dbm: f64,
                noise_figure_db: f64,
                feeder_loss_db: f64 = 0.0,
                waveform: Waveform,
            }
        }
    };
}

/// A [`patch_of`] an antenna but for its pattern; `Antenna`, `Polarization` and the derives' traits must be in scope.
#[macro_export]
macro_rules! antenna_patch {
    ($(#[$attr:meta])* $vis:vis struct $name:ident { $($own:tt)* }) => {
        $crate::patch_of! {
            $(#[$attr])*
            $vis struct $name of Antenna {
                own [pattern] { $($own)* }
                gain_dbi: f64,
                azimuth_beamwidth_deg: f64,
                elevation_beamwidth_deg: f64,
                front_to_back_db: f64,
                #[schemars(with = "Option<String>")]
                polarization: Polarization,
                electrical_tilt_deg: f64 = 0.0,
            }
        }
    };
}
