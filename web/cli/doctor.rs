//! `doctor`: abilities of this machine, and ways to those it lacks.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use clap::Args;
use groundwave_http::Failure;
use groundwave_setup::terrain::TerrainOptions;
use serde::Serialize;

use super::output::{self, Output};

const EXAMPLES: &str = "\
Examples:
  groundwave doctor
  groundwave doctor --json | jq '.[] | select(.state == \"missing\").remedy'";

/// Show what this machine can do, and how to get the rest
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Doctor {}

/// State of an ability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// There.
    Met,
    /// Not there.
    Missing,
}

/// An ability of the machine.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// Name.
    pub ability: &'static str,
    /// Commands that need it.
    pub commands: &'static str,
    state: State,
    /// Facts that the state rests on.
    facts: String,
    /// Way to it; absent where it is met.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Finding {
    /// True if the ability is there.
    pub fn is_met(&self) -> bool {
        self.state == State::Met
    }

    fn new(
        ability: &'static str,
        commands: &'static str,
        is_met: bool,
        facts: String,
        remedy: &str,
    ) -> Self {
        let (state, remedy) = match is_met {
            true => (State::Met, None),
            false => (State::Missing, Some(remedy.to_owned())),
        };
        Self { ability, commands, state, facts, remedy }
    }
}

impl Doctor {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let findings = findings();
        if output.json {
            return output.json(&findings);
        }
        let mut text = String::new();
        for finding in &findings {
            let state = match finding.is_met() {
                true => output::heading("yes"),
                false => output::warning("no "),
            };
            text += &format!("{state}  {}: {}\n", finding.ability, finding.facts);
            if let Some(remedy) = &finding.remedy {
                let commands = finding.commands;
                text += &format!("     {}\n", output::faint(&format!("for {commands}: {remedy}")));
            }
        }
        output.text(&text)
    }
}

/// All abilities in the order of the documentation.
pub fn findings() -> Vec<Finding> {
    vec![terrain(), page(), rights(), shaping(), namespaces(), tunnel(), routing(), gpu()]
}

fn terrain() -> Finding {
    const COMMANDS: &str = "links and coverage over real ground";
    const REMEDY: &str =
        "groundwave terrain fetch LAT,LON --radius-km 30, or --srtm-dir with a folder of tiles";
    match TerrainOptions::default().open() {
        Ok(ground) => {
            let tiles = ground.supplying().len();
            let geoid = if ground.terrain.has_geoid() { "with" } else { "without" };
            let facts = format!("{}, {geoid} geoid", ground.terrain.describe().name);
            Finding::new("terrain", COMMANDS, tiles > 0, facts, REMEDY)
        }
        Err(failure) => Finding::new("terrain", COMMANDS, false, text(&failure), REMEDY),
    }
}

fn text(failure: &Failure) -> String {
    match failure {
        Failure::Input(what) | Failure::Machine(what) => what.clone(),
        Failure::Exit { message, .. } => message.clone(),
        Failure::BrokenPipe => "broken pipe".to_owned(),
    }
}

fn page() -> Finding {
    let has_display =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let opener = program("xdg-open").or_else(|| program("open"));
    let facts = match (&opener, has_display) {
        (Some(_), true) => "a browser can be opened".to_owned(),
        (None, true) => "no xdg-open".to_owned(),
        (_, false) => "no display".to_owned(),
    };
    let remedy =
        "open the address that `groundwave demo --no-browser` prints, here or through `ssh -L`";
    Finding::new("browser", "demo", opener.is_some() && has_display, facts, remedy)
}

/// Effective capabilities, a mask; 0 where the kernel shows none.
fn capabilities() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

const NET_ADMIN: u64 = 1 << 12;
const SYS_ADMIN: u64 = 1 << 21;

fn rights() -> Finding {
    let mask = capabilities();
    let mut names = Vec::new();
    for (bit, name) in [(NET_ADMIN, "CAP_NET_ADMIN"), (SYS_ADMIN, "CAP_SYS_ADMIN")] {
        if mask & bit != 0 {
            names.push(name);
        }
    }
    let is_met = mask & NET_ADMIN != 0;
    let facts = if names.is_empty() { "no capability".to_owned() } else { names.join(", ") };
    let remedy = "run as root, or install the package, whose units have the capabilities they need";
    Finding::new("rights", "impaird, testbed, gateway tunnel, agent", is_met, facts, remedy)
}

/// Parts of the kernel that are modules of their own, with a function of each that the kernel lists where it is
/// built in: without folders of modules nothing else shows it.
const SYMBOLS: [(&str, &str); 6] = [
    ("sch_netem", "netem_enqueue"),
    ("sch_tbf", "tbf_enqueue"),
    ("veth", "veth_xmit"),
    ("bridge", "br_handle_frame"),
    ("wireguard", "wg_xmit"),
    ("batman_adv", "batadv_interface_tx"),
];

/// Parts of the kernel that are loaded, built in or can be loaded.
fn kernel_parts() -> &'static BTreeSet<&'static str> {
    static PARTS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
        let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
        let release = read(Path::new("/proc/sys/kernel/osrelease"));
        let folder = Path::new("/lib/modules").join(release.trim());
        let lists = ["modules.builtin", "modules.dep"].map(|list| read(&folder.join(list)));
        let symbols = read(Path::new("/proc/kallsyms"));
        let words: BTreeSet<&str> =
            symbols.lines().filter_map(|line| line.split_ascii_whitespace().nth(2)).collect();
        let is_there = |(name, symbol): &(&str, &str)| {
            // Files have dashes where names have underscores, or not.
            let files = [format!("/{name}.ko"), format!("/{}.ko", name.replace('_', "-"))];
            Path::new("/sys/module").join(name).exists()
                || words.contains(symbol)
                || lists.iter().any(|list| files.iter().any(|file| list.contains(file)))
        };
        SYMBOLS.iter().filter(|part| is_there(part)).map(|(name, _)| *name).collect()
    });
    &PARTS
}

/// True if the kernel has all of `names`, and the facts.
fn modules(names: &[&str]) -> (bool, String) {
    let parts = kernel_parts();
    let absent: Vec<&str> = names.iter().copied().filter(|name| !parts.contains(name)).collect();
    match absent.is_empty() {
        true => (true, names.join(", ")),
        false => (false, format!("no {}", absent.join(", "))),
    }
}

fn shaping() -> Finding {
    let (is_met, facts) = modules(&["sch_netem", "sch_tbf"]);
    let remedy =
        "a kernel with these modules (Debian: apt install linux-image-amd64, not the cloud kernel)";
    Finding::new("shaping", "impaird, testbed", is_met, facts, remedy)
}

fn namespaces() -> Finding {
    let (has_veth, facts) = modules(&["veth", "bridge"]);
    let has_namespaces = Path::new("/proc/self/ns/net").exists();
    let facts = if has_namespaces { facts } else { "no network namespaces".to_owned() };
    let remedy = "a kernel with network namespaces, veth and bridge";
    Finding::new("namespaces", "testbed", has_veth && has_namespaces, facts, remedy)
}

fn tunnel() -> Finding {
    let (is_met, facts) = modules(&["wireguard"]);
    let remedy = "a kernel from 5.6 on with wireguard, or --tunnel off";
    Finding::new("tunnel", "serve gateway, agent", is_met, facts, remedy)
}

fn routing() -> Finding {
    let names = ["babeld", "batctl"];
    let absent: Vec<_> = names.into_iter().filter(|name| program(name).is_none()).collect();
    let (has_batman, modules) = modules(&["batman_adv"]);
    let facts = match absent.is_empty() {
        true => modules,
        false => format!("no {}; {modules}", absent.join(", ")),
    };
    let remedy = "Debian: apt install babeld batctl";
    Finding::new("routing", "testbed with routing", absent.is_empty() && has_batman, facts, remedy)
}

fn gpu() -> Finding {
    let drivers = std::fs::read_dir("/usr/share/vulkan/icd.d").map_or(0, Iterator::count);
    let is_built = cfg!(feature = "gpu");
    let facts = match (is_built, drivers) {
        (false, _) => "this program has no GPU engine; the processor computes".to_owned(),
        (true, 0) => "no Vulkan driver".to_owned(),
        (true, count) => format!("{count} Vulkan drivers"),
    };
    let remedy = "build with --features gpu and install a Vulkan driver; see docs/gpu.md";
    Finding::new("gpu", "sweep --engine gpu", is_built && drivers > 0, facts, remedy)
}

/// Path of a program, on the PATH or in the folders of system programs.
fn program(name: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(Into::into));
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}
