//! A plan from KML, a placemark at a time.

use groundwave_systems::radio::Station;

use super::super::collect::Collector;
use super::super::error::{ExchangeError, Fault, Place, quoted};
use super::super::limits::DEPTH_MAX;
use super::super::{Format, Notes, PlanFile, text};
use super::DEPLOYMENT;
use super::placemark;
use super::xml::{Element, Part, Scanner};

/// Elements that hold others, and are walked into.
const CONTAINERS: [&str; 3] = ["kml", "Document", "Folder"];

/// Elements outside placemarks that say nothing of a plan, or how it is shown.
const QUIET: [&str; 13] = [
    "Style",
    "StyleMap",
    "Schema",
    "open",
    "visibility",
    "LookAt",
    "Camera",
    "Snippet",
    "snippet",
    "Region",
    "description",
    "styleUrl",
    "name",
];

/// Reads a plan.
///
/// # Errors
/// See [`super::super::read`].
pub fn read(bytes: &[u8], defaults: &Station) -> Result<(PlanFile, Notes), ExchangeError> {
    read_text(Format::Kml, text(Format::Kml, bytes)?, defaults)
}

/// Reads a plan from the text of a document of `format`.
pub(in super::super) fn read_text(
    format: Format,
    text: &str,
    defaults: &Station,
) -> Result<(PlanFile, Notes), ExchangeError> {
    let mut walk = Walk {
        format,
        scanner: Scanner::new(text),
        collector: Collector::new(format, defaults),
        open: Vec::new(),
        document: None,
        placemarks: 0,
        elements: 0,
    };
    while walk.step()? {}
    walk.outline()?;
    walk.collector.finish()
}

/// A document under way.
struct Walk<'x, 'd> {
    format: Format,
    scanner: Scanner<'x>,
    collector: Collector<'d>,
    /// The containers that are open, outermost first.
    open: Vec<String>,
    /// What the first document says of itself.
    document: Option<Element>,
    placemarks: usize,
    elements: usize,
}

impl Walk<'_, '_> {
    /// Goes on by one part; whether there was one.
    fn step(&mut self) -> Result<bool, ExchangeError> {
        let format = self.format;
        let at = |(place, fault): (Place, Fault)| fault.at(format, place);
        let start = match self.scanner.next().map_err(at)? {
            Part::Start(start) => start,
            Part::End => {
                self.open.pop();
                return Ok(true);
            }
            Part::Eof if self.open.is_empty() && self.elements > 0 => return Ok(false),
            Part::Eof => return Err(at(self.scanner.cut())),
        };
        self.elements += 1;
        let offset = self.scanner.offset();
        let name = start.local_name().as_ref().to_owned();
        match name.as_str() {
            "Placemark" => {
                let element = self.scanner.take(&start).map_err(at)?;
                let index = self.placemarks;
                self.placemarks += 1;
                let scanner = &self.scanner;
                let at = |key: &str| {
                    let dot = if key.is_empty() { "" } else { "." };
                    let path = format!("Placemark[{index}]{dot}{key}");
                    Place::new(scanner.line_at(offset), path)
                };
                placemark::placemark(&mut self.collector, &element, &at)?;
            }
            container if CONTAINERS.contains(&container) => self.enter(name)?,
            _ if self.open.is_empty() => {
                let found = format!("the element {}", quoted(&name));
                let fault = Fault::new("", found, "kml, Document, Folder or Placemark");
                return Err(fault.at(format, Place::new(self.scanner.line(), "")));
            }
            "name" | "ExtendedData" if self.describes_document() => {
                let element = self.scanner.take(&start).map_err(at)?;
                if let Some(document) = &mut self.document {
                    document.children.push(element);
                }
            }
            other => {
                if !QUIET.contains(&other) {
                    let line = self.scanner.line();
                    self.collector
                        .notes
                        .dropped("element", other, || Place::new(line, ""));
                }
                self.scanner.skip().map_err(at)?;
            }
        }
        Ok(true)
    }

    /// Goes into a container.
    fn enter(&mut self, name: String) -> Result<(), ExchangeError> {
        if self.open.len() >= DEPTH_MAX {
            let fault = Fault::new("", "containers too deep", format!("{DEPTH_MAX} levels"));
            return Err(fault.at(self.format, Place::new(self.scanner.line(), "")));
        }
        if name == "Document" && self.document.is_none() {
            self.document = Some(Element::default());
        }
        if name == "Folder" {
            let line = self.scanner.line();
            let what = "folders are not kept: their placemarks are";
            self.collector
                .notes
                .add(what, || Place::new(line, "Folder"));
        }
        self.open.push(name);
        Ok(())
    }

    /// Whether what comes stands in the first document itself.
    fn describes_document(&self) -> bool {
        let documents = self.open.iter().filter(|name| *name == "Document").count();
        let described = |document: &Element| document.children.len() < 64;
        documents == 1
            && self.open.last().is_some_and(|name| name == "Document")
            && self.document.as_ref().is_some_and(described)
    }

    /// Takes what the document says of the deployment.
    fn outline(&mut self) -> Result<(), ExchangeError> {
        let Some(document) = self.document.take() else {
            return Ok(());
        };
        let data = document.data();
        let json = data.iter().find(|(key, _)| *key == DEPLOYMENT);
        let name = placemark::name(&document, &data, json.is_some());
        let place = |fault: Fault| {
            let place = Place::path(format!("Document.{}", fault.key));
            fault.at(self.format, place)
        };
        self.collector.deployment.name = name.map_err(place)?.filter(|name| !name.is_empty());
        if let Some((_, json)) = json {
            self.collector.deployment(json).map_err(place)?;
        }
        Ok(())
    }
}
