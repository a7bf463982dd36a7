//! Kinds of steps: one table of role, name, title and parameters.

use garde::Validate;
use groundwave_values::bounds;
use groundwave_values::bounds::BadValue;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::actions::{Alert, Command, SetVariable};
use super::conditions::{Cooldown, Response, Threshold, TimeWindow};
use super::definition::StepRole;
use super::each::{EachAction, ForEachNode};
use super::outside::{ApplyImpairment, Email, ExternalCall, MqttPublish, RunPlan, WebhookOut};
use super::triggers::{LinkEvent, Manual, NodeEvent, Schedule, SensorValue, WebhookIn};

/// A kind of step for flow builders.
#[derive(Debug, Clone, Serialize)]
pub struct KindInfo {
    /// Role.
    pub role: StepRole,
    /// Name.
    pub kind: &'static str,
    /// Title.
    pub title: &'static str,
    /// JSON schema of the parameters.
    pub params: Value,
}

fn schema<T: JsonSchema>() -> Value {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    schema.as_value().clone()
}

fn parse<T>(params: &Map<String, Value>) -> Result<T, BadValue>
where
    T: DeserializeOwned + Serialize + JsonSchema + Validate<Context = ()>,
{
    let read: Result<T, _> = serde_path_to_error::deserialize(Value::Object(params.clone()));
    let read = read.map_err(|err| {
        let path = match err.path().to_string() {
            path if path == "." => String::new(),
            path => path,
        };
        BadValue::new(path, err.inner(), "the schema of the kind")
    })?;
    bounds::check(&read, "")?;
    Ok(read)
}

impl EachAction {
    /// The step that performs the action once.
    ///
    /// # Errors
    /// The first parameter that does not fit.
    pub fn parse(&self) -> Result<StepKind, BadValue> {
        let parsed = StepKind::parse(self.kind.word(), &self.params);
        parsed.unwrap_or_else(|| Err(BadValue::new("kind", self.kind.word(), "a known action")))
    }
}

macro_rules! kinds {
    ($($role:ident $kind:literal $title:literal $params:ident,)+) => {
        /// A step's kind with its parameters.
        #[derive(Debug, Clone, PartialEq)]
        pub enum StepKind {
            $(#[doc = $title] $params($params),)+
        }

        impl StepKind {
            /// Reads the parameters of the kind with this name; `None` for an unknown kind.
            ///
            /// # Errors
            /// The first parameter that does not fit.
            pub fn parse(
                kind: &str,
                params: &Map<String, Value>,
            ) -> Option<Result<Self, BadValue>> {
                match kind {
                    $($kind => Some(parse::<$params>(params).map(Self::$params)),)+
                    _ => None,
                }
            }

            /// Role.
            #[must_use]
            pub const fn role(&self) -> StepRole {
                match self {
                    $(Self::$params(_) => StepRole::$role,)+
                }
            }

            /// Name.
            #[must_use]
            pub const fn word(&self) -> &'static str {
                match self {
                    $(Self::$params(_) => $kind,)+
                }
            }
        }

        /// Kinds of steps, by role and name.
        #[must_use]
        pub fn catalogue() -> Vec<KindInfo> {
            vec![$(KindInfo {
                role: StepRole::$role,
                kind: $kind,
                title: $title,
                params: schema::<$params>(),
            },)+]
        }
    };
}

kinds! {
    Trigger "sensor_value" "Reading of a node" SensorValue,
    Trigger "node_event" "Event of a node" NodeEvent,
    Trigger "link_event" "Change of a link" LinkEvent,
    Trigger "schedule" "Schedule" Schedule,
    Trigger "webhook_in" "Request of another system" WebhookIn,
    Trigger "manual" "Request of a user" Manual,
    Condition "threshold" "Threshold" Threshold,
    Condition "cooldown" "Cooldown" Cooldown,
    Condition "time_window" "Time of day" TimeWindow,
    Condition "response" "Value of the context" Response,
    Action "alert" "Alert" Alert,
    Action "webhook_out" "HTTP request" WebhookOut,
    Action "email" "E-mail" Email,
    Action "mqtt_publish" "MQTT message" MqttPublish,
    Action "external_call" "Call of an external system" ExternalCall,
    Action "command" "Node command" Command,
    Action "for_each_node" "Action for each node" ForEachNode,
    Action "set_variable" "Set a variable" SetVariable,
    Action "apply_impairment" "Impair a link" ApplyImpairment,
    Action "run_plan" "Radio planning" RunPlan,
}
