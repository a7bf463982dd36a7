//! File formats: one [`Format`] each, one [`Dataset`] they are read into, one [`Report`] of what
//! was dropped.
//!
//! [`FORMATS`] is the registry: the command line, the HTTP interface, messages and tests take
//! names, endings and capabilities from it. A new format is a file of its own with a constant
//! `FORMAT`, its `mod` line and its line in the registry.
//!
//! A dataset becomes a plan ([`Dataset::into_plan`]), a scenario of moving nodes
//! ([`Dataset::motion_scenario`]) or the commands of a log ([`Dataset::script`]). Plans are
//! written by [`Format::write_plan`] and read back to the bit; running worlds are recorded by
//! [`Format::write_recording`], snapshot by snapshot.
//!
//! | format | plan | positions | tracks | measurements | writes |
//! |---|---|---|---|---|---|
//! | [`geojson`], [`kml`], [`kmz`], [`scenario`] | yes | | | | plan |
//! | [`csv`] | yes | | | by a mapping | plan, recording |
//! | [`netjson`] | | yes | | yes | recording |
//! | [`device_monitoring`] | | yes | | yes | |
//! | [`batctl`], [`batctl_text`], [`olsrd`], [`olsr_text`] | | | | yes | |
//! | [`babel`], [`bmx`], [`vis`], [`k7`], [`olsrd2`] | | | | yes | |
//! | [`meshviewer`] | | yes | | yes | |
//! | [`cnml`], [`openwifimap`], [`nycmesh`], [`ttn`], [`core_imn`] | | yes | | | |
//! | [`core_xml`] | | yes | | | recording |
//! | [`eel`] | | | yes | yes | recording |
//! | [`gpx`] | | yes | yes | | |
//! | [`kml_tracks`], [`nmea`], [`sumo`], [`bonnmotion`], [`ansim`] | | | yes | | |
//! | [`ns3`], [`mininet`], [`csv::tracks`], [`geojson_tracks`], [`igc`] | | | yes | | |
//! | [`wardrive`], [`ttnmapper`], [`meshtastic_mqtt`], [`lorawan`] | | | yes | yes | |
//! | [`aredn`], [`meshtastic`], [`ffmap`], [`libremesh`], [`meshcore`] | | yes | | yes | |
//! | [`qth`] | yes | | | | |
//! | [`ns2`] | | | yes | | |
//! | [`mahimahi`] | | | | yes | |
//! | [`parquet`] | | | | | recording |
//!
//! Readers are tolerant: what is not used is counted in the report, with its reason and the place
//! of the first.

mod altitude;
pub mod ansim;
pub mod aredn;
pub mod babel;
pub mod batctl;
pub mod batctl_text;
pub mod bmx;
pub mod bonnmotion;
mod climb;
mod clock;
pub mod cnml;
pub mod core_imn;
mod core_settings;
pub mod core_xml;
mod course;
pub mod csv;
mod dataset;
mod datum;
pub mod device_monitoring;
pub mod eel;
mod error;
mod extremes;
pub mod ffmap;
pub mod geojson;
pub mod geojson_tracks;
pub mod gpx;
mod identify;
pub mod igc;
mod interfaces;
mod json_values;
pub mod k7;
pub mod kml;
pub mod kml_tracks;
pub mod kmz;
pub mod libremesh;
pub mod limits;
pub mod lorawan;
mod lrp;
pub mod mahimahi;
mod merged;
mod mesh;
pub mod meshcore;
pub mod meshtastic;
pub mod meshtastic_mqtt;
mod meshtastic_position;
mod meshtastic_regions;
mod meshtastic_table;
pub mod meshviewer;
pub mod mininet;
mod misfits;
mod motion;
mod nearest;
pub mod netjson;
pub mod nmea;
pub mod ns2;
pub mod ns3;
pub mod nycmesh;
pub mod olsr_text;
pub mod olsrd;
pub mod olsrd2;
pub mod openwifimap;
mod options;
mod packets;
pub mod parquet;
mod parquet_table;
mod parts;
mod places;
mod plan;
mod plane;
mod plausible;
mod positions;
mod presence;
pub mod qth;
mod recording;
mod report;
mod rows;
pub mod scenario;
mod script;
mod series;
mod settle;
mod signal;
mod source;
mod stated;
pub mod sumo;
#[cfg(test)]
mod tests;
mod text;
pub mod ttn;
pub mod ttnmapper;
pub mod vis;
pub mod wardrive;
pub mod wigle;
mod xml;
mod xz;
mod zipped;

use std::fmt;
use std::io::{self, Write};

use groundwave_model::radio::Station;
use groundwave_model::terrain::GeoPoint;

use crate::setdest::Dialect;

pub use dataset::{Dataset, Event, Height, Node};
pub use datum::Datum;
pub use error::{FormatError, Location};
pub use identify::{Sample, by_extension, by_name, extensions, identify, names};
pub use misfits::Misfits;
pub use options::without_options;
pub use parquet_table::{Column, parquet_table};
pub use plan::unit::{Quantity, with_unit};
pub use plan::{PlanFile, PlanNode};
pub use recording::{Output, RecordingWriter};
pub use report::{Note, Report};
pub use rows::{COLUMNS, Row};
pub use script::{Script, is_placeholder};
pub use source::{Source, is_packed, unpacked};

/// Kinds of data in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A deployment with stations.
    Plan,
    /// Positions of nodes.
    Positions,
    /// Positions of nodes over time.
    Tracks,
    /// Measurements of links over time.
    Measurements,
}

/// Settings of a reader.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// Station of nodes whose document states none, or parts of one.
    pub station: Station,
    /// Time between snapshots without a time of their own, s.
    pub step_s: f64,
    /// Origin of documents in metres.
    pub origin: Option<GeoPoint>,
    /// Meaning of a speed of 0 in ns-2 motion; by the content where it is not set.
    pub dialect: Option<Dialect>,
    /// Leave out fixes that no receiver can have had; otherwise they are taken and reported.
    pub drop_implausible: bool,
    /// Level of heights whose document states none; by the format where it is not set.
    pub datum: Option<Datum>,
    /// Leave out heights above sea level, which receivers measure tens of metres wrong.
    pub drop_altitudes: bool,
    /// Order of day and month in dates of tables whose year comes last; by the rows where it is not set.
    pub date_order: Option<csv::DateOrder>,
    /// Let nodes be there from the first fix of their track to its last only.
    pub is_bounded: bool,
    /// Columns of a table of measurements.
    pub mapping: Option<csv::levels::Levels>,
}

impl ReadOptions {
    /// Options with a default station and nothing else set.
    #[must_use]
    pub fn new(station: Station) -> Self {
        Self {
            station,
            step_s: 60.0,
            origin: None,
            dialect: None,
            drop_implausible: false,
            datum: None,
            drop_altitudes: false,
            date_order: None,
            is_bounded: false,
            mapping: None,
        }
    }
}

/// A file format.
///
/// A table of functions rather than a trait: a format that cannot read or write shows it by the
/// absence of the function, so capabilities and implementation cannot differ.
pub struct Format {
    /// Name on the command line and in the HTTP interface.
    pub name: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Origin and contents, one line.
    pub description: &'static str,
    /// File endings without the dot, the usual one first.
    pub extensions: &'static [&'static str],
    /// Media type, of formats exchanged over HTTP.
    pub media_type: Option<&'static str>,
    /// Contents that documents of the format may have.
    pub contents: &'static [Content],
    /// Detects the format by the content of a document.
    pub sniff: fn(&Sample<'_>) -> bool,
    /// Endings of files that belong to a document of the same name: they are read with it.
    pub companions: &'static [&'static str],
    /// Several documents are one series for the reader; otherwise each is read on its own.
    pub is_series: bool,
    /// Reader of documents.
    pub read: Option<fn(&Source, &ReadOptions) -> Result<Dataset, FormatError>>,
    /// Writer of plans.
    pub write_plan: Option<fn(&PlanFile, &mut dyn Write) -> io::Result<()>>,
    /// Writer of the states of a running world.
    pub write_recording:
        Option<for<'w> fn(Output<'w>) -> io::Result<Box<dyn RecordingWriter + 'w>>>,
}

/// Every format. Where several recognise a document and none has its ending, the first one reads it.
pub static FORMATS: [&Format; 50] = [
    &geojson_tracks::FORMAT,
    &geojson::FORMAT,
    &kml_tracks::FORMAT,
    &kml::FORMAT,
    &kmz::FORMAT,
    &wigle::FORMAT,
    &wardrive::RANGE_TEST,
    &ttnmapper::FORMAT,
    &csv::tracks::FORMAT,
    &csv::FORMAT,
    &scenario::FORMAT,
    &eel::FORMAT,
    &gpx::FORMAT,
    &qth::FORMAT,
    &ns2::FORMAT,
    &ns3::FORMAT,
    &mininet::FORMAT,
    &bonnmotion::FORMAT,
    &sumo::FORMAT,
    &ansim::FORMAT,
    &nmea::FORMAT,
    &igc::FORMAT,
    &mahimahi::FORMAT,
    &k7::FORMAT,
    &netjson::FORMAT,
    &device_monitoring::FORMAT,
    &batctl::FORMAT,
    &batctl_text::FORMAT,
    &olsrd::FORMAT,
    &olsrd2::FORMAT,
    &olsr_text::FORMAT,
    &babel::FORMAT,
    &bmx::FORMAT,
    &vis::FORMAT,
    &libremesh::FORMAT,
    &aredn::FORMAT,
    &meshtastic::FORMAT,
    &meshtastic_mqtt::FORMAT,
    &lorawan::FORMAT,
    &meshcore::FORMAT,
    &openwifimap::FORMAT,
    &ttn::FORMAT,
    &nycmesh::FORMAT,
    &ffmap::GRAPH,
    &ffmap::NODELIST,
    &meshviewer::FORMAT,
    &cnml::FORMAT,
    &core_xml::FORMAT,
    &core_imn::FORMAT,
    &parquet::FORMAT,
];

/// Formats that plans are written to and read from: those of the HTTP interface.
pub fn plan_formats() -> impl Iterator<Item = &'static Format> {
    FORMATS.into_iter().filter(|format| format.write_plan.is_some())
}

impl Format {
    /// A format without functions, to be completed by each constant.
    const NONE: Self = Self {
        name: "",
        label: "",
        description: "",
        extensions: &[],
        media_type: None,
        contents: &[],
        sniff: |_| false,
        companions: &[],
        is_series: false,
        read: None,
        write_plan: None,
        write_recording: None,
    };

    /// `true` if documents of the format may have `content`.
    #[must_use]
    pub fn holds(&self, content: Content) -> bool {
        self.contents.contains(&content)
    }

    /// Usual file extension.
    #[must_use]
    pub fn extension(&self) -> &'static str {
        self.extensions.first().copied().unwrap_or(self.name)
    }

    /// Reads a document.
    ///
    /// # Errors
    /// The first invalid part; of a scenario, all of them.
    pub fn read(&self, source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
        let read = self.read.ok_or_else(|| self.unreadable())?;
        let mut dataset = match source.documents.len() > 1 && !self.is_series {
            true => series::read(self, source, options)?,
            false => read(source, options)?,
        };
        dataset.settle_suspects(options.drop_implausible);
        if options.drop_altitudes {
            dataset.drop_altitudes();
        }
        dataset.begin_with_time_of_day();
        dataset.begin_with_negative();
        if options.is_bounded {
            dataset.bound_by_fixes();
        }
        if let Some(encoding) = source.encoding {
            let what = format!("text in {encoding}: converted to UTF-8");
            dataset.report.add(&what, Location::default);
        }
        Ok(dataset.finish())
    }

    /// Reads a plan from bytes, completing stations from `station`.
    ///
    /// # Errors
    /// See [`Self::read`]; also a document without positions.
    pub fn read_plan(
        &'static self,
        bytes: Vec<u8>,
        station: &Station,
    ) -> Result<(PlanFile, Report), FormatError> {
        let dataset = self.read(&Source::of(bytes), &ReadOptions::new(station.clone()))?;
        dataset.into_plan(self, station)
    }

    fn unreadable(&self) -> FormatError {
        error::Fault::new("format", self.name, names(|format| format.read.is_some()))
            .at(self, Location::default())
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
