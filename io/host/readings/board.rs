//! The board: what a device tree or a firmware's tables call it.

use groundwave_files::Root;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Source of the board's properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BoardSource {
    /// A device tree.
    DeviceTree,
    /// The tables of a PC's firmware (DMI).
    Dmi,
    /// No source.
    Unknown,
}

/// The board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SystemBoard")]
pub struct Board {
    /// Model of the board, for example `Raspberry Pi 3 Model B`.
    pub model: Option<String>,
    /// Compatible strings of the device tree, the most specific first; empty without a device tree.
    pub compatible: Vec<String>,
    /// Revision of the board.
    pub revision: Option<String>,
    /// Serial number of the board.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// Source of these values.
    pub source: BoardSource,
}

/// Looks at the board.
#[must_use]
pub fn read(root: &Root) -> Board {
    let tree = "proc/device-tree";
    let compatible = root.bytes(&format!("{tree}/compatible")).unwrap_or_default();
    if let Some(model) = root.line(&format!("{tree}/model")) {
        return Board {
            model: Some(model),
            compatible: names(&compatible),
            revision: revision(root),
            serial: root.line(&format!("{tree}/serial-number")),
            source: BoardSource::DeviceTree,
        };
    }
    let dmi = |name: &str| root.line(&format!("sys/class/dmi/id/{name}"));
    let model = match (dmi("sys_vendor"), dmi("product_name")) {
        (Some(vendor), Some(name)) => Some(format!("{vendor} {name}")),
        (vendor, name) => name.or(vendor),
    };
    Board {
        source: if model.is_some() { BoardSource::Dmi } else { BoardSource::Unknown },
        model,
        compatible: Vec::new(),
        revision: dmi("product_version").or_else(|| dmi("board_version")),
        serial: dmi("product_serial"),
    }
}

/// Names one after the other, each with its NUL.
fn names(bytes: &[u8]) -> Vec<String> {
    let names = bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// Boards of ARM tell it beside the processor.
fn revision(root: &Root) -> Option<String> {
    let text = root.text("proc/cpuinfo").ok()?;
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim_end() == "Revision").then(|| value.trim().to_owned())
    })
}
