//! Summary of a sweep.

use groundwave_model::radio::{Assumptions, Verdict};
use groundwave_model::sweep::{Tally, Variant};
use groundwave_model::terrain::HeightSource;
use serde::Serialize;

use super::engine::EngineSummary;
use super::interference::AirTally;
use super::plan::Plan;

/// The summary of a sweep: `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Title of the scenario.
    pub title: String,
    /// Data sets of the terrain, with ground, vertical datum, licence and attribution.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terrain: Vec<HeightSource>,
    /// Shares of time, locations and situations, effects left out, calibration.
    pub assumptions: Assumptions,
    /// Digest of the plan.
    pub plan: String,
    /// Columns and rows of the raster.
    pub raster_cells: [u32; 2],
    /// Side of a cell, arc-seconds.
    pub cell_arcsec: f64,
    /// Radius of a site, km.
    pub radius_km: f64,
    /// Cells of the raster that were not computed, which is no statement on their coverage.
    pub not_computed: String,
    /// Link margin at which a cell is covered, dB.
    pub margin_db: f64,
    /// Sites that the receivers cannot decode, for their channel or waveform: they cover nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undecodable_sites: Vec<String>,
    /// Engine, where another than the processor was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineSummary>,
    /// One entry a parameter combination.
    pub variants: Vec<VariantSummary>,
}

/// One parameter combination.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VariantSummary {
    /// Name of the variant and of its folder.
    pub name: String,
    /// Varied values.
    pub values: Variant,
    /// Areas, km².
    pub area_km2: Areas,
    /// Share of the answered area that is covered by the link margin of the model, percent.
    pub covered_percent: f64,
    /// Share of the answered area where a link works with a probability of 50 % or more, percent: its verdict
    /// is `marginal` or better. Unknown surroundings of receivers lower it, not the covered share.
    pub likely_percent: f64,
    /// Coverage among interference, where a product of it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interference: Option<InterferenceSummary>,
    /// Each site's part, in the order of the plan.
    pub sites: Vec<SiteSummary>,
    /// Each place that matters.
    pub points: Vec<PointSummary>,
    /// Weight of the places that a site covers.
    pub points_covered_weight: f64,
    /// Weight of all places.
    pub points_weight: f64,
    /// The sites chosen, when a choice was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<ChoiceSummary>,
}

/// Areas, km².
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Areas {
    /// Within the radius of some site, ground known.
    pub answered: f64,
    /// Covered by at least one site: its link margin by the model reaches the required one.
    pub covered: f64,
    /// Covered by two sites or more.
    pub overlap: f64,
    /// Answered, but not covered.
    pub gap: f64,
    /// Covered, but over a path whose ground is not known throughout.
    pub covered_over_unknown_ground: f64,
    /// Within some radius, but the cell's own ground is not known: not covered.
    pub no_data: f64,
    /// By verdict of the best server: a link works with 99 % or more.
    pub excellent: f64,
    /// 90 to 99 %.
    pub good: f64,
    /// 50 to 90 %.
    pub marginal: f64,
    /// 10 to 50 %.
    pub poor: f64,
    /// Below 10 %.
    pub no_link: f64,
}

/// Coverage among co-channel interference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InterferenceSummary {
    /// Area covered at the required margin over noise and interference, km².
    pub covered_km2: f64,
    /// Share of the answered area, percent.
    pub covered_percent: f64,
    /// Share of places in the answered area where a link works, percent: the mean of its probability.
    pub served_percent: f64,
}

impl InterferenceSummary {
    /// From the areas of a variant.
    #[must_use]
    pub fn of(air: &AirTally, tally: &Tally) -> Self {
        let percent =
            |m2: f64| if tally.answered_m2 > 0.0 { 100.0 * m2 / tally.answered_m2 } else { 0.0 };
        Self {
            covered_km2: air.covered_m2 / M2_IN_KM2,
            covered_percent: percent(air.covered_m2),
            served_percent: percent(air.works_m2),
        }
    }
}

/// One site's part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SiteSummary {
    /// Name of the site.
    pub name: String,
    /// Area covered by it, km².
    pub covered_km2: f64,
    /// Area where it is the best server, km².
    pub best_server_km2: f64,
    /// Area covered by it alone, km².
    pub only_server_km2: f64,
}

/// Reason why a place has no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoAnswer {
    /// It lies beyond the radius of every site.
    BeyondRadius,
    /// Site on unknown ground.
    NoData,
}

impl NoAnswer {
    /// The reason in words.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::BeyondRadius => "beyond the radius",
            Self::NoData => "no data",
        }
    }
}

/// A place that matters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointSummary {
    /// Name of the point.
    pub name: String,
    /// Weight.
    pub weight: f64,
    /// Verdict of the best server in its cell; absent where there is no answer.
    pub verdict: Option<Verdict>,
    /// Reason why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_answer: Option<NoAnswer>,
    /// Link margin of the best server, dB.
    pub margin_db: Option<f32>,
    /// The best server, if any covers the place.
    pub best_server: Option<String>,
}

/// The sites chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChoiceSummary {
    /// Maximised quantity: `weight` of the points, or `km2` where there are none.
    pub of: &'static str,
    /// Sites in the order they were chosen, each with what it adds and the sum so far.
    pub sites: Vec<ChosenSite>,
    /// No choice of as many sites covers more.
    pub upper_bound: f64,
    /// Coverage of all sites together.
    pub all_sites: f64,
    /// Method and its guaranteed bound.
    pub method: &'static str,
}

/// A chosen site.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChosenSite {
    /// Which.
    pub name: String,
    /// Gain of the site.
    pub gain: f64,
    /// The sum with it.
    pub covered: f64,
}

/// The claim of the greedy choice.
pub const METHOD: &str = "greedy with lazy evaluation; at least 63 % (1 - 1/e) of the optimum";

const M2_IN_KM2: f64 = 1e6;

impl Areas {
    /// Part of the answered area, percent; 0 without any.
    #[must_use]
    pub fn percent(&self, part_km2: f64) -> f64 {
        if self.answered > 0.0 { 100.0 * part_km2 / self.answered } else { 0.0 }
    }

    /// From a tally.
    #[must_use]
    pub fn of(tally: &Tally) -> Self {
        let km2 = |m2: f64| m2 / M2_IN_KM2;
        let verdict = |verdict: Verdict| km2(tally.by_verdict_m2[verdict as usize]);
        Self {
            answered: km2(tally.answered_m2),
            covered: km2(tally.covered_m2),
            overlap: km2(tally.overlap_m2),
            gap: km2(tally.gap_m2),
            covered_over_unknown_ground: km2(tally.covered_over_unknown_m2),
            no_data: km2(tally.no_data_m2),
            excellent: verdict(Verdict::Excellent),
            good: verdict(Verdict::Good),
            marginal: verdict(Verdict::Marginal),
            poor: verdict(Verdict::Poor),
            no_link: verdict(Verdict::NoLink),
        }
    }
}

/// Each site's part of a tally.
#[must_use]
pub fn sites(plan: &Plan, tally: &Tally) -> Vec<SiteSummary> {
    let part = |(site, tally): (&super::plan::PlanSite, &groundwave_model::sweep::SiteTally)| {
        SiteSummary {
            name: site.name.clone(),
            covered_km2: tally.covered_m2 / M2_IN_KM2,
            best_server_km2: tally.best_m2 / M2_IN_KM2,
            only_server_km2: tally.only_m2 / M2_IN_KM2,
        }
    };
    plan.sites.iter().zip(&tally.sites).map(part).collect()
}
