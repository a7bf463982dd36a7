// Best server and sites with a margin of each cell, from the losses of all sites. Pairs of a cell and a site that
// f32 cannot decide are listed for the exact evaluation: flagged losses, margins next to the threshold of their
// site, and sites whose margins are nearly the largest.

struct ServerJob {
    rows: u32,
    columns: u32,
    sites: u32,
    words: u32,
    pairs_maximum: u32,
    // Cells of a row of the lattice of undulations, and cells from one of its points to the next.
    lattice_columns: u32,
    lattice_spacing: u32,
    pad: u32,
}

struct Budget {
    base_db: f32,
    wavenumber: f32,
    gas_db_m: f32,
    undulation_m: f32,
    ground_m: f32,
    antenna_tx_m: f32,
    antenna_rx_m: f32,
    radius_m: f32,
    // Beamwidth and tilt, deg, and maximum loss, dB.
    lobe_tx: vec4<f32>,
    lobe_rx: vec4<f32>,
    threshold_db: f32,
    pad_0: f32,
    pad_1: f32,
    pad_2: f32,
}

struct Pairs {
    count: atomic<u32>,
    pad: u32,
    places: array<vec2<u32>>,
}

struct Margin {
    db: f32,
    // 0 outside the radius, 1 flagged, 2 known.
    kind: u32,
}

@group(1) @binding(0) var<uniform> server_job: ServerJob;
@group(1) @binding(1) var<storage, read> budgets: array<Budget>;
@group(1) @binding(2) var<storage, read> undulations_m: array<f32>;
@group(1) @binding(3) var<storage, read> losses: array<vec4<u32>>;
@group(1) @binding(4) var<storage, read_write> best: array<vec2<u32>>;
@group(1) @binding(5) var<storage, read_write> served: array<u32>;
@group(1) @binding(6) var<storage, read_write> pairs: Pairs;

// Errors of margins that are not flagged, dB.
const ERROR_DB: f32 = 0.002;
const EARTH_RADIUS_M: f32 = 6371000.0;
const DEG: f32 = 57.2957795130823;

fn undulation_m(row: u32, column: u32) -> f32 {
    let spacing = server_job.lattice_spacing;
    let top = row / spacing;
    let left = column / spacing;
    let place = top * server_job.lattice_columns + left;
    let v = f32(row - top * spacing) / f32(spacing);
    let u = f32(column - left * spacing) / f32(spacing);
    let below = place + server_job.lattice_columns;
    let north = mix(undulations_m[place], undulations_m[place + 1u], u);
    let south = mix(undulations_m[below], undulations_m[below + 1u], u);
    return mix(north, south, v);
}

// Loss of a lobe towards an antenna at `to_m` that is `rise_m` higher, dB, and 1 where its angle is steep.
fn lobe_db(lobe: vec4<f32>, distance_m: f32, rise_m: f32, to_m: f32, radius_m: f32) -> vec2<f32> {
    if lobe.x <= 0.0 {
        return vec2(0.0);
    }
    let angle = distance_m / radius_m;
    let along_m = distance_m * (1.0 + to_m / radius_m);
    let x = (rise_m - 0.5 * angle * along_m) / along_m;
    let square = x * x;
    let up_deg = DEG * x * (1.0 - square * (1.0 / 3.0 - square * (0.2 - square / 7.0)));
    let share = (up_deg + lobe.y) / lobe.x;
    return vec2(min(12.0 * share * share, lobe.z), select(0.0, 1.0, abs(x) > 0.25 || angle > 0.02));
}

fn margin(site: u32, row: u32, column: u32, receiver_undulation_m: f32) -> Margin {
    let loss = losses[(site * server_job.rows + row) * server_job.columns + column];
    if loss.w == 0u {
        return Margin(0.0, 0u);
    }
    if (loss.w & 0xffffff00u) != 0u {
        return Margin(0.0, 1u);
    }
    let x = columns[site * server_job.columns + column].x;
    let distance_m = sqrt(max(cubic(rows[site * server_job.rows + row].length_m2, x * x), 0.0));
    let tx_m = budgets[site].ground_m + budgets[site].antenna_tx_m;
    let rx_m = bitcast<f32>(loss.z) + budgets[site].antenna_rx_m;
    let undulation_tx_m = budgets[site].undulation_m;
    let rise_hae_m = (rx_m - tx_m) + (receiver_undulation_m - undulation_tx_m);
    // The chord over the sphere: sin(d / 2R) by its series.
    let half = distance_m / (2.0 * EARTH_RADIUS_M);
    let chord = distance_m * (1.0 - half * half / 6.0);
    let raised = (1.0 + (tx_m + undulation_tx_m) / EARTH_RADIUS_M) * (1.0 + (rx_m + receiver_undulation_m) / EARTH_RADIUS_M);
    let slant_m = sqrt(chord * chord * raised + rise_hae_m * rise_hae_m);
    let spread_db = max(20.0 * log10_(budgets[site].wavenumber * slant_m), 0.0);
    let radius_m = budgets[site].radius_m;
    let lobe_tx = lobe_db(budgets[site].lobe_tx, distance_m, rx_m - tx_m, rx_m, radius_m);
    let lobe_rx = lobe_db(budgets[site].lobe_rx, distance_m, tx_m - rx_m, tx_m, radius_m);
    if lobe_tx.y + lobe_rx.y > 0.0 {
        return Margin(0.0, 1u);
    }
    let loss_db = spread_db + budgets[site].gas_db_m * slant_m + bitcast<f32>(loss.x) + lobe_tx.x + lobe_rx.x;
    return Margin(budgets[site].base_db - loss_db, 2u);
}

fn list(cell: u32, site: u32) {
    let place = atomicAdd(&pairs.count, 1u);
    if place < server_job.pairs_maximum {
        pairs.places[place] = vec2(cell, site);
    }
}

@compute @workgroup_size(64)
fn choose(@builtin(global_invocation_id) id: vec3<u32>) {
    let column = id.x;
    let row = id.y;
    if column >= server_job.columns {
        return;
    }
    let cell = row * server_job.columns + column;
    let receiver_undulation_m = undulation_m(row, column);
    var largest_db = -1e9;
    var second_db = -1e9;
    var server = 0xffffffffu;
    var bits = 0u;
    for (var site = 0u; site < server_job.sites; site++) {
        let own = margin(site, row, column, receiver_undulation_m);
        if own.kind == 1u {
            list(cell, site);
        } else if own.kind == 2u {
            let threshold_db = budgets[site].threshold_db;
            if abs(own.db - threshold_db) <= ERROR_DB {
                list(cell, site);
            }
            if own.db >= threshold_db {
                bits |= 1u << (site & 31u);
            }
            if own.db > largest_db {
                second_db = largest_db;
                largest_db = own.db;
                server = site;
            } else {
                second_db = max(second_db, own.db);
            }
        }
        if (site & 31u) == 31u || site + 1u == server_job.sites {
            served[cell * server_job.words + (site >> 5u)] = bits;
            bits = 0u;
        }
    }
    best[cell] = vec2(server, bitcast<u32>(largest_db));
    if largest_db - second_db > 2.0 * ERROR_DB {
        return;
    }
    for (var site = 0u; site < server_job.sites; site++) {
        let own = margin(site, row, column, receiver_undulation_m);
        if own.kind == 2u && own.db >= largest_db - 2.0 * ERROR_DB {
            list(cell, site);
        }
    }
}
