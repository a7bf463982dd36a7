//! The numbers of a variant: places that matter, and which sites to build first.

use std::collections::BTreeMap;

use groundwave_model::radio::Verdict;
use groundwave_model::sweep::{Network as Cell, Step, Variant, choose};

use super::fold::Network;
use super::plan::{Plan, TILE_CELLS, Unit};
use super::summary::{
    Areas, ChoiceSummary, ChosenSite, InterferenceSummary, METHOD, NoAnswer, PointSummary,
    VariantSummary, sites,
};
use super::work::{Sweep, SweepError};

/// Coverage at a point of interest.
pub(super) struct Offer {
    margin_db: Option<f32>,
    verdict: Verdict,
    best: Option<u16>,
    servers: Vec<u16>,
    /// True if some site reaches the place but has no terrain data for it.
    no_data: bool,
}

pub(super) fn points(sweep: &Sweep, variant: u32) -> Result<Vec<Offer>, SweepError> {
    let plan = &sweep.plan;
    let mut offers = Vec::new();
    for point in &plan.points {
        let [col, row] =
            plan.grid.geometry().at(point.position.lat_deg(), point.position.lon_deg());
        let inside = col >= 0.0
            && row >= 0.0
            && col < f64::from(plan.grid.cols)
            && row < f64::from(plan.grid.rows);
        if !inside {
            offers.push(Offer {
                margin_db: None,
                verdict: Verdict::NoLink,
                best: None,
                servers: Vec::new(),
                no_data: false,
            });
            continue;
        }
        let (row, col) = (row as u32, col as u32);
        let unit = Unit { variant, row: row / TILE_CELLS, col: col / TILE_CELLS };
        offers.push(offer(sweep, unit, tile_cell(plan.grid.cols, row, col))?);
    }
    Ok(offers)
}

/// Coverage by all sites in a cell of a unit.
fn offer(sweep: &Sweep, unit: Unit, cell: usize) -> Result<Offer, SweepError> {
    let (mut network, mut servers) = (Cell::default(), Vec::new());
    if !sweep.plan.reaching(unit.row, unit.col).is_empty() {
        let required_db = sweep.plan.margin_db as f32;
        for site in sweep.read(unit)?.sites() {
            let site = site.map_err(|err| sweep.unreadable(unit, err))?;
            let answers = site.answers().map_err(|err| sweep.unreadable(unit, err))?;
            if network.hear(site.site, answers.answer(cell), required_db) {
                servers.push(site.site);
            }
        }
    }
    Ok(Offer {
        margin_db: network.margin_db,
        verdict: network.verdict,
        best: network.best,
        servers,
        no_data: network.no_data,
    })
}

/// Index of a cell within its tile.
fn tile_cell(cols: u32, row: u32, col: u32) -> usize {
    let tile_first = col / TILE_CELLS * TILE_CELLS;
    let width = TILE_CELLS.min(cols - tile_first);
    (row % TILE_CELLS * width + (col - tile_first)) as usize
}

pub(super) fn summarise(
    plan: &Plan,
    variant: &Variant,
    network: Network,
    offers: Vec<Offer>,
) -> VariantSummary {
    let area_km2 = Areas::of(&network.tally);
    let name = |site: u16| plan.sites[usize::from(site)].name.clone();
    let points: Vec<_> = plan
        .points
        .iter()
        .zip(&offers)
        .map(|(point, offer)| PointSummary {
            name: point.name.clone(),
            weight: point.weight,
            verdict: offer.margin_db.map(|_| offer.verdict),
            no_answer: match (offer.margin_db, offer.no_data) {
                (Some(_), _) => None,
                (None, true) => Some(NoAnswer::NoData),
                (None, false) => Some(NoAnswer::BeyondRadius),
            },
            margin_db: offer.margin_db,
            best_server: offer.best.map(name),
        })
        .collect();
    let weight = |covered: bool| -> f64 {
        let counted = points.iter().filter(|point| !covered || point.best_server.is_some());
        // The sum of nothing is -0, which would be printed so.
        counted.map(|point| point.weight).sum::<f64>() + 0.0
    };
    let of = if plan.points.is_empty() { "km2" } else { "weight" };
    let mut worth: BTreeMap<Vec<u16>, [f64; 2]> = BTreeMap::new();
    for (set, m2) in network.sets {
        let km2 = m2 / 1e6;
        // Area decides where there are no places, and breaks ties where there are.
        worth.insert(set, if plan.points.is_empty() { [km2, 0.0] } else { [0.0, km2] });
    }
    for (point, offer) in plan.points.iter().zip(&offers) {
        if !offer.servers.is_empty() {
            worth.entry(offer.servers.clone()).or_default()[0] += point.weight;
        }
    }
    let sets = worth;
    let choice = plan.choose.map(|count| chosen(plan, count, of, &sets));
    VariantSummary {
        name: variant.name(),
        values: *variant,
        covered_percent: area_km2.percent(area_km2.covered),
        likely_percent: area_km2.percent(area_km2.excellent + area_km2.good + area_km2.marginal),
        interference: network.air.map(|air| InterferenceSummary::of(&air, &network.tally)),
        area_km2,
        sites: sites(plan, &network.tally),
        points_covered_weight: weight(true),
        points_weight: weight(false),
        points,
        choice,
    }
}

fn chosen(
    plan: &Plan,
    count: usize,
    of: &'static str,
    sets: &BTreeMap<Vec<u16>, [f64; 2]>,
) -> ChoiceSummary {
    let sets: Vec<(&Vec<u16>, [f64; 2])> =
        sets.iter().map(|(set, weight)| (set, *weight)).collect();
    let mut taken = vec![false; sets.len()];
    let gain = |taken: &Vec<bool>, site: u16| {
        let open = sets.iter().zip(taken).filter(|(_, taken)| !**taken);
        let served = open.filter(|((set, _), _)| set.binary_search(&site).is_ok());
        served.fold([0.0, 0.0], |[gain, tie], ((_, worth), _)| [gain + worth[0], tie + worth[1]])
    };
    let take = |taken: &mut Vec<bool>, site: u16| {
        for (taken, (set, _)) in taken.iter_mut().zip(&sets) {
            *taken |= set.binary_search(&site).is_ok();
        }
    };
    let sites = u16::try_from(plan.sites.len()).expect("a plan bounds its sites");
    let choice = choose(sites, count, &mut taken, gain, take);
    // A sum of no floats has a minus.
    let all_sites = sets.iter().map(|(_, [weight, _])| weight).sum::<f64>() + 0.0;
    let step = |step: &Step| ChosenSite {
        name: plan.sites[usize::from(step.site)].name.clone(),
        gain: step.gain,
        covered: step.covered,
    };
    ChoiceSummary {
        of,
        sites: choice.steps.iter().map(step).collect(),
        upper_bound: choice.upper_bound.min(all_sites),
        all_sites,
        method: METHOD,
    }
}
