//! Node commands that an agent supports: those that only read, and those that its owner permitted.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use groundwave_host::gpio::GpioLines;
use groundwave_host::i2c::Sensors;
use groundwave_sensor::ScannedDevice;
use serde::Serialize;
use uuid::Uuid;

use super::finished::{Finished, FollowUp};
use super::firmware::Firmware;
use super::host_state::HostState;
use super::mesh_settings::{MeshSettings, Values};
use super::reboot::Reboot;

/// Names of the commands that need no permission.
const HARMLESS: [&str; 5] = ["echo", "gpio", "i2c_scan", "look", "renew_token"];
/// Longest answer, bytes; the gateway takes no more.
const OUTPUT_BYTES_MAX: usize = 16 << 10;
/// Node commands remembered, so that none is carried out twice.
const REMEMBERED: usize = 64;

/// Commands that change the machine, as far as its owner permitted them.
#[derive(Debug, Default)]
pub struct Permissions {
    /// Restart of the machine.
    pub reboot: Option<Reboot>,
    /// Settings of the mesh.
    pub mesh_settings: Option<MeshSettings>,
    /// Installation of firmware.
    pub firmware: Option<Firmware>,
}

/// Node commands seen so far.
#[derive(Debug, Default)]
pub struct NodeCommands {
    recent: VecDeque<Uuid>,
    permissions: Permissions,
}

impl NodeCommands {
    /// Node commands of an agent with these permissions.
    #[must_use]
    pub fn new(permissions: Permissions) -> Self {
        Self { recent: VecDeque::new(), permissions }
    }

    /// Names of the supported commands.
    #[must_use]
    pub fn supported(&self) -> Vec<&'static str> {
        let mut names = HARMLESS.to_vec();
        names.extend(self.permissions.reboot.as_ref().map(|_| "reboot"));
        names.extend((!self.settings().is_empty()).then_some("configure"));
        names.extend(self.permissions.firmware.as_ref().map(|_| "firmware"));
        names.sort_unstable();
        names
    }

    /// Settings in force that the gateway may change.
    #[must_use]
    pub fn settings(&self) -> Values {
        let settings = self.permissions.mesh_settings.as_ref();
        settings.map(MeshSettings::observe).unwrap_or_default()
    }

    /// Version of the firmware, of a machine whose firmware the gateway installs.
    #[must_use]
    pub fn firmware_version(&self) -> Option<String> {
        self.permissions.firmware.as_ref()?.version()
    }

    /// Image and bytes of it that are needed next.
    #[must_use]
    pub fn wanted_firmware(&self) -> Option<(Uuid, Range<u64>)> {
        self.permissions.firmware.as_ref()?.wanted()
    }

    /// Takes bytes that were wanted; the command that this finishes.
    pub fn take_firmware(&mut self, bytes: &[u8]) -> Option<Finished> {
        self.permissions.firmware.as_mut()?.take(bytes)
    }

    /// Gives a wanted image up; the command that this finishes.
    pub fn give_firmware_up(&mut self, why: &str) -> Option<Finished> {
        self.permissions.firmware.as_mut()?.give_up(why)
    }

    /// The command whose installation has ended.
    pub fn installed(&mut self) -> Option<Finished> {
        self.permissions.firmware.as_mut()?.ended()
    }

    /// The gateway acknowledged a heartbeat: the command that this finishes.
    pub fn confirm(&mut self) -> Option<Finished> {
        self.permissions.mesh_settings.as_mut()?.confirm()
    }

    /// The command whose time for a confirmation is over at `now_ms`, a monotonic time.
    pub fn expire(&mut self, now_ms: u64) -> Option<Finished> {
        self.permissions.mesh_settings.as_mut()?.expire(now_ms)
    }

    /// Restarts the machine.
    ///
    /// # Errors
    /// Without permission, and those of the system.
    pub fn reboot(&self) -> std::io::Result<()> {
        let permission =
            self.permissions.reboot.as_ref().ok_or(std::io::ErrorKind::PermissionDenied)?;
        permission.start()
    }

    /// Carries out a node command at `now_ms`, a monotonic time; `None` when it was before, and while it
    /// awaits a confirmation.
    pub fn execute(
        &mut self,
        command_id: Uuid,
        kind: &str,
        args: &BTreeMap<String, String>,
        (host, sensors): (&HostState, &Sensors),
        now_ms: u64,
    ) -> Option<Finished> {
        if self.recent.contains(&command_id) {
            return None;
        }
        if self.recent.len() >= REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(command_id);
        if let ("configure", Some(settings)) = (kind, &mut self.permissions.mesh_settings) {
            return settings.begin(command_id, args, now_ms);
        }
        if let ("firmware", Some(firmware)) = (kind, &mut self.permissions.firmware) {
            return firmware.begin(command_id, args);
        }
        let (done, output, follow_up) = match kind {
            "echo" => (true, echo(args), FollowUp::Nothing),
            "look" => reported(Ok(host)),
            "gpio" => reported(GpioLines::default().inventory().map_err(|err| err.to_string())),
            "i2c_scan" => reported(scanned(args, sensors)),
            "renew_token" => (true, String::new(), FollowUp::RenewToken),
            "reboot" if self.permissions.reboot.is_some() => {
                (true, "process 1 is asked to restart the machine".to_owned(), FollowUp::Reboot)
            }
            _ => (false, format!("known are {}", self.supported().join(", ")), FollowUp::Nothing),
        };
        Some(Finished { command_id, done, output: cut(output), follow_up })
    }
}

/// Outcome of a node command that reports a document.
fn reported<T: Serialize>(result: Result<T, String>) -> (bool, String, FollowUp) {
    let text =
        result.and_then(|result| serde_json::to_string(&result).map_err(|err| err.to_string()));
    match text {
        Ok(text) => (true, text, FollowUp::Nothing),
        Err(why) => (false, why, FollowUp::Nothing),
    }
}

/// Devices of the bus that the arguments name.
fn scanned(
    args: &BTreeMap<String, String>,
    sensors: &Sensors,
) -> Result<Vec<ScannedDevice>, String> {
    let bus = args.get("bus").map_or("", String::as_str);
    let number =
        bus.parse().map_err(|_| format!("invalid bus: found {bus:?}, allowed a number"))?;
    let reserved = args.get("reserved").is_some_and(|word| word == "true");
    sensors.scan(number, reserved)
}

fn echo(args: &BTreeMap<String, String>) -> String {
    let pairs: Vec<String> = args.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("\n")
}

/// At most what the gateway takes, cut between two characters.
fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(OUTPUT_BYTES_MAX));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_words_are_done_once_and_others_never() {
        let mut commands = NodeCommands::default();
        let host = HostState::default();
        let sensors = Sensors::default();
        let args = BTreeMap::from([("text".to_owned(), "ä".repeat(20_000))]);
        let id = |at: u128| Uuid::from_u128(at);
        let outcome = commands.execute(id(1), "echo", &args, (&host, &sensors), 0).unwrap();
        assert!(
            outcome.done
                && outcome.output.len() <= OUTPUT_BYTES_MAX
                && outcome.output.starts_with("text=ä")
        );
        assert_eq!(commands.execute(id(1), "echo", &args, (&host, &sensors), 0), None);
        let shell = commands.execute(id(2), "sh", &args, (&host, &sensors), 0).unwrap();
        assert!(!shell.done && shell.output.contains("echo"));
        // Not permitted, so not supported.
        let reboot = commands.execute(id(6), "reboot", &args, (&host, &sensors), 0);
        assert_eq!(reboot.unwrap().follow_up, FollowUp::Nothing);
        assert!(!commands.supported().contains(&"reboot") && commands.reboot().is_err());
        let bus = BTreeMap::from([("bus".to_owned(), "900".to_owned())]);
        let scan = commands.execute(id(4), "i2c_scan", &bus, (&host, &sensors), 0).unwrap();
        assert!(!scan.done && scan.output.contains("/dev/i2c-900 is absent"));
        let scan = commands.execute(id(5), "i2c_scan", &args, (&host, &sensors), 0);
        assert!(scan.unwrap().output.contains("invalid bus"));
        assert_eq!(
            commands.execute(id(3), "renew_token", &args, (&host, &sensors), 0).unwrap().follow_up,
            FollowUp::RenewToken
        );
        for at in 10..200 {
            assert!(commands.execute(id(at), "echo", &args, (&host, &sensors), 0).is_some());
        }
        assert_eq!(commands.recent.len(), REMEMBERED);
    }
}
