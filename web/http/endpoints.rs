//! Endpoints: handlers registered with their routes, access rules and schemas.
//!
//! The OpenAPI document takes request and response bodies from the signatures of the handlers, so
//! an endpoint is described once, where it is written.

use axum::Extension;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{Response, Sse};
use schemars::JsonSchema;
use serde_json::{Value, json};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter, UtoipaMethodRouterExt};

use super::document::{About, ApiDocument, Schemas};
use super::problem::Problem;
use super::route::{QueryParameters, body_limit, described_only};
use super::show::Json;

/// Parameter of a handler, as its operation describes it.
pub trait Describe {
    /// Adds the parameter to an operation.
    fn describe(_operation: &mut Value, _schemas: &mut Schemas) {}
}

impl<T> Describe for State<T> {}
impl<T> Describe for Extension<T> {}
impl<T> Describe for Option<Extension<T>> {}
impl Describe for HeaderMap {}
impl Describe for Bytes {}

/// Reply of a handler.
pub trait Reply {
    /// Schema of a JSON body; `None` for bodies that the operation describes itself.
    fn schema(_schemas: &mut Schemas) -> Option<Value> {
        None
    }
}

impl<T: JsonSchema> Reply for Json<T> {
    fn schema(schemas: &mut Schemas) -> Option<Value> {
        Some(schemas.reference::<T>())
    }
}
impl<T: Reply> Reply for Result<T, Problem> {
    fn schema(schemas: &mut Schemas) -> Option<Value> {
        T::schema(schemas)
    }
}
impl<A: Reply, B: Reply> Reply for (A, B) {
    fn schema(schemas: &mut Schemas) -> Option<Value> {
        A::schema(schemas).or_else(|| B::schema(schemas))
    }
}
impl<A: Reply, B: Reply, C: Reply> Reply for (A, B, C) {
    fn schema(schemas: &mut Schemas) -> Option<Value> {
        <(A, B)>::schema(schemas).or_else(|| C::schema(schemas))
    }
}
impl Reply for StatusCode {}
impl Reply for Response {}
impl Reply for Vec<u8> {}
impl<S> Reply for Sse<S> {}
impl<V, const N: usize> Reply for [(HeaderName, V); N] {}

/// Handler whose signature describes its operation.
pub trait Described<Parameters> {
    /// Adds parameters and reply to an operation.
    fn describe(operation: &mut Value, schemas: &mut Schemas);
}

macro_rules! described {
    ($($part:ident)*) => {
        impl<H, Answer, Output, $($part),*> Described<($($part,)*)> for H
        where
            H: Fn($($part),*) -> Answer,
            Answer: Future<Output = Output>,
            Output: Reply,
            $($part: Describe),*
        {
            fn describe(operation: &mut Value, schemas: &mut Schemas) {
                $($part::describe(operation, schemas);)*
                if let Some(schema) = Output::schema(schemas) {
                    add_reply(operation, &schema);
                }
            }
        }
    };
}

described!();
described!(A);
described!(A B);
described!(A B C);
described!(A B C D);
described!(A B C D E);
described!(A B C D E F);
described!(A B C D E F G);
described!(A B C D E F G I);
described!(A B C D E F G I J);

/// Adds a JSON body to the successful responses that have neither a body nor status 204.
fn add_reply(operation: &mut Value, schema: &Value) {
    let responses = operation["responses"].as_object_mut();
    for (status, response) in responses.into_iter().flatten() {
        if status.starts_with('2') && status != "204" && response.get("content").is_none() {
            response["content"] = json!({ "application/json": { "schema": schema } });
        }
    }
}

/// Adds a JSON request body to an operation.
pub fn add_body(operation: &mut Value, schema: &Value, required: bool) {
    operation["requestBody"] = json!({
        "content": { "application/json": { "schema": schema } },
        "required": required,
    });
}

/// Writer of the description of an operation.
pub type Describer = fn(&mut Value, &mut Schemas);

/// Describer of a handler.
pub fn describer<H: Described<P>, P>(_: &H) -> Describer {
    H::describe
}

/// Rule of interfaces without access control.
pub fn unrestricted<H>(_: &H) {}

/// Registered operation.
#[derive(Debug, Clone)]
pub struct Operation<R> {
    /// Operation id: name of the handler.
    pub id: &'static str,
    /// HTTP method, upper case.
    pub method: String,
    /// Path template.
    pub path: String,
    /// Category: its first tag.
    pub category: String,
    /// Access rule.
    pub rule: R,
    describe: Describer,
}

/// Handlers with their routes.
pub struct Handlers<S, R>(Vec<Handler<S, R>>);

/// Handler with its route.
pub struct Handler<S, R> {
    /// Path of the function; its last segment is the operation id.
    pub name: &'static str,
    /// Method, path and function.
    pub route: UtoipaMethodRouter<S>,
    /// Access rule.
    pub rule: R,
    /// Description by signature.
    pub describe: Describer,
}

impl<S: Clone + Send + Sync + 'static, R> Handlers<S, R> {
    /// Group of handlers.
    #[must_use]
    pub fn new(handlers: Vec<Handler<S, R>>) -> Self {
        Self(handlers)
    }

    /// The handlers with another limit of the request body, bytes.
    #[must_use]
    pub fn body_limit(self, bytes: usize) -> Self {
        let limited = |handler: Handler<S, R>| Handler {
            route: handler.route.layer(body_limit(bytes)),
            ..handler
        };
        Self(self.0.into_iter().map(limited).collect())
    }
}

/// Group of handlers by path: `operations!(rule_of; nodes::list, nodes::create)`. The first argument is the
/// function that gives the access rule of a handler.
#[macro_export]
macro_rules! operations {
    ($rule_of:path; $($handler:path),+ $(,)?) => {
        $crate::endpoints::Handlers::new(vec![$(
            $crate::endpoints::Handler {
                name: stringify!($handler),
                route: utoipa_axum::routes!($handler),
                rule: $rule_of(&$handler),
                describe: $crate::endpoints::describer(&$handler),
            }
        ),+])
    };
}

/// Endpoints of an interface: routes over the state `S`, each with an access rule `R`.
pub struct Endpoints<S, R = ()> {
    router: OpenApiRouter<S>,
    operations: Vec<Operation<R>>,
    schemas: Vec<fn(&mut Schemas)>,
}

impl<S: Clone + Send + Sync + 'static, R> Default for Endpoints<S, R> {
    fn default() -> Self {
        Self { router: OpenApiRouter::new(), operations: Vec::new(), schemas: Vec::new() }
    }
}

/// Names of the query parameters in the description of an operation.
fn query_parameters(described: &Value) -> impl Iterator<Item = String> {
    let all = described["parameters"].as_array().into_iter().flatten();
    let of_query = all.filter(|parameter| parameter["in"] == "query");
    of_query.filter_map(|parameter| Some(parameter["name"].as_str()?.to_owned()))
}

impl<S: Clone + Send + Sync + 'static, R: Clone> Endpoints<S, R> {
    /// Adds handlers.
    #[must_use]
    pub fn with(mut self, handlers: Handlers<S, R>) -> Self {
        for handler in handlers.0 {
            let id = handler.name.rsplit(':').next().unwrap_or_default().trim();
            let paths = serde_json::to_value(&handler.route.1).unwrap_or_default();
            let mut parameters = Vec::new();
            for (path, item) in paths.as_object().into_iter().flatten() {
                for (method, described) in item.as_object().into_iter().flatten() {
                    parameters.extend(query_parameters(described));
                    let category = described["tags"][0].as_str().unwrap_or_default();
                    self.operations.push(Operation {
                        id,
                        method: method.to_uppercase(),
                        path: path.clone(),
                        category: category.to_owned(),
                        rule: handler.rule.clone(),
                        describe: handler.describe,
                    });
                }
            }
            // The start page reads parameters by itself, such as a place that another page hands over.
            let route = match paths.get("/") {
                Some(_) => handler.route,
                None => {
                    let parameters = QueryParameters(parameters.into());
                    handler.route.layer(from_fn_with_state(parameters, described_only))
                }
            };
            self.router = self.router.routes(route);
        }
        self
    }

    /// Adds the endpoints of another group.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.operations.extend(other.operations);
        self.schemas.extend(other.schemas);
        self
    }

    /// Adds a schema that no signature names: of a query parameter or of a body with another media
    /// type than JSON.
    #[must_use]
    pub fn schema<T: JsonSchema>(mut self) -> Self {
        self.schemas.push(Schemas::add::<T>);
        self
    }

    /// Router, document and operations of the interface.
    pub fn build(self, about: About) -> (Router<S>, ApiDocument, Vec<Operation<R>>) {
        let (router, paths) = self.router.split_for_parts();
        let mut schemas = Schemas::default();
        self.schemas.iter().for_each(|add| add(&mut schemas));
        let document = ApiDocument::new(about, &paths, schemas, |paths, schemas| {
            for operation in &self.operations {
                let method = operation.method.to_lowercase();
                (operation.describe)(&mut paths[&operation.path][&method], schemas);
            }
        });
        (router, document, self.operations)
    }
}
