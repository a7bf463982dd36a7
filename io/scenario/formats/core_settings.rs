//! Settings of scenarios of CORE that a recording has a place for: links with their impairments, the range of a
//! WLAN, radios of EMANE, mobility scripts. The others are named in notes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use groundwave_simulation::measure::Measured;

use super::dataset::{Dataset, Event};
use super::error::{FormatError, Location, quoted};
use super::plane::Canvas;
use super::stated::Stated;
use super::{ReadOptions, Source, ns2};
use crate::setdest::Dialect;

/// A link between two objects, as a document has it.
#[derive(Debug, Default, Clone)]
pub(super) struct Link {
    /// Ids of its ends.
    pub ends: [String; 2],
    /// From the first end to the second: bandwidth, bit/s, and loss, percent.
    pub forward: [Option<f64>; 2],
    /// The other direction; `None` for that of [`Self::forward`].
    pub backward: Option<[Option<f64>; 2]>,
    /// Only the first direction is impaired.
    pub is_unidirectional: bool,
    /// Names of other impairments.
    pub others: BTreeSet<&'static str>,
    /// Line of the document.
    pub line: usize,
}

/// Settings of networks and nodes, by model and by key.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// Ids of networks, beside those of stations.
    pub networks: BTreeSet<String>,
    /// Links.
    pub links: Vec<Link>,
    /// Values of a model (`basic_range`, `ns2script`, `emane_rfpipe`) of a network or node, with the first line.
    pub models: Vec<Model>,
}

/// Values of a model of a network or node.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// Id of the network or node.
    pub of: String,
    /// Name of the model.
    pub name: String,
    /// Values by their names.
    pub values: BTreeMap<String, String>,
    /// Line of the document.
    pub line: usize,
}

impl Model {
    /// A number, with the endings k, M and G of EMANE.
    fn number(&self, key: &str) -> Option<f64> {
        let text = self.values.get(key)?.trim();
        let (digits, factor) = match text.as_bytes().last()? {
            b'k' | b'K' => (&text[..text.len() - 1], 1e3),
            b'M' => (&text[..text.len() - 1], 1e6),
            b'G' => (&text[..text.len() - 1], 1e9),
            _ => (text, 1.0),
        };
        let number = digits.parse::<f64>().ok().filter(|number| number.is_finite());
        number.map(|number| number * factor)
    }

    /// The radio of an EMANE model.
    fn radio(&self) -> Stated {
        let is_fixed = self.values.get("fixedantennagainenable").is_none_or(|text| text != "0");
        Stated {
            frequency_mhz: self.number("frequency").map(|hz| hz / 1e6),
            bandwidth_hz: self.number("bandwidth"),
            tx_power_dbm: self.number("txpower"),
            gain_dbi: self.number("fixedantennagain").filter(|_| is_fixed),
            ..Stated::default()
        }
    }
}

/// Values of `basic_range` beside its range.
const WLAN_VALUES: [&str; 4] = ["bandwidth", "delay", "jitter", "error"];

impl Settings {
    /// Takes the settings into a dataset whose nodes have the ids of the document as keys. Positions of mobility
    /// scripts are those of `canvas`; scripts are in the folder of `source`.
    ///
    /// # Errors
    /// A mobility script with numbers with a decimal comma.
    pub fn take(
        self,
        dataset: &mut Dataset,
        canvas: Option<Canvas>,
        source: &Source,
        options: &ReadOptions,
    ) -> Result<(), FormatError> {
        for link in &self.links {
            link.take(dataset);
        }
        // Settings of the program have no name.
        for model in self.models.iter().filter(|model| !model.name.is_empty()) {
            match model.name.as_str() {
                "basic_range" => range(model, canvas, dataset),
                "ns2script" => script(model, canvas, source, dataset)?,
                name if name.starts_with("emane") => self.radio(model, dataset, options),
                name => {
                    let what = format!("settings of {}: not used", quoted(name));
                    dataset.drop(&what, model.line);
                }
            }
        }
        Ok(())
    }

    /// Takes the radio of a node, or of all nodes of a network that have none of their own.
    fn radio(&self, model: &Model, dataset: &mut Dataset, options: &ReadOptions) {
        let members: BTreeSet<&str> = match self.networks.contains(&model.of) {
            false => BTreeSet::from([model.of.as_str()]),
            true => {
                let links = self.links.iter().filter(|link| link.ends.contains(&model.of));
                links.flat_map(|link| &link.ends).map(String::as_str).collect()
            }
        };
        let Some(station) = model.radio().station(&options.station) else {
            let what = format!("settings of {} without a radio: not used", quoted(&model.name));
            return dataset.drop(&what, model.line);
        };
        for id in members {
            let index = dataset.index.get(id).copied();
            let node = index.and_then(|index| dataset.nodes.get_mut(index as usize));
            if let Some(node) = node {
                node.station.get_or_insert_with(|| station.clone());
            }
        }
        let what = format!(
            "the MAC and propagation model of {}: not used, frequency, bandwidth, power and gain are",
            quoted(&model.name)
        );
        dataset.drop(&what, model.line);
    }
}

impl Link {
    /// Takes the values of a link between two stations as measured at second 0; a link to a network has none.
    fn take(&self, dataset: &mut Dataset) {
        dataset.links += 1;
        if !self.others.is_empty() {
            let others: Vec<&str> = self.others.iter().copied().collect();
            let what = format!("{} of a link: not used, loss and bandwidth are", others.join(", "));
            dataset.drop(&what, self.line);
        }
        let node = |id: &String| dataset.index.get(id).copied();
        let (Some(from), Some(to)) = (node(&self.ends[0]), node(&self.ends[1])) else {
            if self.forward != [None; 2] {
                dataset.drop("impairments of a link to a network: not used", self.line);
            }
            return;
        };
        let backward = match (self.is_unidirectional, self.backward) {
            (true, _) => [None; 2],
            (false, own) => own.unwrap_or(self.forward),
        };
        for (from, to, [bandwidth_bps, loss_percent]) in
            [(from, to, self.forward), (to, from, backward)]
        {
            let values = Measured {
                // A bandwidth of 0 is one without a bound.
                rate_bps: bandwidth_bps.filter(|bps| *bps > 0.0),
                delivery_prob: loss_percent
                    .filter(|percent| (0.0..=100.0).contains(percent))
                    .map(|percent| 1.0 - percent / 100.0),
                ..Measured::default()
            };
            if loss_percent.is_some() && values.delivery_prob.is_none() {
                dataset.drop("a loss beyond 0 to 100 percent: not used", self.line);
            }
            if values.is_empty() {
                continue;
            }
            match values.validate() {
                Ok(()) => dataset.event(0.0, Event::Observe(from, to, values), self.line),
                Err(_) => dataset.drop("a bandwidth out of range: not used", self.line),
            }
        }
    }
}

/// Takes the range of a WLAN: no link is longer. It is one of the canvas, in pixels.
fn range(model: &Model, canvas: Option<Canvas>, dataset: &mut Dataset) {
    let range_px = model.number("range").filter(|range| *range > 0.0);
    match range_px.zip(canvas) {
        Some((range_px, canvas)) => {
            let range_m = range_px * canvas.scale_m / 100.0;
            let widest_m = dataset.range_m.map_or(range_m, |other_m| other_m.max(range_m));
            dataset.range_m = Some(widest_m);
        }
        None => {
            dataset.drop("a range of a WLAN without the scale of the canvas: not used", model.line)
        }
    }
    let others: Vec<&str> =
        WLAN_VALUES.into_iter().filter(|key| model.values.contains_key(*key)).collect();
    if !others.is_empty() {
        let what = format!(
            "{} of a WLAN: not used, the model computes the links of its stations",
            others.join(", ")
        );
        dataset.drop(&what, model.line);
    }
}

/// Numbers of nodes by those of a mobility script, of its value `map`: `0:1,1:2`.
fn map_of_nodes(model: &Model, dataset: &mut Dataset) -> BTreeMap<u32, u32> {
    let text = model.values.get("map").map_or("", String::as_str);
    let mut map = BTreeMap::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let numbers = pair.split_once(':');
        let number = |text: &str| text.trim().parse::<u32>().ok();
        match numbers.and_then(|(from, to)| number(from).zip(number(to))) {
            Some((from, to)) => {
                map.insert(from, to);
            }
            None => {
                let what = format!("a pair of nodes {}: allowed FROM:TO", quoted(pair));
                dataset.drop(&what, model.line);
            }
        }
    }
    map
}

/// Takes the motion of a script of ns-2 beside the document, by the numbers of nodes.
fn script(
    model: &Model,
    canvas: Option<Canvas>,
    source: &Source,
    dataset: &mut Dataset,
) -> Result<(), FormatError> {
    let Some(name) = model.values.get("file").filter(|name| !name.is_empty()) else {
        return Ok(());
    };
    // Scripts of other machines have paths of those.
    let name = Path::new(name).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let what = |reason: &str| format!("the mobility script {}: {reason}", quoted(&name));
    let Some(folder) = &source.folder else {
        dataset.drop(&what("not read, files are named by their folder only"), model.line);
        return Ok(());
    };
    let path = folder.join(&name);
    let motion = match Source::open(&path) {
        Ok(motion) if path.is_file() => motion,
        _ => {
            dataset.drop(&what("not found beside the document"), model.line);
            return Ok(());
        }
    };
    let Some(canvas) = canvas else {
        dataset.drop(&what("not used, the document has no origin of its canvas"), model.line);
        return Ok(());
    };
    if model.number("loop").is_some_and(|is_looped| is_looped != 0.0) {
        dataset.drop(&what("played once, not again and again"), model.line);
    }
    let keys: BTreeSet<String> = dataset.index.keys().cloned().collect();
    let map = map_of_nodes(model, dataset);
    let key = |number: u32| {
        let number = map.get(&number).copied().unwrap_or(number);
        let names = [number.to_string(), format!("n{number}")];
        names.into_iter().find(|name| keys.contains(name)).unwrap_or(number.to_string())
    };
    let place = ns2::Place {
        position: &|x_px, y_px| canvas.position((x_px, y_px)),
        key: &key,
        unit_m: canvas.scale_m / 100.0,
        // Nodes are at their starts before the script begins.
        start_s: 0.0,
        begin_s: model.number("autostart").unwrap_or(0.0).max(0.0),
        dialect: Some(Dialect::Core),
    };
    let heights = ns2::take(motion.bytes(), &place, dataset)?;
    dataset.heights_above_plane(heights);
    dataset.report.add(&what("its motion is read"), || Location::line(model.line));
    Ok(())
}
