//! Settings of the mesh that the gateway changes: applied, and undone unless a heartbeat is acknowledged in time.
//!
//! A change may cut the way to the gateway. The values before it are in a file until the next heartbeat was
//! acknowledged; an agent that was killed meanwhile restores them when it starts again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use groundwave_credentials::write_private;
use groundwave_netlink::batadv::{Batman, BatmanConfig};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::finished::{Finished, FollowUp};

/// Values by name, `batman.hop_penalty` for example.
pub type Values = BTreeMap<String, String>;

/// Prefix of the names of settings of batman-adv.
const BATMAN: &str = "batman.";
/// Time for the confirmation that a command names, s.
const CONFIRM_S: std::ops::RangeInclusive<u64> = 10..=600;

/// Settings of a mesh interface.
pub trait MeshInterface: std::fmt::Debug + Send {
    /// Settings in force.
    ///
    /// # Errors
    /// The reason why they cannot be read.
    fn read(&self) -> Result<BatmanConfig, String>;

    /// Changes the settings that are given.
    ///
    /// # Errors
    /// The reason why the kernel refuses.
    fn write(&self, config: &BatmanConfig) -> Result<(), String>;
}

/// batman-adv of the kernel.
#[derive(Debug)]
pub struct KernelMesh {
    /// Mesh interface.
    pub ifname: String,
}

impl MeshInterface for KernelMesh {
    fn read(&self) -> Result<BatmanConfig, String> {
        let mesh = Batman::open(None).and_then(|mut batman| batman.mesh(&self.ifname));
        mesh.map(BatmanConfig::from).map_err(|err| err.to_string())
    }

    fn write(&self, config: &BatmanConfig) -> Result<(), String> {
        let set = Batman::open(None).and_then(|mut batman| batman.set_mesh(&self.ifname, config));
        set.map_err(|err| err.to_string())
    }
}

/// Values of settings.
fn values(config: &BatmanConfig) -> Values {
    let value = serde_json::to_value(config).unwrap_or_default();
    let fields = value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    fields.map(|(name, value)| (format!("{BATMAN}{name}"), text(value))).collect()
}

/// Settings of values.
fn config(values: &Values) -> Result<BatmanConfig, String> {
    let mut object = Map::new();
    for (name, text) in values {
        let name = name.strip_prefix(BATMAN);
        let name = name.ok_or_else(|| format!("invalid setting: found {name:?}"))?;
        // Numbers and booleans as they are; other words are names.
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()));
        object.insert(name.to_owned(), value);
    }
    serde_json::from_value(Value::Object(object)).map_err(|err| format!("invalid setting: {err}"))
}

/// A change that the gateway has not confirmed.
#[derive(Debug)]
struct Pending {
    command_id: Uuid,
    before: Values,
    deadline_ms: u64,
}

/// Settings that the gateway may change.
#[derive(Debug)]
pub struct MeshSettings {
    mesh: Box<dyn MeshInterface>,
    /// File with the values before an unconfirmed change.
    file: PathBuf,
    pending: Option<Pending>,
    /// An earlier process left an unconfirmed change.
    unconfirmed: Option<Values>,
}

impl MeshSettings {
    /// Settings of `mesh`; values before an unconfirmed change are kept in `file`.
    ///
    /// # Errors
    /// When the file of an earlier process cannot be read.
    pub fn new(mesh: Box<dyn MeshInterface>, file: &Path) -> Result<Self, String> {
        let failure = |err: &dyn std::fmt::Display| format!("{}: {err}", file.display());
        let unconfirmed = match std::fs::read(file) {
            Ok(text) => Some(serde_json::from_slice(&text).map_err(|err| failure(&err))?),
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => None,
            Err(err) => return Err(failure(&err)),
        };
        Ok(Self { mesh, file: file.to_owned(), pending: None, unconfirmed })
    }

    /// Values in force; none without a mesh interface of batman-adv.
    pub fn observe(&self) -> Values {
        self.mesh.read().map(|config| values(&config)).unwrap_or_default()
    }

    /// Applies the values of a command at `now_ms`, a monotonic time; the outcome, where there is one at
    /// once.
    pub fn begin(&mut self, command_id: Uuid, args: &Values, now_ms: u64) -> Option<Finished> {
        match self.apply(command_id, args, now_ms) {
            Ok(()) => None,
            Err(why) => Some(failed(command_id, why)),
        }
    }

    fn apply(&mut self, command_id: Uuid, args: &Values, now_ms: u64) -> Result<(), String> {
        if self.pending.is_some() || self.unconfirmed.is_some() {
            return Err("another change awaits its confirmation".to_owned());
        }
        let mut settings = args.clone();
        let confirm_s =
            settings.remove("confirm_within_s").map_or(Ok(60), |text| text.parse::<u64>());
        let confirm_s = confirm_s
            .ok()
            .filter(|confirm_s| CONFIRM_S.contains(confirm_s))
            .ok_or("invalid confirm_within_s: allowed 10 to 600")?;
        let change = config(&settings)?;
        let present = values(&self.mesh.read()?);
        let mut before = Values::new();
        for name in settings.keys() {
            let own = present
                .get(name)
                .ok_or_else(|| format!("invalid setting: {name} is not supported here"))?;
            before.insert(name.clone(), own.clone());
        }
        let text = serde_json::to_vec(&before).map_err(|err| err.to_string())?;
        write_private(&self.file, &text)
            .map_err(|err| format!("{}: {err}", self.file.display()))?;
        self.pending = Some(Pending {
            command_id,
            before,
            deadline_ms: now_ms.saturating_add(confirm_s * 1000),
        });
        if let Err(why) = self.mesh.write(&change) {
            // The kernel may have taken a part.
            self.restore();
            return Err(why);
        }
        Ok(())
    }

    /// The gateway acknowledged a heartbeat: an applied change is confirmed.
    pub fn confirm(&mut self) -> Option<Finished> {
        let pending = self.pending.take()?;
        self.remove_file();
        let output = self.observe();
        Some(Finished {
            command_id: pending.command_id,
            done: true,
            output: serde_json::to_string(&output).unwrap_or_default(),
            follow_up: FollowUp::Nothing,
        })
    }

    /// Undoes a change whose time is over, and one that an earlier process left.
    pub fn expire(&mut self, now_ms: u64) -> Option<Finished> {
        if let Some(before) = self.unconfirmed.take() {
            match self.write_back(&before) {
                Ok(()) => self.remove_file(),
                Err(_) => self.unconfirmed = Some(before),
            }
        }
        let pending = self.pending.as_ref()?;
        if now_ms < pending.deadline_ms {
            return None;
        }
        let command_id = pending.command_id;
        self.restore();
        let why = "undone: no heartbeat was acknowledged in time";
        Some(failed(command_id, why.to_owned()))
    }

    /// Writes the values before the pending change; where the kernel refuses, it is tried again.
    fn restore(&mut self) {
        let Some(pending) = self.pending.take() else {
            return;
        };
        self.unconfirmed = Some(pending.before);
        self.expire(0);
    }

    fn write_back(&self, before: &Values) -> Result<(), String> {
        self.mesh.write(&config(before)?).inspect_err(|why| {
            tracing::error!("settings of the mesh not restored: {why}");
        })
    }

    fn remove_file(&self) {
        if let Err(err) = std::fs::remove_file(&self.file) {
            tracing::error!("{}: {err}", self.file.display());
        }
    }
}

fn failed(command_id: Uuid, output: String) -> Finished {
    Finished { command_id, done: false, output, follow_up: FollowUp::Nothing }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A mesh interface in memory.
    #[derive(Debug, Clone, Default)]
    struct Memory(Arc<Mutex<(BatmanConfig, bool)>>);

    impl MeshInterface for Memory {
        fn read(&self) -> Result<BatmanConfig, String> {
            Ok(self.0.lock().unwrap().0.clone())
        }
        fn write(&self, config: &BatmanConfig) -> Result<(), String> {
            let mut state = self.0.lock().unwrap();
            if state.1 {
                return Err("refused".to_owned());
            }
            state.0.hop_penalty = config.hop_penalty.or(state.0.hop_penalty);
            state.0.bonding = config.bonding.or(state.0.bonding);
            Ok(())
        }
    }

    fn memory() -> Memory {
        let mesh = Memory::default();
        mesh.0.lock().unwrap().0.hop_penalty = Some(15);
        mesh.0.lock().unwrap().0.bonding = Some(false);
        mesh
    }

    fn args(pairs: &[(&str, &str)]) -> Values {
        let pairs = pairs.iter();
        pairs.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn penalty(mesh: &Memory) -> Option<u8> {
        mesh.0.lock().unwrap().0.hop_penalty
    }

    #[test]
    fn a_change_stays_if_the_gateway_is_heard_and_is_undone_if_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("unconfirmed.json");
        let mesh = memory();
        let mut settings = MeshSettings::new(Box::new(mesh.clone()), &file).unwrap();
        let change = args(&[("batman.hop_penalty", "40"), ("confirm_within_s", "30")]);
        let id = Uuid::from_u128(1);
        assert_eq!(settings.begin(id, &change, 1_000), None);
        assert!(penalty(&mesh) == Some(40) && file.exists());
        assert_eq!(settings.expire(30_999), None);
        let undone = settings.expire(31_000).unwrap();
        assert!(!undone.done && undone.output.contains("undone"), "{undone:?}");
        assert!(penalty(&mesh) == Some(15) && !file.exists());
        assert_eq!(settings.confirm(), None);

        assert_eq!(settings.begin(id, &change, 40_000), None);
        // One at a time.
        assert!(!settings.begin(id, &change, 40_000).unwrap().done);
        let confirmed = settings.confirm().unwrap();
        assert!(confirmed.done && confirmed.output.contains(r#""batman.hop_penalty":"40""#));
        assert!(settings.expire(u64::MAX).is_none() && !file.exists());
        assert_eq!(penalty(&mesh), Some(40));
    }

    #[test]
    fn a_killed_agent_restores_what_was_not_confirmed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("unconfirmed.json");
        let mesh = memory();
        let mut settings = MeshSettings::new(Box::new(mesh.clone()), &file).unwrap();
        let change = args(&[("batman.hop_penalty", "40"), ("batman.bonding", "true")]);
        assert_eq!(settings.begin(Uuid::nil(), &change, 0), None);
        drop(settings);
        let mut again = MeshSettings::new(Box::new(mesh.clone()), &file).unwrap();
        // The interface may not be there yet.
        mesh.0.lock().unwrap().1 = true;
        assert_eq!(again.expire(1), None);
        assert!(file.exists() && !again.begin(Uuid::nil(), &change, 1).unwrap().done);
        mesh.0.lock().unwrap().1 = false;
        assert_eq!(again.expire(2), None);
        assert!(!file.exists());
        assert_eq!(
            again.observe(),
            args(&[("batman.bonding", "false"), ("batman.hop_penalty", "15")])
        );
    }

    #[test]
    fn a_wrong_change_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("unconfirmed.json");
        let mesh = memory();
        let mut settings = MeshSettings::new(Box::new(mesh.clone()), &file).unwrap();
        for wrong in [
            ("ssid", "x"),
            ("batman.hop_penalty", "300"),
            ("batman.unknown", "1"),
            ("batman.fragmentation", "true"),
            ("confirm_within_s", "9"),
        ] {
            let change = args(&[("batman.bonding", "true"), wrong]);
            let outcome = settings.begin(Uuid::nil(), &change, 0).unwrap();
            assert!(!outcome.done && outcome.output.contains("invalid"), "{outcome:?}");
        }
        // What the kernel refuses is undone too.
        mesh.0.lock().unwrap().1 = true;
        let change = args(&[("batman.bonding", "true")]);
        assert_eq!(settings.begin(Uuid::nil(), &change, 0).unwrap().output, "refused");
        mesh.0.lock().unwrap().1 = false;
        settings.expire(1);
        assert!(!file.exists());
        assert_eq!(mesh.0.lock().unwrap().0.bonding, Some(false));
    }
}
