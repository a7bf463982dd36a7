// Troposcatter, for paths so far beyond the horizons that it may decide.

struct Scatter {
    // Losses at two distances, dB, and 1 where the model gives none at the nearer.
    near_db: f32,
    far_db: f32,
    is_undefined: bool,
    is_near: bool,
}

struct Gain {
    db: f32,
    is_defined: bool,
    is_near: bool,
}

fn gain_curve(r: f32, number: u32) -> f32 {
    var a = array<f32, 5>(25.0, 80.0, 177.0, 395.0, 705.0);
    var b = array<f32, 5>(24.0, 45.0, 68.0, 80.0, 105.0);
    let inverse_square = 1.0 / (r * r);
    return 10.0 * log10_(1.0 + (a[number] * inverse_square + b[number]) * inverse_square);
}

fn gain_db(r: f32, efficiency: f32) -> f32 {
    let eta = clamp(efficiency, 1.0, 5.0);
    let whole = floor(eta);
    let part = eta - whole;
    let number = u32(whole) - 1u;
    return (1.0 - part) * gain_curve(r, number) + part * gain_curve(r, min(number + 1u, 4u));
}

fn frequency_gain(site: u32, path: Path, n_s: f32, distance_m: f32) -> Gain {
    let angle_rad = path.angle_rad.x + path.angle_rad.y + distance_m / path.radius_m;
    let r_1 = 2.0 * sites[site].wavenumber * angle_rad * path.heights_m.x;
    let r_2 = 2.0 * sites[site].wavenumber * angle_rad * path.heights_m.y;
    let difference_m = path.horizon_m.x - path.horizon_m.y;
    let ratio = path.heights_m.y / path.heights_m.x;
    let height_ratio = select(ratio, 1.0 / ratio, difference_m < 0.0);
    let shorter_m = distance_m - abs(difference_m);
    let longer_m = distance_m + abs(difference_m);
    let part = shorter_m / longer_m;
    let q = min(max(height_ratio / part, 0.1), 10.0);
    let s = max(part, 0.1);
    let crossing_m = shorter_m * longer_m * angle_rad * 0.25 / distance_m;
    let relative = min(crossing_m / 8e3, 1.7);
    let cube = relative * relative * relative;
    let lapse = 0.031 - n_s * 2.32e-3 + n_s * n_s * 5.67e-6;
    let eta = crossing_m / 1755.6 * (1.0 + lapse * exp_(-cube * cube));
    let even_db = 0.5 * (gain_db(r_1, eta) + gain_db(r_2, eta));
    let uneven_db = 6.0 * (0.6 - log10_(max(eta, 1.0))) * log10_(s) * log10_(q);
    let h_0 = max(even_db + min(uneven_db, even_db), 0.0);
    let root = 1.41421356237310;
    let product = (1.0 + root / r_1) * (1.0 + root / r_2);
    let share = (r_1 + r_2) / (r_1 + r_2 + 2.0 * root);
    let low_db = 10.0 * log10_(product * product * share);
    let between_db = eta * h_0 + (1.0 - eta) * low_db;
    let db = select(between_db, h_0, eta >= 1.0);
    // Where the horizons are equally far, the ratio of heights turns over.
    let is_turn = abs(difference_m) <= 1e-5 * (path.horizon_m.x + path.horizon_m.y);
    let is_step = is_near(r_1, 0.2, 1e-4) || is_near(r_2, 0.2, 1e-4) || abs(db - 15.0) < 5e-3 || is_turn;
    return Gain(db, r_1 >= 0.2 || r_2 >= 0.2, is_step);
}

fn scatter_loss(site: u32, path: Path, n_s: f32, distance_m: f32, gain: f32) -> Doubtful {
    let angle_rad = distance_m / path.radius_m - path.sight_rad;
    let arc_m = angle_rad * distance_m;
    var level_db = 71.8;
    var slope_db_m = 0.157e-3;
    var decade_db = 5.0;
    if arc_m <= 10e3 {
        level_db = 133.4;
        slope_db_m = 0.332e-3;
        decade_db = -10.0;
    } else if arc_m <= 70e3 {
        level_db = 104.6;
        slope_db_m = 0.212e-3;
        decade_db = -2.5;
    }
    let refraction_db = 0.1 * (n_s - 301.0) * exp_(-arc_m / 40e3);
    let square = angle_rad * angle_rad;
    let loss_db = level_db + slope_db_m * arc_m + decade_db * log10_(arc_m)
        + 10.0 * log10_(sites[site].wavenumber * 47.7 * square * square) - refraction_db + gain;
    return Doubtful(loss_db, is_near(arc_m, 10e3, 1e-4) || is_near(arc_m, 70e3, 1e-4));
}

fn scatter(site: u32, path: Path, n_s: f32, d_5: f32, d_6: f32) -> Scatter {
    let far = frequency_gain(site, path, n_s, d_6);
    let near = frequency_gain(site, path, n_s, d_5);
    let far_exceeds = far.is_defined && far.db > 15.0;
    let is_replaced = far_exceeds || (far.is_defined && near.db > 15.0);
    let near_loss = scatter_loss(site, path, n_s, d_5, select(near.db, far.db, is_replaced));
    let far_loss = scatter_loss(site, path, n_s, d_6, far.db);
    let is_defined = (far_exceeds || near.is_defined) && near_loss.value < 1000.0;
    return Scatter(
        near_loss.value, select(1001.0, far_loss.value, far.is_defined), !is_defined,
        far.is_near || near.is_near || near_loss.is_near || far_loss.is_near || is_near(near_loss.value, 1000.0, 1e-4));
}

// Loss of a path beyond the horizons, dB, where the diffraction line through `a_3` at `d_3` has this slope.
fn beyond_horizon(site: u32, path: Path, n_s: f32, a_3: f32, d_3: f32, slope: f32, least_m: f32) -> Doubtful {
    let distance_m = path.distance_m;
    let diffracted_db = a_3 + slope * (distance_m - d_3);
    let d_5 = path.sum_m + 200e3;
    let of_scatter = scatter(site, path, n_s, d_5, path.sum_m + 400e3);
    let scatter_slope = (of_scatter.far_db - of_scatter.near_db) / 200e3;
    let meeting_m = d_5 + (of_scatter.near_db - (a_3 + slope * (d_5 - d_3))) / (slope - scatter_slope);
    let is_doubtful = of_scatter.is_near || abs(slope - scatter_slope) < 1e-3 * abs(scatter_slope);
    if of_scatter.is_undefined || !(distance_m > meeting_m) || distance_m <= least_m {
        return Doubtful(diffracted_db, is_doubtful);
    }
    if meeting_m >= least_m {
        return Doubtful(of_scatter.near_db + scatter_slope * (distance_m - d_5), is_doubtful);
    }
    return Doubtful(a_3 + slope * (least_m - d_3) + scatter_slope * (distance_m - least_m), is_doubtful);
}
