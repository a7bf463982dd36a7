//! The format of a document: by its content first, by its ending where that leaves a choice.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;

use super::error::{Fault, FormatError, Location, quoted};
use super::limits::SAMPLE_BYTES;
use super::source::Source;
use super::zipped::ZIP_MAGIC;
use super::{Content, FORMATS, Format};

/// The beginning of a document, as formats look at it.
pub struct Sample<'s> {
    bytes: &'s [u8],
    json: OnceCell<Cow<'s, Value>>,
}

impl<'s> Sample<'s> {
    /// The beginning of `bytes`.
    #[must_use]
    pub fn of(bytes: &'s [u8]) -> Self {
        let json = OnceCell::new();
        Self { bytes, json }
    }

    /// A sample that is a JSON value.
    pub(super) fn of_json(value: &'s Value) -> Self {
        Self { bytes: &[], json: OnceCell::from(Cow::Borrowed(value)) }
    }

    /// All bytes.
    #[must_use]
    pub fn bytes(&self) -> &'s [u8] {
        self.bytes
    }

    /// Up to [`SAMPLE_BYTES`] of text, without a byte order mark; empty for binary data.
    #[must_use]
    pub fn text(&self) -> &'s str {
        let head = &self.bytes[..self.bytes.len().min(SAMPLE_BYTES)];
        let text = match std::str::from_utf8(head) {
            Ok(text) => text,
            // The end of the sample may cut a character.
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => "",
        };
        text.strip_prefix('\u{feff}').unwrap_or(text)
    }

    /// Lines of the sample that are neither empty nor comments.
    pub fn lines(&self) -> impl Iterator<Item = &'s str> + Clone {
        let lines = self.text().lines().map(str::trim);
        lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
    }

    /// The first JSON value; null where there is none.
    #[must_use]
    pub fn json(&self) -> &Value {
        self.json.get_or_init(|| {
            let begin = self.bytes.iter().find(|byte| !byte.is_ascii_whitespace());
            if !matches!(begin, Some(b'{' | b'[')) {
                return Cow::Owned(Value::Null);
            }
            let mut values = serde_json::Deserializer::from_slice(self.bytes).into_iter();
            Cow::Owned(values.next().and_then(Result::ok).unwrap_or_default())
        })
    }

    /// Local name of the root element of an XML document; empty for anything else.
    #[must_use]
    pub fn xml_root(&self) -> String {
        let mut reader = Reader::from_str(self.text());
        loop {
            match reader.read_event() {
                Ok(Event::Start(start) | Event::Empty(start)) => {
                    return start.local_name().as_ref().to_owned();
                }
                Ok(Event::Text(text)) if !text.trim().is_empty() => return String::new(),
                Ok(Event::Eof) | Err(_) => return String::new(),
                Ok(_) => {}
            }
        }
    }
}

/// The format of this name, letter case ignored.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Format> {
    let same = |format: &&Format| format.name.eq_ignore_ascii_case(name);
    FORMATS.into_iter().find(same)
}

/// The first format that `can` do what is needed and has the ending of `path`.
#[must_use]
pub fn by_extension(path: &Path, can: impl Fn(&Format) -> bool) -> Option<&'static Format> {
    FORMATS.into_iter().find(|format| can(format) && format.ends(path))
}

/// Names with endings of the formats that `can` do what is needed, for messages.
#[must_use]
pub fn names(can: impl Fn(&Format) -> bool) -> String {
    let able = FORMATS.into_iter().filter(|format| can(format));
    let named = able.map(|format| match format.extensions {
        [] => format.name.to_owned(),
        endings => format!("{} (.{})", format.name, endings.join(", .")),
    });
    named.collect::<Vec<_>>().join(", ")
}

/// Usual endings of the formats that `can` do what is needed, for messages.
#[must_use]
pub fn extensions(can: impl Fn(&Format) -> bool) -> String {
    let able = FORMATS.into_iter().filter(|format| can(format));
    let endings = able.map(|format| format!(".{}", format.extension()));
    endings.collect::<Vec<_>>().join(", ")
}

/// The format of a document, of a folder that of the first document of a known one. Formats that
/// recognise the content come before others, the ending decides between several; an ending of exactly
/// one format is enough for content of none. Documents of positions alone give way to a recording beside them.
///
/// # Errors
/// Documents of no format, with those that are read.
pub fn identify(source: &Source) -> Result<&'static Format, FormatError> {
    let path_of = |index: usize| source.names.get(index).map(|name| source.path.join(name));
    let is_companion = |index| FORMATS.into_iter().any(|format| source.is_companion(index, format));
    let documents = source.documents.iter().enumerate().filter(|(index, _)| !is_companion(*index));
    let mut by_document = documents.map(|(index, bytes)| {
        identify_one(bytes, &path_of(index).unwrap_or_else(|| source.path.clone()))
    });
    let first = by_document.next().unwrap_or_else(|| identify_one(&[], &source.path));
    let first = first.or_else(|error| by_document.find_map(Result::ok).ok_or(error))?;
    let is_recording = |format: &Format| {
        let is_one = format.holds(Content::Tracks) || format.holds(Content::Measurements);
        is_one && !SETUPS.contains(&format.name)
    };
    let is_better = |other: &Format| match is_recording(first) {
        true => (first.name, other.name) == MAP_AND_GRAPH,
        false => is_recording(other),
    };
    if is_recording(first) && first.name != MAP_AND_GRAPH.0 {
        return Ok(first);
    }
    let mut others = by_document.take(DOCUMENTS_MAX).filter_map(Result::ok);
    Ok(others.find(|other| is_better(other)).unwrap_or(first))
}

/// Documents behind the first of a folder that are looked at for a recording.
const DOCUMENTS_MAX: usize = 100;

/// Setups of emulations, which give way to recordings of them.
const SETUPS: [&str; 2] = ["core", "imn"];

/// A map of nodes and the graph of its links: the reader of the graph takes both.
const MAP_AND_GRAPH: (&str, &str) = ("meshviewer", "ffmap");

fn identify_one(bytes: &[u8], path: &Path) -> Result<&'static Format, FormatError> {
    let sample = Sample::of(bytes);
    if let Some(format) = FORMATS.into_iter().find(|format| format.has_companion(path)) {
        let allowed = format!(
            "that of the site, .{} of the same name, with which it is read",
            format.extension()
        );
        let actual = format!("a file beside that of a {}", format.label);
        return Err(Fault::new("format", actual, allowed).unidentified(Location::path("format")));
    }
    let reading = || FORMATS.into_iter().filter(|format| format.read.is_some());
    let formats: Vec<&Format> = reading().filter(|format| (format.sniff)(&sample)).collect();
    let ends = |format: &&'static Format| format.ends(path);
    let chosen = formats.iter().copied().find(ends).or(formats.first().copied());
    if let Some(format) = chosen {
        return Ok(format);
    }
    let mut named = reading().filter(ends);
    match (named.next(), named.next()) {
        // An XML document shows what it is: an ending does not make it another.
        (Some(format), None) if sample.xml_root().is_empty() => Ok(format),
        _ => {
            let count = reading().count();
            let allowed = format!(
                "one of the {count} formats that are read (`groundwave convert --help` lists them, --format NAME forces \
                 one)"
            );
            let fault = Fault::new("format", sample.kind(), allowed);
            Err(fault.unidentified(Location::path("format")))
        }
    }
}

/// Root elements of XML documents of other programs, with what they are and the nearest content that
/// is read.
const FOREIGN_ROOTS: [(&str, &str); 11] = [
    ("FlowMonitor", "flow statistics of ns-3, without positions and links; its motion is ns2"),
    ("routes", "routes of SUMO; its positions are sumo, written with --fcd-output"),
    ("net", "a road network of SUMO; its positions are sumo, written with --fcd-output"),
    ("anim", "an animation of NetAnim; the motion of ns-3 is ns2"),
    ("platform", "an EMANE platform; its events are eel"),
    (
        "profiles",
        "antenna profiles of EMANE; its events are eel, and patterns of antennas are MSI or ADF",
    ),
    ("antennaprofile", "an antenna pattern of EMANE; patterns of antennas are MSI or ADF"),
    ("TrainingCenterDatabase", "a training of Garmin; tracks are gpx"),
    ("detection-run", "networks of Kismet; its tables for WiGLE have levels, places and times"),
    ("gps-run", "positions of Kismet; its tables for WiGLE have levels, places and times"),
    ("osm", "a map of OpenStreetMap; tracks are gpx"),
];

/// Kinds of JSON of other programs that have neither positions nor links, with the nearest content that is read.
fn foreign_json(document: &Value) -> Option<&'static str> {
    if document["type"] == "NetworkRoutes" {
        return Some(
            "a routing table (NetJSON NetworkRoutes), without links; their qualities are a NetworkGraph",
        );
    }
    let is_statistics = document["node_id"].is_string()
        && (document["traffic"].is_object() || document["clients"].is_object());
    is_statistics.then_some(
        "statistics of respondd, without positions and links; nodeinfo and neighbours have those",
    )
}

impl Sample<'_> {
    /// The first section of a file of settings (INI, TOML), which begins with a bracket as JSON does.
    fn ini_section(&self) -> Option<&str> {
        let section = self.lines().next()?.strip_prefix('[')?.strip_suffix(']')?;
        let is_name = |c: char| c.is_alphanumeric() || " ._-".contains(c);
        let begins_a_name = section.starts_with(char::is_alphabetic);
        let is_constant = ["true", "false", "null"].contains(&section);
        (begins_a_name && !is_constant && section.chars().all(is_name)).then_some(section)
    }

    /// Kind of a document of no format, for an error.
    fn kind(&self) -> String {
        let root = self.xml_root();
        if !root.is_empty() {
            let foreign = FOREIGN_ROOTS.iter().find(|(name, _)| *name == root);
            let detail = foreign.map_or(String::new(), |(_, what)| format!(", {what}"));
            return format!("XML with the first element {}{detail}", quoted(&root));
        }
        if let Some(section) = self.ini_section() {
            return format!("a file of settings with the section [{section}]");
        }
        if let Some(kind) = foreign_json(self.json()) {
            return kind.to_owned();
        }
        if let Some(kind) = self.table_of_olsrd2() {
            return kind;
        }
        match serde_json::from_slice::<serde::de::IgnoredAny>(self.bytes()) {
            Ok(_) => format!("JSON of an unknown kind{}", self.parts()),
            Err(error) if self.text().trim_start().starts_with(['{', '[']) => {
                format!("invalid JSON ({error})")
            }
            Err(_) if self.bytes().is_empty() => "an empty document".to_owned(),
            Err(_) if self.bytes().starts_with(ZIP_MAGIC) => {
                "a zip file without readable KML".to_owned()
            }
            Err(_) => format!("content of an unknown kind{}", self.parts()),
        }
    }
}

impl Format {
    /// `true` if `path` has one of the format's extensions, letter case and `.gz` ignored.
    fn ends(&self, path: &Path) -> bool {
        has_ending(path, self.extensions)
    }

    /// `true` if `path` has the ending of a file that belongs to a document of the format.
    fn has_companion(&self, path: &Path) -> bool {
        has_ending(path, self.companions)
    }
}

/// `true` if `path` has one of these endings, letter case and `.gz` ignored.
fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let mut endings = endings.iter();
    endings.any(|ending| name.rsplit_once('.').is_some_and(|(_, end)| end == *ending))
}
