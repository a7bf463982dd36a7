//! Endpoint of an external system, imported from its OpenAPI document.

use std::collections::BTreeMap;

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// HTTP method.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    /// GET.
    Get,
    /// HEAD.
    Head,
    /// OPTIONS.
    Options,
    /// POST.
    Post,
    /// PUT.
    Put,
    /// PATCH.
    Patch,
    /// DELETE.
    Delete,
}

impl HttpMethod {
    /// Name of the method.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Options => "OPTIONS",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// True for methods that change nothing: GET and HEAD.
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(self, Self::Get | Self::Head)
    }
}

/// Place of a parameter in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParameterPlace {
    /// Path.
    Path,
    /// Query.
    Query,
    /// Query, lists in one value with commas.
    QueryList,
    /// Header field.
    Header,
    /// JSON body.
    Body,
}

/// Periodic call of an endpoint whose answer becomes a metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct EndpointPoll {
    /// Time between two calls, s.
    #[garde(range(min = 5, max = 86_400))]
    pub every_s: u32,
    /// Place of a number or a truth value in the JSON answer, RFC 6901.
    #[garde(length(bytes, max = 256))]
    pub json_pointer: String,
    /// Metric: a-z 0-9 _
    #[garde(length(bytes, min = 1, max = 48))]
    #[schemars(regex(pattern = r"^[a-z0-9_]+$"))]
    pub metric: String,
    /// Unit.
    #[serde(default)]
    #[garde(inner(length(bytes, min = 1, max = 16)))]
    pub unit: Option<String>,
}

/// Endpoint of an external system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Endpoint id.
    #[garde(skip)]
    pub endpoint_id: Uuid,
    /// Method.
    #[garde(skip)]
    pub method: HttpMethod,
    /// Path template below the base URL.
    #[garde(length(bytes, min = 1, max = 1024))]
    pub path: String,
    /// Operation id.
    #[garde(inner(length(bytes, max = 256)))]
    pub operation_id: Option<String>,
    /// Summary.
    #[garde(length(bytes, max = 1024))]
    pub summary: String,
    /// JSON schema of the parameters: an object with a property each.
    #[garde(skip)]
    pub params: Value,
    /// Places of the parameters by name.
    #[garde(skip)]
    pub places: BTreeMap<String, ParameterPlace>,
    /// The endpoint may be called.
    #[garde(skip)]
    pub enabled: bool,
    /// Periodic call.
    #[garde(dive)]
    pub poll: Option<EndpointPoll>,
}
