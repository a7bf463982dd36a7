//! Probes of external systems: reachability, status, metrics.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::http::Method;
use groundwave_files::wall::monotonic_ns;
use groundwave_gateway::external::{Check, ExternalSystem, Preset};
use groundwave_host::readings::echo::Pinger;
use groundwave_http::Problem;
use groundwave_http::problem::FieldCode;
use groundwave_outbound::{Outbound, OutboundError, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::auth::{SystemCredentials, trust};
use super::{mqtt, sample};
use crate::services::outbound::unreached;
use crate::services::secrets::random;
use crate::services::world::blocking;

/// Result of a probe; the answer itself is not shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeResult {
    /// The system answered.
    pub reachable: bool,
    /// HTTP status, or return code of an MQTT broker.
    pub status: Option<u16>,
    /// Time until the answer, ms.
    pub latency_ms: Option<f64>,
    /// Address of the system.
    pub resolved_ip: Option<String>,
    /// Reason of a failure.
    pub error: Option<String>,
}

/// Result of a probe with the values of its checks.
#[derive(Debug, Default)]
pub struct Probed {
    pub result: ProbeResult,
    /// Values by metric.
    pub values: BTreeMap<String, f64>,
    /// Checks that gave no value or no success.
    pub failed: usize,
}

/// Host and port of a base URL of a scheme that is not HTTP.
fn host_and_port(url: &str, schemes: &[(&str, u16)]) -> Option<(String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let (_, usual) = schemes.iter().find(|(name, _)| *name == scheme)?;
    let rest = rest.trim_end_matches('/');
    if rest.contains(['/', '?', '#', '@', ' ']) {
        return None;
    }
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            (host, port.parse().ok()?)
        }
        _ => (rest, *usual),
    };
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

/// Ports of the schemes beside HTTP.
const SCHEMES: [(&str, u16); 3] = [("icmp", 0), ("mqtt", 1883), ("mqtts", 8883)];

/// Checks the base URL of a system.
///
/// # Errors
/// 422 for a malformed one.
pub fn check_base_url(system: &ExternalSystem) -> Result<(), Problem> {
    let is_http = system.preset.schemes().contains(&"http");
    if is_http {
        let request = groundwave_outbound::Request::new(Method::GET, &system.base_url);
        request.map_err(|err| unreached("/base_url", &err))?;
        if !system.base_url.contains(['?', '#']) {
            return Ok(());
        }
    } else if host_and_port(&system.base_url, &SCHEMES).is_some() {
        return Ok(());
    }
    let message = "invalid URL: allowed SCHEME://HOST[:PORT][/PATH] without query and fragment";
    Err(Problem::field("/base_url", FieldCode::Format, message))
}

/// Host and port that a system is reached at.
///
/// # Errors
/// 422 for a malformed base URL.
pub fn place(system: &ExternalSystem) -> Result<(String, u16), Problem> {
    check_base_url(system)?;
    if let Some(place) = host_and_port(&system.base_url, &SCHEMES) {
        return Ok(place);
    }
    let request = groundwave_outbound::Request::new(Method::GET, &system.base_url)
        .map_err(|err| unreached("/base_url", &err))?;
    Ok((request.host().to_owned(), request.port()))
}

/// Probes a system: all its checks, or its answer to a greeting.
///
/// # Errors
/// 422 for a target that is not allowed. Failures of the system are results.
pub async fn probe(
    outbound: &Outbound,
    credentials: &SystemCredentials,
    system: &ExternalSystem,
) -> Result<Probed, Problem> {
    let (host, port) = place(system)?;
    let started_ns = monotonic_ns();
    let target = match outbound.target(&host, port).await {
        Ok(target) => target,
        Err(err) if err.is_forbidden() => return Err(unreached("/base_url", &err)),
        Err(err) => return Ok(Probed::failed(None, &err)),
    };
    let mut probed = match system.preset {
        Preset::Ping => ping(&target, system.timeout_ms).await?,
        Preset::MeshtasticMqtt => broker(outbound, &target, credentials, system, started_ns).await,
        _ => http(outbound, &target, credentials, system).await?,
    };
    let is_up = probed.result.reachable;
    probed.values.insert("up".to_owned(), f64::from(u8::from(is_up)));
    if let Some(latency_ms) = probed.result.latency_ms {
        probed.values.insert("latency_ms".to_owned(), latency_ms);
    }
    if let Some(status) = probed.result.status {
        probed.values.insert("status".to_owned(), f64::from(status));
    }
    Ok(probed)
}

impl Probed {
    fn failed(target: Option<&Target>, err: &OutboundError) -> Self {
        Self {
            result: ProbeResult {
                resolved_ip: target.and_then(first_ip),
                error: Some(err.to_string()),
                ..ProbeResult::default()
            },
            failed: 1,
            ..Self::default()
        }
    }
}

fn first_ip(target: &Target) -> Option<String> {
    Some(target.addresses().first()?.ip().to_string())
}

/// Requests of all checks; several checks of one path share a request.
async fn http(
    outbound: &Outbound,
    target: &Target,
    credentials: &SystemCredentials,
    system: &ExternalSystem,
) -> Result<Probed, Problem> {
    let usual = [Check::path("responding", "/")];
    let checks = match system.checks.is_empty() {
        true => &usual[..],
        false => &system.checks,
    };
    let mut by_path = Vec::<(&str, Vec<&Check>)>::new();
    for check in checks {
        match by_path.iter_mut().find(|(path, _)| *path == check.path) {
            Some((_, grouped)) => grouped.push(check),
            None => by_path.push((&check.path, vec![check])),
        }
    }
    let mut probed = Probed::default();
    for (at, (path, checks)) in by_path.into_iter().enumerate() {
        let request = credentials.request(system, Method::GET, path)?;
        let answered = outbound.send_to(target, &request).await;
        let response = match answered {
            Ok(response) => response,
            Err(err) => {
                if at == 0 {
                    return Ok(Probed::failed(Some(target), &err));
                }
                probed.failed += checks.len();
                probed.result.error = Some(format!("{path}: {err}"));
                continue;
            }
        };
        let status = response.status;
        if at == 0 {
            probed.result = ProbeResult {
                reachable: true,
                status: Some(status.as_u16()),
                latency_ms: Some(response.latency_ms),
                resolved_ip: Some(response.address.ip().to_string()),
                error: None,
            };
        }
        for check in checks {
            let value = sample::value_of(check, status, &response.body);
            if value.is_none() || !status.is_success() {
                probed.failed += 1;
                let why = match status.is_success() {
                    true => "no number where the check looks for one".to_owned(),
                    false => format!("status {}", status.as_u16()),
                };
                probed.result.error.get_or_insert(format!("{path}: {why}"));
            }
            if let Some(value) = value {
                probed.values.insert(check.metric.clone(), value);
            }
        }
    }
    Ok(probed)
}

/// Logs in to an MQTT broker.
async fn broker(
    outbound: &Outbound,
    target: &Target,
    credentials: &SystemCredentials,
    system: &ExternalSystem,
    started_ns: u64,
) -> Probed {
    let login = match credentials {
        SystemCredentials::Basic { username, password } => {
            Some((username.as_str(), password.as_str()))
        }
        _ => None,
    };
    let client = format!("groundwave-{:x}", started_ns & 0xffff_ffff);
    let greeting = async {
        let code = match system.base_url.starts_with("mqtts://") {
            true => {
                let stream = outbound
                    .connect_tls(target, &trust(system))
                    .await
                    .map_err(|err| err.to_string())?;
                mqtt::log_in(stream, &client, login).await
            }
            false => {
                let stream = outbound.connect(target).await.map_err(|err| err.to_string())?;
                mqtt::log_in(stream, &client, login).await
            }
        };
        code.map_err(|err| err.to_string())
    };
    let limit = Duration::from_millis(u64::from(system.timeout_ms));
    let code = tokio::time::timeout(limit, greeting)
        .await
        .unwrap_or_else(|_| Err(format!("no answer within {} ms", limit.as_millis())));
    let mut probed = Probed::default();
    probed.result.resolved_ip = first_ip(target);
    match code {
        Ok(code) => {
            let took_ns = monotonic_ns().saturating_sub(started_ns);
            probed.result.reachable = true;
            probed.result.status = Some(u16::from(code));
            probed.result.latency_ms = Some(took_ns as f64 / 1e6);
            if code != 0 {
                probed.failed = 1;
                probed.result.error = Some(format!("refused: {}", mqtt::meaning(code)));
            }
        }
        Err(why) => {
            probed.failed = 1;
            probed.result.error = Some(why);
        }
    }
    probed
}

/// ICMP echo requests.
async fn ping(target: &Target, timeout_ms: u32) -> Result<Probed, Problem> {
    let mut probed = Probed::default();
    probed.result.resolved_ip = first_ip(target);
    let Some(first) = target.addresses().first() else {
        return Ok(probed);
    };
    let ip = first.ip().to_canonical();
    let pinger = Pinger::open(ip, random()?).map_err(crate::services::kernel::unread)?;
    let time = Duration::from_millis(u64::from(timeout_ms));
    let echoes = blocking(move || Ok(pinger.ping(time, || false))).await?;
    match echoes {
        Ok(echoes) if !echoes.rtts_ms.is_empty() => {
            probed.result.reachable = true;
            let sum: f64 = echoes.rtts_ms.iter().sum();
            probed.result.latency_ms = Some(sum / echoes.rtts_ms.len() as f64);
            let lost = f64::from(echoes.sent) - echoes.rtts_ms.len() as f64;
            let lost_pct = lost.max(0.0) / f64::from(echoes.sent.max(1)) * 100.0;
            probed.values.insert("loss_pct".to_owned(), lost_pct);
        }
        Ok(_) => {
            probed.failed = 1;
            probed.result.error = Some("no answer to echo requests".to_owned());
        }
        Err(err) => {
            probed.failed = 1;
            probed.result.error = Some(err.to_string());
        }
    }
    Ok(probed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_are_read_from_urls() {
        let read = |url: &str| host_and_port(url, &SCHEMES);
        let place = |host: &str, port| Some((host.to_owned(), port));
        assert_eq!(read("mqtt://broker.lan"), place("broker.lan", 1883));
        assert_eq!(read("mqtts://broker.lan/"), place("broker.lan", 8883));
        assert_eq!(read("mqtt://10.0.0.1:1884"), place("10.0.0.1", 1884));
        assert_eq!(read("mqtt://[fd12::1]:1884"), place("[fd12::1]", 1884));
        assert_eq!(read("icmp://[fd12::1]"), place("[fd12::1]", 0));
        let bad =
            ["mqtt://", "mqtt://u:p@h", "mqtt://h/x", "http://h", "h", "mqtt://h:x", "icmp://h?q"];
        for url in bad {
            assert_eq!(read(url), None, "{url}");
        }
    }
}
