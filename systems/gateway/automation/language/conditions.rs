//! Parameters of conditions.

use garde::Validate;
use groundwave_values::bounds::finite;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::triggers::utc;

/// Comparison of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
}

/// Threshold of a value. After a sensor trigger it starts an execution when the value crosses it;
/// elsewhere it compares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// Comparison.
    #[garde(skip)]
    pub op: Comparison,
    /// Limit, in the unit of the value.
    #[garde(custom(finite))]
    pub value: f64,
    /// Distance back over the limit at which the condition ends, in the unit of the value; default 0.
    #[serde(default)]
    #[garde(range(min = 0.0), custom(finite))]
    pub hysteresis: f64,
    /// Time for which the value must be over the limit, s, up to a day; default 0.
    #[serde(default)]
    #[garde(range(max = 86_400))]
    pub for_s: u32,
    /// JSON pointer of the value in the context; default `/trigger/value`.
    #[serde(default = "trigger_value")]
    #[garde(length(chars, max = 200))]
    pub pointer: String,
}

fn trigger_value() -> String {
    "/trigger/value".to_owned()
}

/// Subject of a cooldown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CooldownScope {
    /// All executions of the flow.
    #[default]
    Flow,
    /// Executions about the same node.
    Node,
}

/// Time between two passes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Cooldown {
    /// Time after a pass in which the condition is false, s, up to 30 days.
    #[garde(range(min = 1, max = 2_592_000))]
    pub for_s: u32,
    /// Subject; default `flow`.
    #[serde(default)]
    #[garde(skip)]
    pub per: CooldownScope,
}

/// Day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weekday {
    /// Monday.
    Mon,
    /// Tuesday.
    Tue,
    /// Wednesday.
    Wed,
    /// Thursday.
    Thu,
    /// Friday.
    Fri,
    /// Saturday.
    Sat,
    /// Sunday.
    Sun,
}

/// Time of day. A window that ends before it begins lasts over midnight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct TimeWindow {
    /// Begin, `HH:MM`.
    #[garde(length(chars, min = 5, max = 5))]
    pub from: String,
    /// End, `HH:MM`, not included.
    #[garde(length(chars, min = 5, max = 5))]
    pub to: String,
    /// IANA time zone; default `UTC`.
    #[serde(default = "utc")]
    #[garde(length(chars, min = 1, max = 64))]
    pub tz: String,
    /// Days on which the window begins; default all.
    #[serde(default)]
    #[garde(length(max = 7))]
    pub days: Vec<Weekday>,
}

/// Comparison of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseOperator {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Greater; numbers.
    Gt,
    /// Greater or equal; numbers.
    Ge,
    /// Less; numbers.
    Lt,
    /// Less or equal; numbers.
    Le,
    /// Text with the part, or list with the item.
    Contains,
    /// Present.
    Exists,
}

/// Value in the context, such as the answer of an earlier step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// JSON pointer into the context, `/steps/ask/body/state`.
    #[garde(length(chars, min = 1, max = 200))]
    pub pointer: String,
    /// Comparison.
    #[garde(skip)]
    pub op: ResponseOperator,
    /// Value to compare with; not for `exists`.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[garde(skip)]
    pub value: Value,
}
