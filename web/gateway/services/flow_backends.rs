//! Work of flows outside the world: the servers it needs, and attempts of deliveries.

use std::borrow::Cow;
use std::time::Duration;

use groundwave_engine::Id;
use groundwave_files::wall::wall_ns;
use groundwave_gateway::account::AccountRole;
use groundwave_gateway::automation::{
    AttemptOutcome, AutomationFlow, Deliver, DeliveryRequest, ExternalCall, FlowMistake, FlowPlan,
    MistakeCode, SECRET_SHOWN, StepKind, named_nodes, plan, template_mistakes, url_parts,
};
use groundwave_gateway::config::ConfigObjects;
use groundwave_gateway::external::{Endpoint, ExternalSystem};
use groundwave_gateway::fleet::Fleet;
use groundwave_http::Problem;
use groundwave_http::client::{Client, RequestError};
use groundwave_io_gateway::notice::{FlowServers, MqttMessage, NoticeError, SmtpServer};
use groundwave_outbound::{Outbound, OutboundError, Request};
use groundwave_simulation::site::NodeId;
use hyper::Method;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use serde_json::{Map, Value, json};

use super::external::call::{EndpointAnswer, call_endpoint};
use super::flow_secrets::{opened_message, opened_text, opened_url, opened_value, secret_mistakes};
use super::node_commands;
use super::vault::Vault;
use super::webhook_signature;
use super::world::World;

/// Time for a request to the impairment daemon or the planning server.
const LOCAL_MAX: Duration = Duration::from_secs(10);

/// Maximum length of an answer in the context, bytes.
const ANSWER_BYTES_MAX: usize = 8 << 10;

/// Minimum length of a secret that is taken out of an answer, bytes: shorter ones occur by chance.
const SECRET_BYTES_MIN: usize = 4;

/// Header that all attempts of a delivery share.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

fn failed(error: impl std::fmt::Display, retry: bool) -> AttemptOutcome {
    AttemptOutcome::Failed { error: error.to_string(), retry, wait_s: None }
}

/// Why sealed secrets of a step cannot be opened.
const FOREIGN: &str = "the step was sealed under another key: give its secrets again";

/// A text without secrets, which receivers such as echo services send back.
fn redacted(mut text: String, secrets: &[String]) -> String {
    for secret in secrets.iter().filter(|secret| secret.len() >= SECRET_BYTES_MIN) {
        text = text.replace(secret.as_str(), SECRET_SHOWN);
    }
    text
}

/// A body as JSON, else as text; its length where it is too long.
fn answer(body: &[u8], secrets: &[String]) -> Value {
    if body.is_empty() {
        return Value::Null;
    }
    if body.len() > ANSWER_BYTES_MAX {
        return json!({ "left_out_bytes": body.len() });
    }
    let text = redacted(String::from_utf8_lossy(body).into_owned(), secrets);
    serde_json::from_str(&text).unwrap_or_else(|_| text.into())
}

fn noticed(outcome: Result<(), NoticeError>) -> AttemptOutcome {
    match outcome {
        Ok(()) => AttemptOutcome::Delivered { output: json!({}) },
        Err(err) => failed(&err, err.may_pass),
    }
}

/// External systems of the gateway.
type Systems = ConfigObjects<ExternalSystem>;

/// Endpoint that a step calls.
fn endpoint<'s>(systems: &'s Systems, call: &ExternalCall) -> Option<&'s Endpoint> {
    let system = systems.get(Id::new(call.system_id))?;
    system.object.endpoints.iter().find(|endpoint| endpoint.endpoint_id == call.endpoint_id)
}

/// `true` if a flow calls endpoints that only admins may call.
#[must_use]
pub fn needs_admin(systems: &Systems, planned: &FlowPlan) -> bool {
    planned.steps.iter().any(|step| match &*performed(&step.kind) {
        StepKind::ExternalCall(call) => {
            endpoint(systems, call).is_none_or(|endpoint| !endpoint.method.is_read())
        }
        _ => false,
    })
}

/// Action of a step, also of one that performs it for each node.
fn performed(kind: &StepKind) -> Cow<'_, StepKind> {
    let inner = match kind {
        StepKind::ForEachNode(each) => each.action.parse().ok(),
        _ => None,
    };
    inner.map_or(Cow::Borrowed(kind), Cow::Owned)
}

/// Option of the start without which an action cannot be performed.
fn lacking(servers: &FlowServers, kind: &StepKind) -> Option<&'static str> {
    match kind {
        StepKind::Email(_) if servers.smtp.is_none() => Some("--smtp-url"),
        StepKind::MqttPublish(_) if servers.mqtt.is_none() => Some("--mqtt-url"),
        StepKind::ApplyImpairment(_) if servers.impaird.is_none() => Some("--impaird-socket"),
        StepKind::RunPlan(_) if servers.planner.is_none() => Some("--planner-address"),
        _ => None,
    }
}

/// Nodes that a flow names and the mesh does not have.
pub fn absent_nodes<'f>(
    fleet: &'f Fleet,
    flow: &'f AutomationFlow,
) -> impl Iterator<Item = FlowMistake> + 'f {
    flow.steps.iter().enumerate().flat_map(move |(number, step)| {
        let named = named_nodes(&step.params).into_iter();
        let absent = named.filter(|(_, node)| !fleet.nodes.contains_key(&NodeId::new(*node)));
        absent.map(move |(at, node)| {
            let message =
                format!("step {:?}: found {node}, allowed nodes of the mesh", step.step_id);
            let pointer = format!("/steps/{number}/params{at}");
            FlowMistake::new(pointer, MistakeCode::InvalidParams, message)
        })
    })
}

/// Checks a flow: its steps, their templates and secrets, that this gateway has the servers, systems and, while
/// the flow is enabled, nodes they need, and that receivers of webhooks have permitted addresses. Names of hosts
/// are not resolved.
///
/// # Errors
/// All mistakes.
pub fn check(
    servers: &FlowServers,
    (systems, fleet): (&Systems, &Fleet),
    outbound: &Outbound,
    flow: &AutomationFlow,
) -> Result<FlowPlan, Vec<FlowMistake>> {
    let planned = plan(flow)?;
    let mut mistakes = template_mistakes(flow);
    mistakes.extend(secret_mistakes(flow));
    if flow.enabled {
        mistakes.extend(absent_nodes(fleet, flow));
    }
    for (number, step) in planned.steps.iter().enumerate() {
        let at = format!("/steps/{number}");
        let kind = &*performed(&step.kind);
        let at = match step.kind {
            StepKind::ForEachNode(_) => format!("{at}/params/action"),
            _ => at,
        };
        let mut refuse = |field: &str, code, what: String| {
            let message = format!("step {:?}: {what}", step.id);
            mistakes.push(FlowMistake::new(format!("{at}/{field}"), code, message));
        };
        if let Some(option) = lacking(servers, kind) {
            let what = format!("this gateway was started without {option}");
            refuse("kind", MistakeCode::BackendAbsent, what);
        }
        match kind {
            StepKind::WebhookOut(webhook) => {
                let request = Request::new(Method::POST, &webhook.url);
                let judged =
                    request.and_then(|request| outbound.judge(request.host(), request.port()));
                if let Err(err) = judged {
                    refuse("params/url", MistakeCode::InvalidParams, err.to_string());
                }
            }
            StepKind::Command(command) => {
                if let Some(reason) = node_commands::refused(&command.kind) {
                    refuse("params/kind", MistakeCode::InvalidParams, reason);
                }
            }
            StepKind::ExternalCall(call) if endpoint(systems, call).is_none() => {
                let what = "no external system has this endpoint".to_owned();
                refuse("params/endpoint_id", MistakeCode::InvalidParams, what);
            }
            StepKind::Email(email) => {
                for (to_number, to) in email.to.iter().enumerate() {
                    if let Err(what) = SmtpServer::check_recipient(to) {
                        let field = format!("params/to/{to_number}");
                        refuse(&field, MistakeCode::InvalidParams, what);
                    }
                }
            }
            _ => {}
        }
    }
    match mistakes.is_empty() {
        true => Ok(planned),
        false => Err(mistakes),
    }
}

/// Makes one attempt of a delivery.
pub async fn attempt(
    servers: &FlowServers,
    (world, vault, outbound): (&World, &Vault, &Outbound),
    deliver: &Deliver,
) -> AttemptOutcome {
    let id = deliver.delivery.to_string();
    let absent = |what: &str| failed(format!("this gateway has no {what}"), false);
    match &deliver.request {
        DeliveryRequest::Webhook { .. } => webhook(outbound, vault, deliver).await,
        DeliveryRequest::Email { to, subject, body } => match &servers.smtp {
            Some(server) => noticed(server.send(&id, to, subject, body).await),
            None => absent("SMTP server"),
        },
        DeliveryRequest::Mqtt { topic, payload, retain } => match &servers.mqtt {
            Some(broker) => {
                let Ok(payload) = opened_message(payload, vault) else {
                    return failed(FOREIGN, false);
                };
                let message = MqttMessage { topic, payload: &payload, retain: *retain };
                noticed(broker.publish(&id, message).await)
            }
            None => absent("MQTT broker"),
        },
        DeliveryRequest::External { system_id, endpoint_id, params } => {
            // Who made the flow was allowed to.
            let role = AccountRole::Admin;
            let place = (*system_id, *endpoint_id);
            let opened = opened_value(&Value::Object(params.clone()), vault);
            let Ok((Value::Object(params), secrets)) = opened else {
                return failed(FOREIGN, false);
            };
            let answered = call_endpoint((world, vault, outbound), role, place, &params).await;
            external(answered, &secrets)
        }
        DeliveryRequest::Impairment { direction, impairment, for_s } => match &servers.impaird {
            Some(socket) => {
                let (direction, state) = (direction.name(), impairment.as_ref());
                let path = format!("/v1/impairments/{direction}");
                let (method, path, body) = match (for_s, state) {
                    (Some(for_s), _) => {
                        let change = json!({ "impairment": state.unwrap_or(&Map::new()) });
                        let lease = json!({
                            "duration": u64::from(*for_s) * 1_000_000_000,
                            "owner": format!("gateway, delivery {id}"),
                            "changes": { direction: change },
                        });
                        (Method::POST, "/v1/leases".to_owned(), lease.to_string().into_bytes())
                    }
                    (None, Some(state)) => {
                        (Method::PUT, path, json!(state).to_string().into_bytes())
                    }
                    (None, None) => (Method::DELETE, path, Vec::new()),
                };
                local(Client::unix(socket), method, &path, body).await
            }
            None => absent("impairment daemon"),
        },
        DeliveryRequest::Plan { analysis, request } => match &servers.planner {
            Some(address) => {
                let body = json!(request).to_string().into_bytes();
                local(Client::tcp(address), Method::POST, analysis.path(), body).await
            }
            None => absent("planning server"),
        },
    }
}

/// Outcome of a call of an external system.
fn external(answered: Result<EndpointAnswer, Problem>, secrets: &[String]) -> AttemptOutcome {
    match answered {
        Ok(answered) if (200..300).contains(&answered.status) => {
            let body = redacted(answered.body.to_string(), secrets);
            let body: Value = serde_json::from_str(&body).unwrap_or_default();
            AttemptOutcome::Delivered { output: json!({ "status": answered.status, "body": body }) }
        }
        Ok(answered) => {
            let may_pass = answered.status >= 500 || [408, 425, 429].contains(&answered.status);
            failed(format!("status {}", answered.status), may_pass)
        }
        Err(problem) => {
            failed(redacted(problem.detail, secrets), [502, 504].contains(&problem.status))
        }
    }
}

/// Request to another service of this machine.
async fn local(
    client: impl Future<Output = Result<Client, RequestError>>,
    method: Method,
    path: &str,
    body: Vec<u8>,
) -> AttemptOutcome {
    let exchange = async { client.await?.call(method, path, None, body).await };
    let answered = match tokio::time::timeout(LOCAL_MAX, exchange).await {
        Ok(answered) => answered,
        Err(_) => return failed(format!("no answer within {} s", LOCAL_MAX.as_secs()), true),
    };
    match answered {
        Ok(answered) if answered.status.is_success() => AttemptOutcome::Delivered {
            output: json!({ "status": answered.status.as_u16(), "body": answer(&answered.body, &[]) }),
        },
        Ok(answered) => {
            let detail = answer(&answered.body, &[]);
            let error = format!("status {}: {detail}", answered.status.as_u16());
            // The service names what is wrong with the request: repeating it does not help.
            failed(error, answered.status.is_server_error())
        }
        Err(err) => failed(err, true),
    }
}

/// Request of a webhook: all but its sealed parts are in it.
async fn webhook(outbound: &Outbound, vault: &Vault, deliver: &Deliver) -> AttemptOutcome {
    let DeliveryRequest::Webhook {
        url,
        method,
        headers,
        authorization,
        signing_key,
        body,
        timeout_s,
    } = &deliver.request
    else {
        return failed("no webhook", false);
    };
    let method = Method::from_bytes(method.as_str().as_bytes()).unwrap_or(Method::POST);
    let has_body = ![Method::GET, Method::DELETE].contains(&method);
    let Ok(url) = opened_url(url, vault) else { return failed(FOREIGN, false) };
    let mut request = match Request::new(method, &url) {
        Ok(request) => request,
        Err(err) => return failed(err, false),
    };
    request.limit = Duration::from_secs(u64::from(*timeout_s));
    // Receivers put secrets into paths.
    let path = url_parts(&url).1.to_owned();
    let Ok((body, mut secrets)) = opened_value(body, vault) else { return failed(FOREIGN, false) };
    secrets.push(path);
    let mut fields = Vec::new();
    for (name, value) in headers {
        let Ok(opened) = opened_text(value, vault) else { return failed(FOREIGN, false) };
        secrets.extend((opened != *value).then(|| opened.clone()));
        let value = opened;
        fields.push((HeaderName::try_from(name.as_str()), value));
    }
    if let Some(sealed) = authorization {
        let Ok(value) = opened_text(sealed, vault) else { return failed(FOREIGN, false) };
        secrets.push(value.clone());
        fields.push((Ok(AUTHORIZATION), value));
    }
    fields.push((Ok(IDEMPOTENCY_KEY), deliver.delivery.to_string()));
    if has_body {
        request.body = body.to_string().into_bytes().into();
        if !headers.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
            fields.push((Ok(CONTENT_TYPE), "application/json".to_owned()));
        }
    }
    if let Some(sealed) = signing_key {
        let Ok(key) = opened_text(sealed, vault) else { return failed(FOREIGN, false) };
        let sent_s = wall_ns() / 1_000_000_000;
        let id = deliver.delivery.to_string();
        let signed = webhook_signature::headers(&key, &id, sent_s, &request.body);
        fields.extend(signed.map(|(name, value)| (Ok(name), value)));
    }
    for (name, value) in fields {
        let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) else {
            return failed("a header cannot be sent: control characters", false);
        };
        request.headers.insert(name, value);
    }
    match outbound.send(&request).await {
        Ok(answered) if answered.status.is_success() => AttemptOutcome::Delivered {
            output: json!({ "status": answered.status.as_u16(), "body": answer(&answered.body, &secrets) }),
        },
        Ok(answered) => {
            let after = answered.headers.get(RETRY_AFTER);
            AttemptOutcome::Failed {
                error: format!("status {}", answered.status.as_u16()),
                retry: true,
                wait_s: after.and_then(|after| after.to_str().ok()?.parse().ok()),
            }
        }
        Err(err) => {
            let is_final =
                matches!(err, OutboundError::Forbidden { .. } | OutboundError::Url { .. });
            failed(&err, !is_final)
        }
    }
}
