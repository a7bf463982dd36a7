//! Tables of a batch of sites over a block of cells, as the kernel reads them (`profile.wgsl`): numbers of f32
//! made of those in f64.

use groundwave_model::coverage::{Block, Cubic, Grid, RowTerms, SiteTerms};
use groundwave_model::terrain::PostWindow;
use rayon::prelude::*;

/// Words of a site.
const SITE_WORDS: usize = 48;

/// Words of a row.
const ROW_WORDS: usize = 32;

/// Words of a column.
const COLUMN_WORDS: usize = 4;

/// Sites, rows and columns of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables {
    /// Number of sites.
    pub sites: u32,
    /// The cells.
    pub block: Block,
    /// Maximum number of columns of a row within the radius of a site.
    pub columns_max: u32,
    /// Estimate of the samples of a row of all sites.
    pub samples_a_row: u64,
    pub(super) site_words: Vec<u32>,
    pub(super) row_words: Vec<u32>,
    pub(super) column_words: Vec<u32>,
}

impl Tables {
    /// Tables of `sites` over a block of `grid`, over the posts of a window.
    #[must_use]
    pub fn new(sites: &[&SiteTerms], grid: &Grid, block: Block, window: &PostWindow) -> Self {
        let per_deg = f64::from(window.per_deg);
        let ends = [block.column, block.column + block.columns];
        let rows = sites.par_iter().flat_map(|site| {
            let columns = site.columns_near(grid, ends);
            let row = move |row: u32| site.row(grid, row, columns);
            (block.row..block.row + block.rows).into_par_iter().map(row)
        });
        let rows: Vec<Option<RowTerms>> = rows.collect();
        let width = |row: &Option<RowTerms>| row.map_or(0, |row| row.columns[1] - row.columns[0]);
        let longest = |site: &&SiteTerms| site.samples_max() as u64;
        let samples = sites.iter().map(longest).max().unwrap_or(0);
        let columns_max = rows.iter().map(width).max().unwrap_or(0);
        let mut tables = Self {
            sites: sites.len() as u32,
            block,
            columns_max,
            samples_a_row: u64::from(columns_max) * samples * sites.len() as u64,
            site_words: Vec::with_capacity(sites.len() * SITE_WORDS),
            row_words: Vec::with_capacity(rows.len() * ROW_WORDS),
            column_words: Vec::with_capacity(sites.len() * block.columns as usize * COLUMN_WORDS),
        };
        for site in sites {
            tables.push_site(site, window);
            for column in ends[0]..ends[1] {
                let east_deg = site.east_deg(grid, column);
                let out = &mut tables.column_words;
                push(out, &[east_deg / site.half_width_deg, 0.0]);
                push_parts(out, east_deg * per_deg);
            }
        }
        for row in rows {
            tables.push_row(row, block.column, per_deg);
        }
        tables
    }

    fn push_site(&mut self, site: &SiteTerms, window: &PostWindow) {
        let per_deg = f64::from(window.per_deg);
        let out = &mut self.site_words;
        let north = site.position.lat_deg() * per_deg - window.south as f64;
        let east = site.position.lon_deg() * per_deg - window.west as f64;
        // On the turn that the window lies on.
        let turn = 360.0 * per_deg;
        let turns = ((east - 0.5 * f64::from(window.columns)) / turn).round();
        let east = east - turn * turns;
        let offset_m = site.ground_msl_m.floor();
        for whole in [north, east] {
            out.push((whole.floor() as i32).cast_unsigned());
        }
        push(out, &[north - north.floor(), east - east.floor()]);
        out.push((offset_m as i32).cast_unsigned());
        push(out, &[site.ground_msl_m - offset_m, site.spacing_m.unwrap_or(0.0)]);
        out.extend(site.samples.map(|count| count as u32));
        let itm = &site.itm;
        push(out, &[site.minimum_m]);
        push(out, &itm.antenna_agl_m);
        push(out, &[itm.n_0, itm.frequency_mhz, itm.frequency_ln, itm.frequency_root]);
        push(out, &[itm.wavenumber, itm.impedance[0], itm.impedance[1], itm.k_per_c]);
        push(out, &[itm.variability_m, itm.duct_share, itm.duct_deviate]);
        let (wavelength_m, fall_per_m) = site.clearance.unwrap_or((0.0, 0.0));
        push(out, &[wavelength_m, fall_per_m]);
        push(out, itm.curves.as_flattened());
        push(out, itm.deviates.as_flattened());
        push(out, &[0.0; 2]);
    }

    fn push_row(&mut self, row: Option<RowTerms>, first_column: u32, per_deg: f64) {
        let out = &mut self.row_words;
        let Some(row) = row else {
            out.extend([0; ROW_WORDS]);
            return;
        };
        out.extend(row.columns.map(|column| column - first_column));
        push_parts(out, row.north_deg * per_deg);
        push(out, &row.length_m2);
        let posts = |cubic: Cubic| cubic.map(|deg| deg * per_deg);
        for bend in row.bend_north_deg.into_iter().chain(row.bend_east_deg) {
            push(out, &posts(bend));
        }
    }
}

fn push(out: &mut Vec<u32>, numbers: &[f64]) {
    out.extend(numbers.iter().map(|number| (*number as f32).to_bits()));
}

/// A number in two parts of f32.
fn push_parts(out: &mut Vec<u32>, number: f64) {
    let high = number as f32;
    push(out, &[f64::from(high), number - f64::from(high)]);
}
