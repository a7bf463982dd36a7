//! Rasters for a GIS, and the table of cells.

use std::fs;
use std::path::Path;

use super::fold::{Layer, Network};
use super::plan::Plan;
use super::product::{Wanted, product};
use super::site_rows::SiteRows;
use super::work::{Sweep, SweepError};
use crate::raster::cog::{Band, CogLayout, Samples, write_cog};
use crate::raster::table::{Column, write_cells};
use crate::raster::{GridGeometry, Resampling};

/// Percentiles of received power in the rasters of sites.
const PERCENTILES: [(&str, &str); 2] = [
    (
        "RX_POWER_P10",
        "10th percentile: exceeded in 90 % of the time at 90 % of locations",
    ),
    (
        "RX_POWER_P90",
        "90th percentile: exceeded in 10 % of the time at 10 % of locations",
    ),
];

pub(super) fn network_rasters(
    plan: &Plan,
    folder: &Path,
    network: &mut Network,
    wanted: Wanted,
    credits: &[(String, String)],
) -> Result<(), SweepError> {
    let remarks: Vec<_> = plan
        .sites
        .iter()
        .enumerate()
        .map(|(i, site)| (format!("SITE_{i}"), site.name.clone()))
        .chain(credits.iter().cloned())
        .collect();
    let layers = [
        (
            Layer::Best,
            "best_server",
            Samples::U16,
            "",
            Resampling::Mode,
        ),
        (
            Layer::Second,
            "second_server",
            Samples::U16,
            "",
            Resampling::Mode,
        ),
        (
            Layer::Margin,
            "margin_db",
            Samples::F32,
            "dB",
            Resampling::Mean,
        ),
        (
            Layer::Servers,
            "servers",
            Samples::U16,
            "",
            Resampling::Mode,
        ),
    ];
    for (layer, name, samples, unit, resampling) in layers {
        let mut layout = CogLayout::single(samples, name, unit, resampling);
        layout.threads = wanted.threads;
        layout.remarks.clone_from(&remarks);
        let file = format!("{name}.tif");
        let mut rows = |row: u32, out: &mut [f32]| network.read(layer, row, out);
        product(
            &file,
            write_cog(
                &folder.join(&file),
                plan.grid.geometry(),
                &layout,
                &mut rows,
            ),
        )?;
    }
    Ok(())
}

pub(super) fn site_rasters(
    sweep: &Sweep,
    variant: u32,
    folder: &Path,
    wanted: Wanted,
    credits: &[(String, String)],
    step: &mut impl FnMut(&str) -> Result<(), SweepError>,
) -> Result<(), SweepError> {
    let plan = &sweep.plan;
    let folder = folder.join("sites");
    fs::create_dir_all(&folder).map_err(|err| SweepError::Disk {
        operation: "create folder",
        path: folder.clone(),
        err,
    })?;
    for (i, site) in plan.sites.iter().enumerate() {
        step(&format!("raster of {}", site.name))?;
        let (window, geometry) = window(plan, i)?;
        let band = |name: &str, unit: &str| Band {
            name: name.to_owned(),
            unit: unit.to_owned(),
            resampling: Resampling::Mean,
        };
        let bands = ["rx_power", "rx_power_p10", "rx_power_p90"].map(|name| band(name, "dBm"));
        let mut layout = CogLayout::single(Samples::F32, "", "", Resampling::Mean);
        layout.bands = bands
            .into_iter()
            .chain([band("link_margin", "dB")])
            .collect();
        layout.threads = wanted.threads;
        layout.remarks = vec![("SITE".to_owned(), site.name.clone())];
        layout
            .remarks
            .extend(PERCENTILES.map(|(key, text)| (key.to_owned(), text.to_owned())));
        layout.remarks.extend_from_slice(credits);
        let mut rows = SiteRows::new(sweep, variant, i as u16, window);
        let file = format!("{i:03}_{}.tif", file_name(&site.name));
        product(
            &file,
            write_cog(&folder.join(&file), geometry, &layout, &mut rows),
        )?;
    }
    Ok(())
}

/// A name as a part of a file name.
fn file_name(name: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '_'
        }
    };
    name.chars().map(safe).collect()
}

/// The part of the raster that a site's circle touches.
fn window(plan: &Plan, site: usize) -> Result<([u32; 4], GridGeometry), SweepError> {
    let place = plan.sites[site].position;
    let arcsec = plan.grid.cell_deg * 3600.0;
    let own = super::plan::PlanGrid::around(&[place], plan.radius_m, arcsec).map_err(|err| {
        SweepError::Product {
            what: plan.sites[site].name.clone(),
            cause: err.to_string(),
        }
    })?;
    let whole = plan.grid.geometry();
    let middle = |deg: f64, from: f64| ((deg - from) / plan.grid.cell_deg).round().max(0.0) as u32;
    let turn = |lon_deg: f64| {
        if lon_deg < whole.west_deg - 1e-9 {
            lon_deg + 360.0
        } else {
            lon_deg
        }
    };
    let first_col = middle(turn(own.west_deg), whole.west_deg).min(whole.cols - 1);
    let first_row = middle(whole.north_deg, own.north_deg).min(whole.rows - 1);
    let cols = own.cols.min(whole.cols - first_col);
    let rows = own.rows.min(whole.rows - first_row);
    let west_deg = whole.west_deg + f64::from(first_col) * plan.grid.cell_deg;
    let geometry = GridGeometry {
        west_deg: if west_deg >= 180.0 {
            west_deg - 360.0
        } else {
            west_deg
        },
        north_deg: whole.north_deg - f64::from(first_row) * plan.grid.cell_deg,
        cols,
        rows,
        ..whole
    };
    Ok(([first_col, first_row, cols, rows], geometry))
}

pub(super) fn cell_table(
    plan: &Plan,
    folder: &Path,
    network: &mut Network,
) -> Result<(), SweepError> {
    let columns = [
        Column::new("best_server", "", 0),
        Column::new("second_server", "", 0),
        Column::new("link_margin", "db", 2),
        Column::new("servers", "", 0),
    ];
    let cols = plan.grid.cols as usize;
    let mut rows = |row: u32, out: &mut [f32]| {
        let layers = [Layer::Best, Layer::Second, Layer::Margin, Layer::Servers];
        for (band, layer) in out.chunks_exact_mut(cols).zip(layers) {
            network.read(layer, row, band)?;
        }
        Ok(())
    };
    let path = folder.join("cells.csv");
    product(
        "cells.csv",
        write_cells(&path, plan.grid.geometry(), &columns, &mut rows),
    )
}
