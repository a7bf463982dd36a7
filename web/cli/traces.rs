//! Export of spans to a collector by OTLP over HTTP (OpenTelemetry Protocol 1.9).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use axum::http;
use groundwave_http::{Failure, spans};
use groundwave_outbound::{AllowedTarget, Outbound, Request, TargetPolicy};
use opentelemetry::global;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Runtime;

/// Time limit of an export.
const EXPORT_MAX: Duration = Duration::from_secs(10);

/// Path of the traces below the endpoint (OTLP/HTTP).
const TRACES: &str = "v1/traces";

/// Exports spans until it is dropped; those that wait are sent then.
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Exports the spans of all routers that are built from now on.
    ///
    /// # Errors
    /// For an endpoint other than a URL with http or https, or without a runtime.
    pub fn start(endpoint: &str) -> Result<Self, Failure> {
        let url = format!("{}/{TRACES}", endpoint.trim_end_matches('/'));
        let collector = Collector::new(endpoint)?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(collector)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(&url)
            .with_timeout(EXPORT_MAX)
            .build()
            .map_err(|err| Failure::Input(format!("invalid --otlp-endpoint {endpoint}: {err}")))?;
        let resource = match std::env::var_os("OTEL_SERVICE_NAME") {
            Some(_) => Resource::builder(),
            None => Resource::builder().with_service_name("groundwave"),
        };
        let version = opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.with_attribute(version).build())
            .build();
        global::set_text_map_propagator(TraceContextPropagator::new());
        global::set_tracer_provider(provider.clone());
        spans::enable();
        tracing::info!(url, "spans of requests are exported");
        Ok(Self(provider))
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        // What cannot be sent was logged by the collector.
        let _ = self.0.shutdown();
    }
}

/// Client of a collector: with the certificates of the system, and to that host alone.
struct Collector {
    outbound: Outbound,
    runtime: Runtime,
    fails: AtomicBool,
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Collector").finish_non_exhaustive()
    }
}

impl Collector {
    fn new(endpoint: &str) -> Result<Self, Failure> {
        let invalid = |why: String| Failure::Input(format!("invalid --otlp-endpoint: {why}"));
        let request =
            Request::new(http::Method::POST, endpoint).map_err(|err| invalid(err.to_string()))?;
        let (host, port) = (request.host(), request.port());
        let target = match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        };
        let allowed: AllowedTarget = target.parse().map_err(invalid)?;
        let outbound =
            Outbound::new(TargetPolicy { allowed: vec![allowed], ..TargetPolicy::default() });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("otlp")
            .enable_all()
            .build()?;
        Ok(Self { outbound, runtime, fails: AtomicBool::new(false) })
    }

    /// Logs the first failure and the first success after it.
    fn note(&self, failure: Option<&str>) {
        let failed = self.fails.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(why) if !failed => tracing::warn!(why, "spans are not exported"),
            None if failed => tracing::info!("spans are exported again"),
            _ => {}
        }
    }
}

#[async_trait::async_trait]
impl HttpClient for Collector {
    async fn send_bytes(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let mut outgoing = Request::new(parts.method, &parts.uri.to_string())?;
        (outgoing.headers, outgoing.body, outgoing.limit) = (parts.headers, body, EXPORT_MAX);
        let outbound = self.outbound.clone();
        // The exporter waits on a thread of its own, without a runtime.
        let sent = self.runtime.spawn(async move { outbound.send(&outgoing).await }).await?;
        let answer = match sent {
            Ok(answer) => answer,
            Err(err) => {
                self.note(Some(&err.to_string()));
                return Err(err.into());
            }
        };
        let refusal = format!("the collector answers with status {}", answer.status.as_u16());
        self.note((!answer.status.is_success()).then_some(&*refusal));
        let mut response = http::Response::new(answer.body);
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoint_other_than_a_url_is_refused() {
        for endpoint in ["collector:4317", "grpc://collector:4317", "http://", "http://a:b@c"] {
            let failure = Collector::new(endpoint).err().unwrap();
            assert!(failure.message().starts_with("invalid --otlp-endpoint: "), "{endpoint}");
        }
    }
}
