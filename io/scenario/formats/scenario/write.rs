//! Writer of plans.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use groundwave_model::link::Probe;
use groundwave_model::radio::{Antenna, Environment, Indoor, Pointing, Radio, Role, Surroundings};
use groundwave_model::terrain::{GeoPoint, TileId};
use groundwave_simulation::deployment::Region;
use groundwave_toml_document::limits::FILE_BYTES_MAX;
use serde::Serialize;
use uuid::Uuid;

use super::super::dataset::Dataset;
use super::super::error::Fault;
use super::super::plan::{PlanFile, PlanNode, flat, unwritable};
use super::FORMAT;
use crate::limits::{NAME_CHARS_MAX, TILES_MAX};

/// Settings of the run besides its title.
pub(in super::super) struct Head {
    /// Date and time of second 0, RFC 3339.
    pub(in super::super) begin: Option<String>,
    /// Time between ticks, s, where it is not the default.
    pub(in super::super) step_s: Option<f64>,
    /// Length of the run, s.
    pub(in super::super) duration_s: f64,
    /// Settings of links, where one is not the default.
    pub(in super::super) mesh: Option<Mesh>,
    /// When each node is there; nodes beyond the end of the list are there throughout.
    pub(in super::super) stays: Vec<Stay>,
}

/// Settings of links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(in super::super) struct Mesh {
    #[serde(skip_serializing_if = "Option::is_none")]
    link_range_max_m: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    update_distance_m: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probe: Option<Probe>,
}

impl Mesh {
    /// The settings of a recording; `None` where all are defaults.
    pub(in super::super) fn of(dataset: &Dataset) -> Option<Self> {
        let update_distance_m = Some(dataset.update_distance_m).filter(|m| *m > 0.0);
        let mesh =
            Self { link_range_max_m: dataset.range_m, update_distance_m, probe: dataset.probe };
        (mesh != Self::default()).then_some(mesh)
    }
}

/// When a node is there, s; absent ends are those of the run.
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) struct Stay {
    pub(in super::super) from_s: Option<f64>,
    pub(in super::super) until_s: Option<f64>,
}

/// The run of a plan, in which nothing moves: its length is arbitrary.
const PLAN: Head =
    Head { begin: None, step_s: None, duration_s: 60.0, mesh: None, stays: Vec::new() };

/// Title of a deployment whose name is blank.
const TITLE_DEFAULT: &str = "Deployment";

/// Writes `plan`.
/// The largest scenario file holds some 80,000 nodes.
pub(in super::super) fn write(plan: &PlanFile, out: &mut dyn Write) -> io::Result<()> {
    plan.writable(&FORMAT)?;
    let (text, _) = text(plan, PLAN)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        let actual = format!("{} bytes with {} nodes", text.len(), plan.nodes.len());
        let allowed = format!("up to {FILE_BYTES_MAX} bytes");
        return Err(unwritable(&FORMAT, Fault::new("", actual, allowed)));
    }
    out.write_all(text.as_bytes())
}

/// The text of a scenario of `plan`, and the names of its nodes in it.
pub(in super::super) fn text(plan: &PlanFile, head: Head) -> io::Result<(String, Vec<String>)> {
    let file = File::of(plan, head)?;
    let text = tiles(plan) + &toml::to_string(&file).map_err(io::Error::other)?;
    Ok((text, file.node.into_iter().map(|node| node.name).collect()))
}

#[derive(Serialize)]
struct File<'p> {
    scenario: Header<'p>,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<Settings<'p>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mesh: Option<Mesh>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deployment: Option<Section<'p>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    radio: Vec<Preset<&'p Radio>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    antenna: Vec<Preset<&'p Antenna>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    node: Vec<Node<'p>>,
}

/// Propagation settings. Where the document names no path-loss model, neither does the scenario: its model
/// is the default of its ground.
#[derive(Serialize)]
#[serde(untagged)]
enum Settings<'p> {
    Whole(&'p Environment),
    WithoutModel(toml::Table),
}

impl<'p> Settings<'p> {
    /// Settings of a plan; `None` where all are defaults.
    fn of(plan: &'p PlanFile) -> io::Result<Option<Self>> {
        let environment = &plan.outline.environment;
        if plan.names_model {
            return Ok(Some(Self::Whole(environment)));
        }
        if *environment == Environment::default() {
            return Ok(None);
        }
        let mut table = toml::Table::try_from(environment).map_err(io::Error::other)?;
        table.remove("model");
        Ok(Some(Self::WithoutModel(table)))
    }
}

#[derive(Serialize)]
struct Header<'p> {
    title: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    begin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step_s: Option<f64>,
    duration_s: f64,
}

#[derive(Serialize)]
struct Section<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    center: Option<GeoPoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<&'p Region>,
}

/// A preset of the file.
#[derive(Serialize)]
struct Preset<T> {
    id: String,
    #[serde(flatten)]
    settings: T,
}

#[derive(Serialize)]
struct Node<'p> {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'p str>,
    role: Role,
    lat_deg: f64,
    lon_deg: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height_agl_m: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height_msl_m: Option<f64>,
    radio: String,
    antenna: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pointing: Option<Pointing>,
    #[serde(skip_serializing_if = "Surroundings::is_unknown")]
    surroundings: Surroundings,
    #[serde(skip_serializing_if = "Indoor::is_outdoors")]
    indoor: Indoor,
    #[serde(skip_serializing_if = "Option::is_none")]
    woodland_depth_m: Option<f64>,
}

impl<'p> File<'p> {
    fn of(plan: &'p PlanFile, head: Head) -> io::Result<Self> {
        let Head { begin, step_s, duration_s, mesh, stays } = head;
        let outline = &plan.outline;
        let blank = outline.name.trim().is_empty();
        let title = if blank { TITLE_DEFAULT } else { &outline.name };
        let deployment = Section {
            name: blank.then_some(outline.name.as_str()),
            center: outline.center,
            region: outline.region.as_ref(),
        };
        let says = blank || deployment.center.is_some() || deployment.region.is_some();
        let mut radios = Presets::new("radio");
        let mut antennas = Presets::new("antenna");
        let mut names = Names::default();
        let mut node = |(index, node): (usize, &'p PlanNode)| {
            let station = &node.station;
            let stay = stays.get(index).copied().unwrap_or_default();
            let name = names.of(node);
            Node {
                label: (name != node.name).then_some(node.name.as_str()),
                name,
                role: node.role,
                lat_deg: node.position.lat_deg(),
                lon_deg: node.position.lon_deg(),
                at_s: stay.from_s,
                until_s: stay.until_s,
                height_agl_m: node.height_msl_m.is_none().then_some(station.height_agl_m),
                height_msl_m: node.height_msl_m,
                radio: radios.id(&station.radio, flat::radio_preset(&station.radio)),
                antenna: antennas.id(&station.antenna, flat::antenna_preset(&station.antenna)),
                pointing: station.pointing,
                surroundings: station.surroundings,
                indoor: station.indoor,
                woodland_depth_m: station.is_in_woodland().then_some(station.woodland_depth_m),
            }
        };
        let nodes = plan.nodes.iter().enumerate().map(&mut node).collect();
        Ok(Self {
            scenario: Header { title, begin, step_s, duration_s },
            environment: Settings::of(plan)?,
            mesh,
            deployment: says.then_some(deployment),
            radio: radios.list,
            antenna: antennas.list,
            node: nodes,
        })
    }
}

/// The presets of the file, each of its settings once.
struct Presets<'p, T> {
    kind: &'static str,
    /// Ids by the settings as JSON, which differs where one bit of a value does.
    ids: BTreeMap<String, String>,
    list: Vec<Preset<&'p T>>,
}

impl<'p, T: Serialize> Presets<'p, T> {
    fn new(kind: &'static str) -> Self {
        Self { kind, ids: BTreeMap::new(), list: Vec::new() }
    }

    /// The id of `settings`: that of the built-in preset they are, or of one of the file.
    fn id(&mut self, settings: &'p T, built_in: Option<&'static str>) -> String {
        if let Some(id) = built_in {
            return id.to_owned();
        }
        // Plain structs of numbers always convert.
        let key = serde_json::to_string(settings).unwrap_or_default();
        let list = &mut self.list;
        let new = || {
            let id = format!("{}-{}", self.kind, list.len() + 1);
            list.push(Preset { id: id.clone(), settings });
            id
        };
        self.ids.entry(key).or_insert_with(new).clone()
    }
}

/// Names of scenario nodes: unique, of few characters.
#[derive(Default)]
struct Names {
    names: BTreeSet<String>,
    /// The number last tried after a name that was taken.
    tried: BTreeMap<String, usize>,
}

impl Names {
    /// The id of the node, or a unique name made of its own.
    fn of(&mut self, node: &PlanNode) -> String {
        if let Some(id) = node.id {
            return id.to_string();
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let plain: String = node.name.chars().map(|c| if allowed(c) { c } else { '-' }).collect();
        let plain = plain.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let stem = match plain {
            "" => "node".to_owned(),
            id if Uuid::try_parse(id).is_ok() => format!("node-{id}"),
            plain => plain.to_owned(),
        };
        if self.names.insert(stem.clone()) {
            return stem;
        }
        let tried = self.tried.entry(stem.clone()).or_insert(1);
        loop {
            *tried += 1;
            let end = format!("-{tried}");
            let room = stem.len().min(NAME_CHARS_MAX - end.len());
            let name = format!("{}{end}", &stem[..room]);
            if self.names.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// The comment about elevation tiles.
fn tiles(plan: &PlanFile) -> String {
    let tile =
        |node: &PlanNode| TileId::containing(node.position.lat_deg(), node.position.lon_deg());
    let tiles: BTreeSet<TileId> = plan.nodes.iter().filter_map(tile).collect();
    let mut text = "# Say what the ground is: elevation tiles, or flat_msl_m. Without either, links say that it is\n# not known.\n".to_owned();
    if (1..=TILES_MAX).contains(&tiles.len()) {
        let names: Vec<String> = tiles.iter().map(|tile| format!("\"{tile}\"")).collect();
        text += "# These lie under the nodes:\n# [terrain]\n# tiles = [";
        text += &names.join(", ");
        text += "]\n";
    }
    text + "\n"
}
