//! Settings of the mesh: changes are undone unless they are confirmed in time, for they may cut the
//! way to this host.

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderMap, StatusCode};
use groundwave_engine::FaultKind;
use groundwave_files::hex::hex;
use groundwave_host::readings::mesh;
use groundwave_host::readings::mesh::MeshConfig;
use groundwave_http::Problem;
use groundwave_http::problem::{FieldCode, ProblemKind};
use groundwave_http::tag;
use groundwave_http::tag::Tag;
use groundwave_io_gateway::unconfirmed::UnconfirmedFile;
use groundwave_netlink::batadv::{Batman, BatmanConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::confirmation::Divergence;
use super::kernel::{HERE, unread};
use super::secrets::random;

/// Mesh configuration with its revision.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct MeshSettings {
    /// Configuration.
    #[serde(flatten)]
    pub config: MeshConfig,
    /// Revision, for `If-Match`.
    pub revision: String,
}

impl MeshSettings {
    /// Configuration with its revision.
    #[must_use]
    pub fn of(config: MeshConfig) -> Self {
        let text = serde_json::to_vec(&config).unwrap_or_default();
        Self { revision: tag::revision_of(text), config }
    }

    /// Revision as `ETag`.
    #[must_use]
    pub fn tag(&self) -> Tag {
        tag::tag(&self.revision)
    }
}

/// Settings of the mesh, with the change that awaits confirmation.
#[derive(Debug)]
pub struct MeshConfigService {
    ifname: String,
    /// File with the values before a change that awaits confirmation.
    file: Option<UnconfirmedFile>,
    state: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    /// Token of the change awaiting confirmation, and the previous values.
    waiting: Option<(String, BatmanConfig)>,
    undone: Option<String>,
}

/// Configuration change; absent and null fields stay.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMeshSettings {
    /// Present value only: a change needs the radio to leave the mesh.
    #[serde(default)]
    pub mesh_id: Option<String>,
    /// Present value only.
    #[serde(default)]
    pub freq_mhz: Option<u32>,
    /// Present value only.
    #[serde(default)]
    pub width_mhz: Option<u32>,
    /// Present value only.
    #[serde(default)]
    pub mesh_fwding: Option<bool>,
    /// batman-adv settings.
    #[serde(default)]
    pub batman: BatmanConfig,
    /// Revision that the change applies to, as in `If-Match`.
    #[serde(default)]
    pub revision: Option<String>,
    /// Time until an unconfirmed change is undone, s; default 60.
    #[serde(default)]
    #[schemars(range(min = 10, max = 600))]
    pub confirm_within_s: Option<u32>,
}

/// Configuration after a change.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ChangedSettings {
    /// Configuration in force.
    #[serde(flatten)]
    pub settings: MeshSettings,
    /// Settings that differ from the request.
    pub divergence: Vec<Divergence>,
    /// Token for the confirmation.
    pub confirm_token: String,
    /// Deadline of the confirmation, RFC 3339; undone then, or when the gateway stops.
    pub confirm_by: String,
}

fn plain(config: &BatmanConfig) -> Map<String, Value> {
    let value = serde_json::to_value(config).unwrap_or_default();
    value.as_object().cloned().unwrap_or_default()
}

fn config_of(settings: Map<String, Value>) -> Result<BatmanConfig, Problem> {
    let read = serde_json::from_value(Value::Object(settings));
    read.map_err(|err| Problem::internal(format!("settings: {err}")))
}

/// Settings to change, and their present values.
fn plan(now: &MeshConfig, new: &NewMeshSettings) -> Result<(BatmanConfig, BatmanConfig), Problem> {
    let radio = [
        ("mesh_id", new.mesh_id.is_some() && new.mesh_id != now.mesh_id),
        ("freq_mhz", new.freq_mhz.is_some() && new.freq_mhz != now.freq_mhz),
        ("width_mhz", new.width_mhz.is_some() && new.width_mhz != now.width_mhz),
        ("mesh_fwding", new.mesh_fwding.is_some() && new.mesh_fwding != now.mesh_fwding),
    ];
    if let Some((name, _)) = radio.iter().find(|(_, changed)| *changed) {
        let message = "not changeable while the radio is in the mesh";
        return Err(Problem::field(&format!("/{name}"), FieldCode::Fixed, message));
    }
    if new.batman.orig_interval_ms.is_some_and(|interval| interval < 40) {
        let message = "invalid interval: allowed 40 ms and more";
        return Err(Problem::field("/batman/orig_interval_ms", FieldCode::NotAllowed, message));
    }
    let maximum = u64::from(u32::MAX) * 100;
    let offers = [new.batman.gw_bandwidth_down_kbps, new.batman.gw_bandwidth_up_kbps];
    if offers.into_iter().flatten().any(|kbps| kbps > maximum) {
        let message = format!("invalid bandwidth: allowed 0 to {maximum} kbit/s");
        return Err(Problem::field("/batman", FieldCode::NotAllowed, message));
    }
    let (present, desired) = (plain(&now.batman), plain(&new.batman));
    let (mut change, mut before) = (Map::new(), Map::new());
    for (name, value) in desired.into_iter().filter(|(_, value)| !value.is_null()) {
        let own = present.get(&name).cloned().unwrap_or_default();
        if own.is_null() {
            let message = "not supported by the kernel's batman-adv";
            return Err(Problem::field(&format!("/batman/{name}"), FieldCode::Absent, message));
        }
        if own != value {
            before.insert(name.clone(), own);
            change.insert(name, value);
        }
    }
    Ok((config_of(change)?, config_of(before)?))
}

/// Differences between `desired` and `actual`.
fn divergence(desired: &BatmanConfig, actual: &BatmanConfig) -> Vec<Divergence> {
    let actual = plain(actual);
    plain(desired)
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .filter_map(|(name, wanted)| {
            let value = actual.get(&name).cloned().unwrap_or_default();
            let pointer = format!("/batman/{name}");
            (value != wanted).then_some(Divergence { pointer, wanted, found: value })
        })
        .collect()
}

/// `true` if the named revisions are the present one.
fn current(settings: &MeshSettings, headers: &HeaderMap, body: Option<&str>) -> bool {
    let own = settings.revision.as_str();
    tag::if_match(headers).is_none_or(|named| named.contains(&own))
        && body.is_none_or(|one| one == own)
}

fn set(ifname: &str, config: &BatmanConfig) -> Result<(), Problem> {
    let mut batman = Batman::open(HERE).map_err(unread)?;
    batman.set_mesh(ifname, config).map_err(unread)
}

fn unwritten(err: &io::Error) -> Problem {
    let detail = format!("record of the unconfirmed change: {err}");
    match FaultKind::of(err).may_pass() {
        true => Problem::storage_full(detail),
        false => Problem::unavailable(detail),
    }
}

impl MeshConfigService {
    /// Settings of the mesh interface `ifname`; values before an unconfirmed change are in `file`.
    #[must_use]
    pub fn new(ifname: &str, file: Option<&Path>) -> Self {
        let file = file.map(UnconfirmedFile::new);
        Self { ifname: ifname.to_owned(), file, state: Mutex::default() }
    }

    /// Undoes a change that an earlier process left unconfirmed. Blocks.
    pub fn restore(&self) {
        self.restore_by(|before| set(&self.ifname, before));
    }

    fn restore_by(&self, set: impl Fn(&BatmanConfig) -> Result<(), Problem>) {
        let Some(file) = &self.file else { return };
        let before = match file.read::<BatmanConfig>() {
            Ok(Some(before)) => before,
            Ok(None) => return,
            Err(err) => {
                tracing::error!(%err, "{}: mesh configuration not restored", file.path().display());
                return;
            }
        };
        self.put_back(&before, set);
    }

    /// Sets the values before a change; the file stays where they cannot be set, for the next start.
    fn put_back(&self, before: &BatmanConfig, set: impl Fn(&BatmanConfig) -> Result<(), Problem>) {
        if let Err(err) = set(before) {
            tracing::error!(err = err.detail, "mesh configuration could not be restored");
            return;
        }
        tracing::warn!("unconfirmed mesh configuration undone");
        if let Err(err) = self.file.as_ref().map_or(Ok(()), UnconfirmedFile::remove) {
            tracing::error!(%err, "file of the mesh configuration stays");
        }
    }

    /// The settings as the kernel holds them. Blocks.
    ///
    /// # Errors
    /// 500 or 503.
    pub fn read(&self) -> Result<MeshSettings, Problem> {
        mesh::config(HERE, &self.ifname).map(MeshSettings::of).map_err(unread)
    }

    /// Changes the settings; the change awaits confirmation. Blocks.
    ///
    /// # Errors
    /// 409 while another change awaits confirmation, 412 for another revision, 422.
    pub fn change(
        &self,
        headers: &HeaderMap,
        new: &NewMeshSettings,
    ) -> Result<(MeshSettings, Vec<Divergence>, String), Problem> {
        let ifname = &self.ifname;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.waiting.is_some() {
            let detail = "another change awaits confirmation";
            return Err(Problem::new(StatusCode::CONFLICT, detail));
        }
        let read = || self.read();
        let now = read()?;
        if !current(&now, headers, new.revision.as_deref()) {
            let detail = format!("stale revision: the present one is {}", now.revision);
            return Err(Problem::new(StatusCode::PRECONDITION_FAILED, detail)
                .of_kind(ProblemKind::StaleRevision));
        }
        let (to_set, before) = plan(&now.config, new)?;
        let bytes: [u8; 16] = random()?;
        let token = hex(&bytes);
        // Kept before the change: a kill after it must not leave it in force.
        let written = self.file.as_ref().map_or(Ok(()), |file| file.write(&before));
        written.map_err(|err| unwritten(&err))?;
        let changed = set(ifname, &to_set).and_then(|()| read());
        let settings = match changed {
            Ok(settings) => settings,
            Err(problem) => {
                // The kernel may have taken some of it.
                self.put_back(&before, |before| set(ifname, before));
                return Err(problem);
            }
        };
        let apart = divergence(&new.batman, &settings.config.batman);
        state.waiting = Some((token.clone(), before));
        Ok((settings, apart, token))
    }

    /// Undoes a change unless it was confirmed. Blocks.
    pub fn undo(&self, token: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((_, before)) = state.waiting.take_if(|(own, _)| own == token) else {
            return;
        };
        state.undone = Some(token.to_owned());
        self.put_back(&before, |before| set(&self.ifname, before));
    }

    /// Confirms a change.
    ///
    /// # Errors
    /// 404 for an unknown token, 410 when the change was undone, 503 or 507 where it cannot be recorded.
    pub fn confirm(&self, token: &str) -> Result<(), Problem> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.waiting.as_ref().is_some_and(|(own, _)| own == token) {
            // The next start would undo it otherwise.
            let removed = self.file.as_ref().map_or(Ok(()), UnconfirmedFile::remove);
            removed.map_err(|err| unwritten(&err))?;
            state.waiting = None;
            return Ok(());
        }
        if state.undone.as_deref() == Some(token) {
            return Err(Problem::new(StatusCode::GONE, "change already undone"));
        }
        let detail = "no pending change with that token";
        Err(Problem::new(StatusCode::NOT_FOUND, detail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> MeshConfig {
        MeshConfig {
            mesh_id: Some("hills".to_owned()),
            freq_mhz: Some(2412),
            width_mhz: Some(20),
            mesh_fwding: Some(false),
            batman: BatmanConfig {
                orig_interval_ms: Some(1000),
                hop_penalty: Some(30),
                bonding: Some(false),
                ..BatmanConfig::default()
            },
        }
    }

    fn new_settings(text: &str) -> NewMeshSettings {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn only_what_differs_is_set_and_put_back() {
        let same = r#"{"mesh_id": "hills", "batman": {"hop_penalty": 15, "bonding": false}}"#;
        let (change, before) = plan(&now(), &new_settings(same)).unwrap();
        let penalty = |hop_penalty| BatmanConfig {
            hop_penalty: Some(hop_penalty),
            ..BatmanConfig::default()
        };
        assert_eq!((change, before), (penalty(15), penalty(30)));
        for (text, at) in [
            (r#"{"mesh_id": "dales"}"#, "/mesh_id"),
            (r#"{"freq_mhz": 2437}"#, "/freq_mhz"),
            (r#"{"mesh_fwding": true}"#, "/mesh_fwding"),
            (r#"{"batman": {"orig_interval_ms": 39}}"#, "/batman/orig_interval_ms"),
            (r#"{"batman": {"ap_isolation": true}}"#, "/batman/ap_isolation"),
            (r#"{"batman": {"gw_bandwidth_up_kbps": 429496729501}}"#, "/batman"),
        ] {
            let problem = plan(&now(), &new_settings(text)).unwrap_err();
            assert_eq!((problem.status, problem.errors[0].pointer.as_str()), (422, at));
        }
    }

    #[test]
    fn value_changed_by_the_kernel_gives_a_difference() {
        let present = now().batman;
        let new =
            new_settings(r#"{"batman": {"orig_interval_ms": 1050, "hop_penalty": 30}}"#).batman;
        let differences = divergence(&new, &present);
        assert_eq!(differences.len(), 1);
        assert_eq!(differences[0].pointer, "/batman/orig_interval_ms");
        assert_eq!(
            (differences[0].wanted.as_u64(), differences[0].found.as_u64()),
            (Some(1050), Some(1000))
        );
    }

    #[test]
    fn a_revision_is_one_of_these_settings() {
        let settings = MeshSettings::of(now());
        let mut other = now();
        other.batman.hop_penalty = Some(31);
        assert_ne!(MeshSettings::of(other).revision, settings.revision);
        let mut headers = HeaderMap::new();
        assert!(current(&settings, &headers, None) && !current(&settings, &headers, Some("1")));
        for (tag, fits) in [("*", true), (&settings.tag()[0].1, true), ("\"1\"", false)] {
            headers.insert(axum::http::header::IF_MATCH, tag.parse().unwrap());
            assert_eq!(current(&settings, &headers, None), fits, "{tag}");
        }
    }

    #[test]
    fn a_change_is_confirmed_once() {
        let change = MeshConfigService::new("bat0", None);
        let confirm = |token: &str| change.confirm(token).map_err(|problem| problem.status);
        change.state.lock().unwrap().waiting = Some(("a".to_owned(), BatmanConfig::default()));
        assert_eq!((confirm("b"), confirm("a"), confirm("a")), (Err(404), Ok(()), Err(404)));
        change.state.lock().unwrap().undone = Some("c".to_owned());
        assert_eq!(confirm("c"), Err(410));
    }
    #[test]
    fn an_unconfirmed_change_of_a_killed_gateway_is_undone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("before.json");
        let before = BatmanConfig { hop_penalty: Some(30), ..BatmanConfig::default() };
        UnconfirmedFile::new(&path).write(&before).unwrap();
        let service = MeshConfigService::new("bat0", Some(&path));
        // The interface is not there yet.
        service.restore_by(|_| Err(Problem::internal("no interface")));
        assert!(path.exists());
        let restored = Mutex::new(Vec::new());
        let set = |config: &BatmanConfig| {
            restored.lock().unwrap().push(config.clone());
            Ok(())
        };
        service.restore_by(set);
        service.restore_by(set);
        assert_eq!(*restored.lock().unwrap(), [before]);
        assert!(!path.exists());
    }

    #[test]
    fn a_confirmed_change_is_not_undone_at_the_next_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("before.json");
        let before = BatmanConfig { hop_penalty: Some(30), ..BatmanConfig::default() };
        UnconfirmedFile::new(&path).write(&before).unwrap();
        let service = MeshConfigService::new("bat0", Some(&path));
        service.state.lock().unwrap().waiting = Some(("a".to_owned(), before));
        assert_eq!(service.confirm("a").map_err(|problem| problem.status), Ok(()));
        service.restore_by(|_| panic!("confirmed"));
        assert!(!path.exists());
    }
}
