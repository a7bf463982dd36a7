//! Requests of deliveries, with their values filled in.

use std::collections::BTreeMap;

use groundwave_impair::Direction;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::automation::language::{
    Analysis, HttpMethod, SECRET_SHOWN, hide_secrets, is_secret_header, shown_url,
};

/// Request of a delivery, with its values filled in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DeliveryRequest {
    /// HTTP request.
    Webhook {
        /// URL.
        url: String,
        /// Method.
        method: HttpMethod,
        /// Headers.
        headers: BTreeMap<String, String>,
        /// Sealed value of the header `Authorization`.
        authorization: Option<String>,
        /// Sealed key of the signature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signing_key: Option<String>,
        /// JSON body.
        body: Value,
        /// Time for an attempt, s.
        timeout_s: u32,
    },
    /// E-mail.
    Email {
        /// Recipients.
        to: Vec<String>,
        /// Subject.
        subject: String,
        /// Text.
        body: String,
    },
    /// MQTT message.
    Mqtt {
        /// Topic.
        topic: String,
        /// Payload.
        payload: String,
        /// The broker keeps it.
        retain: bool,
    },
    /// Call of an imported endpoint.
    External {
        /// External system.
        system_id: Uuid,
        /// Endpoint.
        endpoint_id: Uuid,
        /// Parameters.
        params: Map<String, Value>,
    },
    /// Impairment of one direction; cleared without one.
    Impairment {
        /// Direction.
        direction: Direction,
        /// Impairment by the daemon's API.
        impairment: Option<Map<String, Value>>,
        /// Time until the end of its lease, s; without one it stays.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        for_s: Option<u32>,
    },
    /// Analysis of the planning server.
    Plan {
        /// Analysis.
        analysis: Analysis,
        /// Request.
        request: Map<String, Value>,
    },
}

impl DeliveryRequest {
    /// Kind of action that asks for it.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Webhook { .. } => "webhook_out",
            Self::Email { .. } => "email",
            Self::Mqtt { .. } => "mqtt_publish",
            Self::External { .. } => "external_call",
            Self::Impairment { .. } => "apply_impairment",
            Self::Plan { .. } => "run_plan",
        }
    }

    /// The request without secrets, for display.
    #[must_use]
    pub fn shown(&self) -> Value {
        let mut display = serde_json::to_value(self).unwrap_or_default();
        if let Self::Webhook { url, headers, authorization, signing_key, .. } = self {
            display["url"] = shown_url(url).into();
            for name in headers.keys().filter(|name| is_secret_header(name)) {
                display["headers"][name] = SECRET_SHOWN.into();
            }
            if authorization.is_some() {
                display["authorization"] = SECRET_SHOWN.into();
            }
            if signing_key.is_some() {
                display["signing_key"] = SECRET_SHOWN.into();
            }
            hide_secrets(&mut display["body"]);
        } else {
            hide_secrets(&mut display);
        }
        display
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_of_a_webhook_are_not_shown() {
        let request: DeliveryRequest = serde_json::from_value(json!({
            "kind": "webhook", "url": "https://hooks.test/T0/token?key=1", "method": "POST",
            "headers": {"X-Api-Key": "hush", "Content-Type": "text/plain"},
            "authorization": "sealed:x", "signing_key": "sealed:y",
            "body": {"a": 1, "token": "sealed:z"}, "timeout_s": 5,
        }))
        .unwrap();
        let masked = request.shown();
        assert_eq!(masked["url"], "https://hooks.test/(set)");
        assert_eq!(masked["headers"], json!({"X-Api-Key": "(set)", "Content-Type": "text/plain"}));
        assert_eq!(
            (&masked["authorization"], &masked["body"]),
            (&json!("(set)"), &json!({"a": 1, "token": "(set)"}))
        );
        assert_eq!(masked["signing_key"], "(set)");
        let sealed = format!("sealed:{};", "A".repeat(40));
        let request: DeliveryRequest = serde_json::from_value(json!({
            "kind": "mqtt", "topic": "a/b", "retain": false,
            "payload": format!(r#"{{"token":"{sealed}"}}"#),
        }))
        .unwrap();
        assert_eq!(request.shown()["payload"], r#"{"token":"(set)"}"#);
    }
}
