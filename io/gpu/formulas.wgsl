// The formulas of ITM over one measured path (systems/propagation/itm), each lane a path of its own. Differences
// of nearly equal numbers are written so that f32 keeps their digits: lines from a point on them, not from an
// intercept at 0.

const PI: f32 = 3.14159265358979;
const HALF_PI: f32 = 1.57079632679490;

fn log10_(x: f32) -> f32 {
    return log2(x) * 0.301029995663981;
}

fn ln(x: f32) -> f32 {
    return log2(x) * 0.693147180559945;
}

fn exp_(x: f32) -> f32 {
    return exp2(x * 1.44269504088896);
}

fn cbrt(x: f32) -> f32 {
    return exp2(log2(x) / 3.0);
}

// Sine and cosine of an angle of -pi/2 to pi/2 by their series: the accuracy of built-in ones is not enough.
fn sine(y: f32) -> f32 {
    let s = y * y;
    return y * (1.0 + s * (-1.6666667e-1 + s * (8.3333333e-3 + s * (-1.9841270e-4 + s * (2.7557319e-6
        + s * -2.5052108e-8)))));
}

fn cosine(y: f32) -> f32 {
    let s = y * y;
    return 1.0 + s * (-0.5 + s * (4.1666667e-2 + s * (-1.3888889e-3 + s * (2.4801587e-5 + s * (-2.7557319e-7
        + s * 2.0876757e-9)))));
}

// exp(-x) - 1 for x of 0 or more.
fn minus_exp_m1(x: f32) -> f32 {
    if x < 0.125 {
        return -x * (1.0 - x * (0.5 - x * (0.16666667 - x * (4.1666667e-2 - x * 8.3333333e-3))));
    }
    return exp_(-x) - 1.0;
}

fn smooth_horizon_m(height_m: f32, radius_m: f32) -> f32 {
    return sqrt(2.0 * height_m * radius_m);
}

fn at_distance_m(delta_h_m: f32, distance_m: f32) -> f32 {
    return delta_h_m * (1.0 - 0.8 * exp_(-distance_m / 50e3));
}

fn sigma_h_m(delta_h_m: f32) -> f32 {
    return 0.78 * delta_h_m * exp_(-0.5 * sqrt(sqrt(delta_h_m)));
}

fn is_near(value: f32, threshold: f32, share: f32) -> bool {
    return abs(value - threshold) <= share * abs(threshold);
}

struct Path {
    distance_m: f32,
    heights_m: vec2<f32>,
    horizon_m: vec2<f32>,
    angle_rad: vec2<f32>,
    delta_h_m: f32,
    radius_m: f32,
    smooth_sum_m: f32,
    sum_m: f32,
    sight_rad: f32,
}

struct Diffraction {
    x_horizons: f32,
    gain_db: f32,
    height_ratio: f32,
    obstruction_m: f32,
    clutter_db: f32,
}

// A value and whether it lies next to a jump.
struct Doubtful {
    value: f32,
    is_near: bool,
}

fn height_function(x: f32, k: f32) -> Doubtful {
    let ln_x = ln(x);
    let w = -ln(k);
    let low_db = 2.5e-5 * x * x / k - 8.686 * w - 15.0;
    let rising_db = 17.372 * ln_x - 117.0;
    let far_db = 0.05751 * x - 4.343 * ln_x;
    let share = 0.0134 * x * exp_(-0.005 * x);
    let blend_db = (1.0 - share) * far_db + share * rising_db;
    let order = x * w * w * w;
    let is_low = k >= 1e-5 && order <= 5495.0;
    var near_db = select(-117.0, rising_db, x > 1.0);
    near_db = select(near_db, low_db, is_low);
    let beyond_db = select(blend_db, far_db, x >= 2000.0);
    let jump = (x < 201.0 && is_near(order, 5495.0, 5e-5)) || is_near(x, 200.0, 3e-5)
        || is_near(x, 2000.0, 3e-5) || is_near(k, 1e-5, 1e-5);
    return Doubtful(select(beyond_db, near_db, x < 200.0), jump);
}

// Normalised distance and ground parameter on an earth of another radius.
fn normalised(site: u32, radius_m: f32, distance_m: f32) -> vec2<f32> {
    let c_0 = cbrt(8493333.33 / radius_m);
    let k = sites[site].k_per_c * c_0;
    return vec2((1.607 - k) * c_0 * c_0 * sites[site].frequency_root * (distance_m / 1e3), k);
}

fn knife_edge(nu_squared: f32) -> Doubtful {
    let near_db = 6.02 + 9.11 * sqrt(nu_squared) - 1.27 * nu_squared;
    let far_db = 12.953 + 10.0 * log10_(nu_squared);
    return Doubtful(select(far_db, near_db, nu_squared < 5.76), is_near(nu_squared, 5.76, 5e-5));
}

fn diffraction_loss(site: u32, path: Path, terms: Diffraction, distance_m: f32) -> Doubtful {
    let angle_rad = distance_m / path.radius_m - path.sight_rad;
    let beyond_m = distance_m - path.sum_m;
    let scale = 0.0795775 * (sites[site].frequency_mhz / 47.7) * (angle_rad * angle_rad) * beyond_m;
    let tx = knife_edge(scale * path.horizon_m.x / (beyond_m + path.horizon_m.x));
    let rx = knife_edge(scale * path.horizon_m.y / (beyond_m + path.horizon_m.y));
    let x = normalised(site, beyond_m / angle_rad, beyond_m).x + terms.x_horizons;
    let smooth_db = 0.05751 * x - 10.0 * log10_(x) - terms.gain_db - 20.0;
    let rough_m = at_distance_m(path.delta_h_m, distance_m);
    let q = (terms.height_ratio + terms.obstruction_m / distance_m) * min(rough_m * sites[site].frequency_mhz / 47.7, 6283.2);
    let weight = 25.1 / (25.1 + sqrt(q));
    let loss_db = weight * smooth_db + (1.0 - weight) * (tx.value + rx.value) + terms.clutter_db;
    return Doubtful(loss_db, tx.is_near || rx.is_near);
}

// Two rays over rough ground, dB.
fn two_ray(site: u32, path: Path, distance_m: f32) -> Doubtful {
    let tx_m = path.heights_m.x;
    let rx_m = path.heights_m.y;
    let sum_m = tx_m + rx_m;
    let sin_psi = sum_m / sqrt(distance_m * distance_m + sum_m * sum_m);
    let rough_m = sigma_h_m(at_distance_m(path.delta_h_m, distance_m));
    let scattered = min(sites[site].wavenumber * rough_m * sin_psi, 10.0);
    let z = vec2(sites[site].impedance_re, sites[site].impedance_im);
    // The reflection R = (s - z) / (s + z) e, and 1 + R by its own digits: at grazing angles R is near -1.
    let above = vec2(sin_psi + z.x, z.y);
    let norm = dot(above, above);
    let fade_m1 = minus_exp_m1(scattered);
    let fade = 1.0 + fade_m1;
    // 1 + (s - z) / (s + z) = 2 s / (s + z).
    let near_one = vec2(above.x, -above.y) * (2.0 * sin_psi / norm);
    var reflected = (near_one - vec2(1.0, 0.0)) * fade;
    var above_minus_one = near_one.x * fade - fade_m1;
    let power = dot(reflected, reflected);
    if power < 0.25 || power < sin_psi {
        reflected *= sqrt(sin_psi / power);
        above_minus_one = 1.0 + reflected.x;
    }
    let is_near_jump = is_near(power, 0.25, 2e-5);
    let direct = sites[site].wavenumber * 2.0 * tx_m * rx_m / distance_m;
    var phase = direct;
    if direct > HALF_PI {
        phase = PI - HALF_PI * HALF_PI / direct;
    }
    // cos + Re R = (1 + Re R) - 2 sin^2(phase / 2).
    let half_sine = sine(0.5 * phase);
    let sin_phase = cosine(phase - HALF_PI);
    let received = vec2(above_minus_one - 2.0 * half_sine * half_sine, reflected.y - sin_phase);
    return Doubtful(-10.0 * log10_(dot(received, received)), is_near_jump);
}

fn curve(site: u32, number: u32, distance_m: f32) -> f32 {
    let first = 5u * number;
    let offset = (distance_m - sites[site].curves[first + 3u]) / sites[site].curves[first + 4u];
    let rise = distance_m / sites[site].curves[first + 2u];
    let square = rise * rise;
    return (sites[site].curves[first] + sites[site].curves[first + 1u] / (1.0 + offset * offset)) * square / (1.0 + square);
}

fn sigma_time_db(site: u32, minus_db: f32, plus_db: f32, z_t: f32) -> f32 {
    if z_t < 0.0 {
        return minus_db;
    }
    if z_t <= sites[site].duct_deviate {
        return plus_db;
    }
    let duct_db = sites[site].duct_share * plus_db;
    return duct_db + (plus_db - duct_db) * sites[site].duct_deviate / z_t;
}

// The finished cell: attenuation at both quantiles and the standard deviation, dB, and the flags.
fn attenuate(site: u32, measured: Measures) -> vec4<u32> {
    var flags = measured.flags;
    // A path that was not measured.
    if (flags & NEAR) != 0u {
        return vec4(0u, 0u, 0u, flags);
    }
    let n_s = sites[site].n_0 * exp_(-(measured.mean_m + f32(sites[site].offset_m)) / 9460.0);
    let radius_m = 1.0 / (157e-9 * (1.0 - 0.04665 * exp_(n_s / 179.3)));
    let is_air = n_s >= 150.5 && n_s <= 399.5 && radius_m >= 4.01e6 && radius_m <= 13.3e6;
    let step_m = measured.length_m / f32(measured.last);
    let distance_m = measured.length_m;
    let delta_h_m = measured.range_m / (1.0 - 0.8 * exp_(-(measured.span * step_m) / 50e3));
    var path: Path;
    path.distance_m = distance_m;
    path.heights_m = vec2(sites[site].antenna_tx_m, sites[site].antenna_rx_m) + measured.raised_m;
    path.horizon_m = measured.horizon * step_m;
    path.angle_rad = measured.angle_rad;
    path.delta_h_m = delta_h_m;
    path.radius_m = radius_m;
    if 2u * (u32(measured.horizon.x) + u32(measured.horizon.y)) > 3u * measured.last {
        let drop = exp_2(-0.07 * sqrt(vec2(delta_h_m) / max(path.heights_m, vec2(5.0))));
        let horizons_m = sqrt(2.0 * path.heights_m * radius_m) * drop;
        let combined_m = horizons_m.x + horizons_m.y;
        if combined_m <= distance_m {
            let short = distance_m / combined_m;
            path.heights_m *= short * short;
        }
        let smooth_m = sqrt(2.0 * path.heights_m * radius_m);
        let raised_drop = exp_2(-0.07 * sqrt(vec2(delta_h_m) / max(path.heights_m, vec2(5.0))));
        path.horizon_m = smooth_m * raised_drop;
        path.angle_rad = (0.65 * delta_h_m * (smooth_m / path.horizon_m - 1.0) - 2.0 * path.heights_m) / smooth_m;
    }
    let smooth_m = sqrt(2.0 * path.heights_m * radius_m);
    path.smooth_sum_m = smooth_m.x + smooth_m.y;
    path.sum_m = path.horizon_m.x + path.horizon_m.y;
    path.sight_rad = -max(path.angle_rad.x + path.angle_rad.y, -path.sum_m / radius_m);

    let frequency_mhz = sites[site].frequency_mhz;
    var diffraction: Diffraction;
    let structural = sites[site].antenna_tx_m * sites[site].antenna_rx_m;
    let sigma_m = sigma_h_m(at_distance_m(delta_h_m, path.smooth_sum_m));
    diffraction.clutter_db = min(5.0 * log10_(1.0 + 1e-5 * structural * frequency_mhz * sigma_m), 15.0);
    diffraction.height_ratio = sqrt(1.0 + (path.heights_m.x * path.heights_m.y - structural) / (structural + 10.0));
    diffraction.obstruction_m = path.sum_m - path.sight_rad * radius_m;
    let own = 0.5 * path.horizon_m * path.horizon_m / path.heights_m;
    let tx = normalised(site, own.x, path.horizon_m.x);
    let rx = normalised(site, own.y, path.horizon_m.y);
    let gain_tx = height_function(tx.x, tx.y);
    let gain_rx = height_function(rx.x, rx.y);
    diffraction.x_horizons = tx.x + rx.x;
    diffraction.gain_db = gain_tx.value + gain_rx.value;
    var is_jump = gain_tx.is_near || gain_rx.is_near;

    let scale_m = cbrt(radius_m * radius_m / frequency_mhz);
    let d_3 = max(path.sum_m + 5.0 * scale_m, path.smooth_sum_m);
    let d_4 = d_3 + 10.0 * scale_m;
    let loss_3 = diffraction_loss(site, path, diffraction, d_3);
    let loss_4 = diffraction_loss(site, path, diffraction, d_4);
    is_jump = is_jump || loss_3.is_near || loss_4.is_near;
    let slope = (loss_4.value - loss_3.value) / (d_4 - d_3);
    let a_3 = loss_3.value;

    var reference_db = a_3 + slope * (distance_m - d_3);
    if distance_m < path.smooth_sum_m {
        let d_s = path.smooth_sum_m;
        let a_s = a_3 + slope * (d_s - d_3);
        let intercept_db = a_3 - slope * d_3;
        let rising = intercept_db >= 0.0;
        let bare_0 = 0.04 * frequency_mhz * path.heights_m.x * path.heights_m.y;
        let d_0 = select(bare_0, min(bare_0, 0.5 * path.sum_m), rising);
        let falling_m = max(d_3 - a_3 / slope, 0.25 * path.sum_m);
        let d_1 = select(falling_m, d_0 + 0.25 * (path.sum_m - d_0), rising);
        let weight = 1.0 / (1.0 + frequency_mhz * delta_h_m / max(d_s, 10e3));
        let ray_1 = two_ray(site, path, d_1);
        let ray_0 = two_ray(site, path, d_0);
        is_jump = is_jump || ray_0.is_near || ray_1.is_near;
        let a_1 = weight * ray_1.value + (1.0 - weight) * (a_3 + slope * (d_1 - d_3));
        let a_0 = weight * ray_0.value + (1.0 - weight) * (a_3 + slope * (d_0 - d_3));
        let q = ln(d_s / d_0);
        let long_db = (d_s - d_0) * (a_1 - a_0);
        let short_db = (d_1 - d_0) * (a_s - a_0);
        let run = (d_s - d_0) * ln(d_1 / d_0) - (d_1 - d_0) * q;
        var k_2 = max((long_db - short_db) / run, 0.0);
        let curved = d_0 < d_1 && (intercept_db > 0.0 || k_2 > 0.0);
        var k_1 = (a_s - a_0 - k_2 * q) / (d_s - d_0);
        var is_bend = abs(intercept_db) < 5e-4 || is_near(d_0, d_1, 3e-5) || is_near(d_0, d_s, 3e-5)
            || is_near(d_1, d_s, 3e-5);
        // Where the curve rises from a_0 to a_s, it does not jump when its slope changes sign.
        let is_turn = abs(long_db - short_db) < 1e-5 * (abs(long_db) + abs(short_db));
        if curved {
            is_bend = is_bend || (intercept_db <= 0.0 && is_turn)
                || (abs(a_s - a_0) < 5e-4 && k_1 * d_s < 2e-3);
            if k_1 < 0.0 {
                k_2 = max(a_s - a_0, 0.0) / q;
                k_1 = select(0.0, slope, k_2 == 0.0);
            }
        } else {
            is_bend = is_bend || abs(a_s - a_1) < 5e-4 || (d_0 < d_1 && is_turn);
            k_1 = max(a_s - a_1, 0.0) / (d_s - d_1);
            k_1 = select(k_1, slope, k_1 == 0.0);
            k_2 = 0.0;
        }
        flags |= select(0u, BEND, is_bend);
        reference_db = a_s + k_1 * (distance_m - d_s) + k_2 * ln(distance_m / d_s);
    } else {
        // Troposcatter may decide only beyond.
        let least_m = max(path.sum_m + 1.088 * scale_m * sites[site].frequency_ln, path.smooth_sum_m);
        if distance_m > least_m {
            let beyond = beyond_horizon(site, path, n_s, a_3, d_3, slope, least_m);
            reference_db = beyond.value;
            flags |= select(0u, SCATTER, beyond.is_near);
        }
    }
    let a_ref_db = max(reference_db, 0.0);

    let d_ex_m = smooth_horizon_m(path.heights_m.x, 9000e3) + smooth_horizon_m(path.heights_m.y, 9000e3)
        + sites[site].variability_m;
    let d_e_m = select(130e3 + distance_m - d_ex_m, 130e3 * distance_m / d_ex_m, distance_m < d_ex_m);
    let median_db = curve(site, 0u, d_e_m);
    let minus_db = curve(site, 1u, d_e_m);
    let plus_db = curve(site, 2u, d_e_m);
    let situation_db = 5.0 + 3.0 * exp_(-d_e_m / 100e3);
    let rough = sites[site].wavenumber * at_distance_m(delta_h_m, distance_m);
    let location_db = 10.0 * rough / (rough + 13.0);
    var losses_db = vec2(0.0);
    for (var number = 0u; number < 2u; number++) {
        let z_t = sites[site].deviates[3u * number];
        let z_l = sites[site].deviates[3u * number + 1u];
        let z_s = sites[site].deviates[3u * number + 2u];
        let y_t = sigma_time_db(site, minus_db, plus_db, z_t) * z_t;
        let y_l = location_db * z_l;
        let residual = situation_db * situation_db + y_t * y_t / (7.8 + z_s * z_s) + y_l * y_l / (24.0 + z_s * z_s);
        let loss_db = a_ref_db - median_db - (y_t + y_l) - sqrt(residual) * z_s;
        // Losses below free space count as none.
        losses_db[number] = max(loss_db, 0.0);
    }
    let time_db = 0.5 * (minus_db + plus_db);
    let sigma_db = sqrt(time_db * time_db + location_db * location_db);
    flags |= select(0u, JUMP, is_jump);
    let is_number = reference_db > -1e6 && reference_db < 1e6 && losses_db.x < 1e6 && losses_db.y < 1e6
        && sigma_db >= 0.0 && sigma_db < 1e6 && is_air;
    flags |= select(ODD, 0u, is_number);
    let third = select(sigma_db, measured.ground_m + f32(sites[site].offset_m), job.wants_ground == 1u);
    return vec4(bitcast<u32>(losses_db.x), bitcast<u32>(losses_db.y), bitcast<u32>(third), flags);
}

fn exp_2(x: vec2<f32>) -> vec2<f32> {
    return exp2(x * 1.44269504088896);
}
