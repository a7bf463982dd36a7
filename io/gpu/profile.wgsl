// The profile of a path, sampled and measured by the 32 lanes of a workgroup; then each lane works out the
// formulas of one of 32 cells (formulas.wgsl). Sums, maxima and counts over lanes: portable.wgsl or
// subgroup.wgsl.
//
// Every number of samples, cut and threshold is an integer; where an input of one lies so near a whole number
// that f32 cannot decide as f64 does, the cell is flagged.

const LANES: u32 = 32u;

// Words of flags: answers in the low bits, reasons for the CPU above.
const VALID: u32 = 1u;
const CLEAR: u32 = 2u;
const FRESNEL_CLEAR: u32 = 4u;
const TIE: u32 = 256u;
const SPAN: u32 = 512u;
const COUNT: u32 = 1024u;
const ODD: u32 = 2048u;
const BEND: u32 = 4096u;
const VOID: u32 = 8192u;
const NEAR: u32 = 16384u;
const JUMP: u32 = 32768u;
const SCATTER: u32 = 65536u;
const FRESNEL: u32 = 131072u;

struct Job {
    rows: u32,
    columns: u32,
    // Of the window of posts: rows from the south, columns from the west, words a row of two posts each.
    post_rows: i32,
    post_columns: i32,
    stride: i32,
    first_row: u32,
    // 1 for the ground below the receiver in place of the standard deviation.
    wants_ground: u32,
    pad: u32,
}

struct Site {
    // South-western post of the square that holds the site, and the site in it, posts.
    post_row: i32,
    post_column: i32,
    north: f32,
    east: f32,
    // Whole metres subtracted from every post, and the ground at the site less these.
    offset_m: i32,
    ground_m: f32,
    // Spacing of samples, 0 with a fixed number of them.
    spacing_m: f32,
    samples_minimum: u32,
    samples_maximum: u32,
    minimum_m: f32,
    antenna_tx_m: f32,
    antenna_rx_m: f32,
    n_0: f32,
    frequency_mhz: f32,
    frequency_ln: f32,
    frequency_root: f32,
    wavenumber: f32,
    impedance_re: f32,
    impedance_im: f32,
    k_per_c: f32,
    variability_m: f32,
    duct_share: f32,
    duct_deviate: f32,
    // Wavelength, 0 where the clearance is not asked for, and half the curvature of the Earth, 1/m.
    wavelength_m: f32,
    fall_per_m: f32,
    // Median, minus and plus: two levels, dB, three distances, m.
    curves: array<f32, 15>,
    deviates: array<f32, 6>,
    pad: array<f32, 2>,
}

struct Row {
    columns: vec2<u32>,
    // Latitude from the site, posts, in two parts.
    north: vec2<f32>,
    length_m2: vec4<f32>,
    bend_north: array<vec4<f32>, 3>,
    bend_east: array<vec4<f32>, 3>,
}

struct Column {
    x: f32,
    pad: f32,
    // Longitude from the site, posts, in two parts.
    east: vec2<f32>,
}

struct Measures {
    raised_m: vec2<f32>,
    // Steps to the horizons.
    horizon: vec2<f32>,
    angle_rad: vec2<f32>,
    range_m: f32,
    // Stretch that the range was taken over, steps.
    span: f32,
    mean_m: f32,
    last: u32,
    length_m: f32,
    // Ground below the receiver less the offset.
    ground_m: f32,
    flags: u32,
}

@group(0) @binding(0) var<uniform> job: Job;
@group(0) @binding(1) var<storage, read> sites: array<Site>;
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read> columns: array<Column>;
@group(0) @binding(4) var<storage, read> posts: array<u32>;
@group(0) @binding(5) var<storage, read_write> cells: array<vec4<u32>>;

var<workgroup> heights: array<f32, 1024>;
var<workgroup> residuals: array<f32, 256>;
var<workgroup> measures: array<Measures, 32>;

fn cubic(c: vec4<f32>, w: f32) -> f32 {
    return c.x + w * (c.y + w * (c.z + w * c.w));
}

// One axis of the path: the slope per sample in two parts, of which a whole number of samples times the first
// is exact, and the bend.
struct Axis {
    slope: vec2<f32>,
    bend: vec3<f32>,
    start: f32,
}

fn axis(rise: vec2<f32>, bend: vec3<f32>, start: f32, last: f32) -> Axis {
    // 14 bits, and 10 of a number of samples.
    let high = bitcast<f32>(bitcast<u32>(rise.x / last) & 0xfffffc00u);
    let low = ((rise.x - high * last) + rise.y) / last;
    return Axis(vec2(high, low), bend, start);
}

// Whole posts from the site's, and the rest.
fn position(way: Axis, number: f32, t: f32) -> vec2<f32> {
    let far = number * way.slope.x;
    let whole = floor(far);
    let bent = t * (1.0 - t) * (way.bend.x + t * (way.bend.y + t * way.bend.z));
    let rest = (far - whole) + (number * way.slope.y + (bent + way.start));
    let more = floor(rest);
    return vec2(whole + more, rest - more);
}

fn post(row: i32, column: i32) -> i32 {
    let word = posts[row * job.stride + (column >> 1u)];
    return extractBits(bitcast<i32>(word), u32(column & 1) * 16u, 16u);
}

// Height less the offset, m, and 1 in the second component where a post is void or off the window.
fn height(site: u32, north: vec2<f32>, east: vec2<f32>) -> vec2<f32> {
    let row = sites[site].post_row + i32(north.x);
    let column = sites[site].post_column + i32(east.x);
    if row < 0 || column < 0 || row + 1 >= job.post_rows || column + 1 >= job.post_columns {
        return vec2(0.0, 1.0);
    }
    let sw = post(row, column);
    let se = post(row, column + 1);
    let nw = post(row + 1, column);
    let ne = post(row + 1, column + 1);
    if min(min(sw, se), min(nw, ne)) == -32768 {
        return vec2(0.0, 1.0);
    }
    let offset = sites[site].offset_m;
    let bottom = f32(se - sw) * east.y + f32(sw - offset);
    let top = f32(ne - nw) * east.y + f32(nw - offset);
    return vec2((top - bottom) * north.y + bottom, 0.0);
}

// True if a number, computed with this relative error, may be on either side of a whole one.
fn is_whole(number: f32, error: f32) -> bool {
    return abs(number - round(number)) <= error * max(number, 1.0);
}

// A cut next to a terminal, steps: whole, exact, and 1 where f32 cannot decide.
fn cut(steps: u32, antenna_m: f32, step_m: f32) -> vec3<f32> {
    let limit = 15.0 * antenna_m / step_m;
    let tenth = 0.1 * f32(steps);
    if tenth <= limit {
        return vec3(f32(steps / 10u), tenth, select(0.0, 1.0, tenth > limit * 0.999998 && is_whole(limit, 2e-6)));
    }
    return vec3(floor(limit), limit, select(0.0, 1.0, is_whole(limit, 1e-6)));
}

// The whole points between two, widened to at least one step.
fn interval(first: u32, end: u32, last: u32) -> vec2<u32> {
    if end > first {
        return vec2(first, end);
    }
    return vec2(max(first, 1u) - 1u, min(end + 1u, last));
}

// Middle and slope of the line through `count` values of a sum and a moment about their middle.
fn line(sum: f32, moment: f32, first: f32, final_value: f32, count: f32) -> vec2<f32> {
    let length = count - 1.0;
    let inner = sum - 0.5 * (first + final_value);
    let turned = moment - 0.25 * (final_value - first) * length;
    return vec2(inner / length, turned * 12.0 / ((length * length + 2.0) * length));
}

// Errors of the angles to a point of the profile: those of a height between different posts, and those of the
// arithmetic alone over water, where neighbouring points have nearly the same angle.
fn angle_error(i: u32, away_m: vec2<f32>, ends_m: vec2<f32>, bulge: f32) -> vec2<f32> {
    let is_level = heights[i - 1u] == heights[i] && heights[i] == heights[i + 1u];
    let arithmetic = abs(heights[i] - ends_m) / away_m + away_m * bulge;
    return select(3e-5 / away_m, vec2(0.0), is_level) + 3e-7 * arithmetic;
}

// Number of samples of a path less one, and 1 where f32 cannot decide.
fn intervals(site: u32, length_m: f32) -> vec2<u32> {
    let minimum = sites[site].samples_minimum;
    let maximum = sites[site].samples_maximum;
    let spacing_m = sites[site].spacing_m;
    if spacing_m <= 0.0 {
        return vec2(minimum - 1u, 0u);
    }
    let ratio = min(length_m / spacing_m, 1e6);
    let number = clamp(u32(ceil(ratio)) + 1u, minimum, maximum);
    let is_decided = ratio > f32(maximum) || ratio < f32(minimum) - 2.0 || !is_whole(ratio, 4e-7);
    return vec2(number - 1u, select(1u, 0u, is_decided));
}

fn measure(site: u32, row_place: u32, column_place: u32, place: u32, lane: u32) {
    let x = columns[column_place].x;
    let w = x * x;
    let length_m = sqrt(max(cubic(rows[row_place].length_m2, w), 0.0));
    let counted = intervals(site, length_m);
    let last = counted.x;
    let last_f = f32(last);
    let step_m = length_m / last_f;
    var flags = select(0u, COUNT, counted.y == 1u);

    // The ground along the path, and its mean without the end tenths.
    let north = axis(rows[row_place].north, vec3(
        cubic(rows[row_place].bend_north[0], w),
        cubic(rows[row_place].bend_north[1], w),
        cubic(rows[row_place].bend_north[2], w)), sites[site].north, last_f);
    let east = axis(columns[column_place].east, vec3(
        x * cubic(rows[row_place].bend_east[0], w),
        x * cubic(rows[row_place].bend_east[1], w),
        x * cubic(rows[row_place].bend_east[2], w)), sites[site].east, last_f);
    let tenth = last / 10u;
    var middle_sum = 0.0;
    var voids = 0.0;
    // Those of the path before are no longer read.
    workgroupBarrier();
    for (var i = lane; i <= last; i += LANES) {
        var m = sites[site].ground_m;
        if i > 0u {
            let number = f32(i);
            let t = number / last_f;
            let ground = height(site, position(north, number, t), position(east, number, t));
            m = ground.x;
            voids += ground.y;
        }
        heights[i] = m;
        if i >= tenth && i + tenth <= last {
            middle_sum += m;
        }
    }
    workgroupBarrier();
    let sums = sum4(vec4(middle_sum, voids, 0.0, 0.0), lane);
    let mean_m = sums.x / f32(last + 1u - 2u * tenth);
    flags |= select(0u, VOID, sums.y > 0.0);

    // Horizons: the greatest angle from each end, and the points that may have it.
    let n_s = sites[site].n_0 * exp(-(mean_m + f32(sites[site].offset_m)) / 9460.0);
    let bulge = 0.5 * 157e-9 * (1.0 - 0.04665 * exp(n_s / 179.3));
    let tx_m = heights[0] + sites[site].antenna_tx_m;
    let rx_m = heights[last] + sites[site].antenna_rx_m;
    let rise = (rx_m - tx_m) / length_m;
    let own = vec2(rise - length_m * bulge, -rise - length_m * bulge);
    let own_error = 3e-5 / length_m + 2e-7 * abs(own);
    var best = vec4(own, own - own_error);
    var lowest_m = 1e9;
    let asks = sites[site].wavelength_m > 0.0;
    for (var i = lane + 1u; i < last; i += LANES) {
        let away_m = vec2(f32(i), f32(last - i)) * step_m;
        let angle = (heights[i] - vec2(tx_m, rx_m)) / away_m - away_m * bulge;
        let error = angle_error(i, away_m, vec2(tx_m, rx_m), bulge);
        best = max(best, vec4(angle, angle - error));
        if asks {
            let ray_m = tx_m + rise * away_m.x - heights[i] - sites[site].fall_per_m * away_m.x * away_m.y;
            let radius_m = sqrt(sites[site].wavelength_m * away_m.x * away_m.y / length_m);
            lowest_m = min(lowest_m, ray_m - 0.6 * radius_m);
        }
    }
    best = max4(best, lane);
    let is_own = own + own_error >= best.zw;
    var candidates = vec4(0.0);
    for (var i = lane + 1u; i < last; i += LANES) {
        let away_m = vec2(f32(i), f32(last - i)) * step_m;
        let angle = (heights[i] - vec2(tx_m, rx_m)) / away_m - away_m * bulge;
        let error = angle_error(i, away_m, vec2(tx_m, rx_m), bulge);
        let is_best = angle + error >= best.zw;
        let steps = vec2(f32(i), f32(last - i));
        candidates += vec4(select(vec2(0.0), vec2(1.0), is_best), select(vec2(0.0), steps, is_best));
    }
    candidates = sum4(candidates, lane);
    let both = candidates.xy + select(vec2(0.0), vec2(1.0), is_own);
    flags |= select(0u, TIE, both.x != 1.0 || both.y != 1.0);
    let steps = select(clamp(vec2<u32>(candidates.zw), vec2(1u), vec2(last)), vec2(last), is_own);
    flags |= select(0u, CLEAR, is_own.x && is_own.y);
    if asks {
        let clear_m = -max4(vec4(-lowest_m), lane).x;
        flags |= select(0u, FRESNEL_CLEAR, clear_m >= 0.0);
        flags |= select(0u, FRESNEL, abs(clear_m) < 2e-3);
    }

    // Lines through the ground near each end.
    let cut_tx = cut(steps.x, sites[site].antenna_tx_m, step_m);
    let cut_rx = cut(steps.y, sites[site].antenna_rx_m, step_m);
    flags |= select(0u, COUNT, cut_tx.z + cut_rx.z > 0.0);
    let first = min(u32(cut_tx.x), last);
    let end = last - min(u32(cut_rx.x), last);
    let in_sight = 2u * (steps.x + steps.y) > 3u * last;
    let near_end = select(min((9u * steps.x + 9u) / 10u, last), end, in_sight);
    let far_first = select(last - min((9u * steps.y + 9u) / 10u, last), first, in_sight);
    let near_fit = interval(first, near_end, last);
    let far_fit = interval(far_first, end, last);
    let near_middle = 0.5 * f32(near_fit.x + near_fit.y);
    let far_middle = 0.5 * f32(far_fit.x + far_fit.y);
    var fits = vec4(0.0);
    for (var i = lane; i <= last; i += LANES) {
        let m = heights[i] - mean_m;
        if i >= near_fit.x && i <= near_fit.y {
            fits.x += m;
            fits.y += m * (f32(i) - near_middle);
        }
        if i >= far_fit.x && i <= far_fit.y {
            fits.z += m;
            fits.w += m * (f32(i) - far_middle);
        }
    }
    fits = sum4(fits, lane);
    let near_line = line(fits.x, fits.y, heights[near_fit.x] - mean_m, heights[near_fit.y] - mean_m,
        f32(near_fit.y - near_fit.x + 1u));
    let far_line = line(fits.z, fits.w, heights[far_fit.x] - mean_m, heights[far_fit.y] - mean_m,
        f32(far_fit.y - far_fit.x + 1u));
    let raised_tx_m = heights[0] - mean_m - (near_line.x - near_line.y * near_middle);
    let raised_rx_m = heights[last] - mean_m - (far_line.x + far_line.y * (last_f - far_middle));

    // The terrain irregularity: samples between the cuts, a line taken off, the range between deciles.
    let is_tenth = cut_tx.y == 0.1 * f32(steps.x) && cut_rx.y == 0.1 * f32(steps.y);
    let tenths = 10u * last - steps.x - steps.y;
    var span = last_f - cut_tx.y - cut_rx.y;
    if is_tenth {
        span = 0.1 * f32(tenths);
    }
    let has_span = select(span >= 2.0, tenths >= 20u, is_tenth);
    flags |= select(0u, SPAN, !is_tenth && abs(span - 2.0) < 1e-4);
    var decile = u32(0.1 * (max(span, 0.0) + 8.0));
    if is_tenth {
        decile = (tenths + 80u) / 100u;
        let is_exact = steps.x % 10u == 0u && steps.y % 10u == 0u;
        flags |= select(0u, SPAN, (tenths + 80u) % 100u == 0u && !is_exact && decile > 4u && decile < 26u);
    } else if decile < 26u && is_whole(0.1 * (span + 8.0), 1e-6) && span > 41.0 {
        flags |= SPAN;
    }
    decile = clamp(decile, 4u, 25u);
    let count = 10u * decile - 5u;
    let spacing = max(span, 0.0) / f32(count - 1u);
    let arm = 0.5 * f32(count - 1u);
    var moments = vec2(0.0);
    for (var j = lane; j < count; j += LANES) {
        let at = cut_tx.y + f32(j) * spacing;
        let left = min(u32(at), last - 1u);
        let m = heights[left] - mean_m;
        let value = m + (heights[left + 1u] - mean_m - m) * min(at - f32(left), 1.0);
        residuals[j] = value;
        moments += vec2(value, value * (f32(j) - arm));
    }
    workgroupBarrier();
    let total = sum4(vec4(moments, 0.0, 0.0), lane);
    let level = line(total.x, total.y, residuals[0], residuals[count - 1u], f32(count));
    // Both ends are read by all before they change.
    workgroupBarrier();
    var extremes = vec4(-1e9);
    for (var j = lane; j < count; j += LANES) {
        let value = residuals[j] - (level.y * (f32(j) - arm) + level.x);
        residuals[j] = value;
        extremes = max(extremes, vec4(value, -value, -1e9, -1e9));
    }
    extremes = max4(extremes, lane);
    var range_m = 0.0;
    let deciles = ranks(count, decile, vec2(-extremes.y, extremes.x), lane);
    if has_span {
        range_m = deciles.y - deciles.x;
    }
    if lane == place {
        measures[place] = Measures(
            max(vec2(raised_tx_m, raised_rx_m), vec2(0.0)), vec2<f32>(steps), best.xy, range_m, span, mean_m,
            last, length_m, heights[last], flags | VALID);
    }
}

// The `rank`-th least and the `rank`-th greatest of the residuals, by bisection of their range.
fn ranks(count: u32, rank: u32, extremes: vec2<f32>, lane: u32) -> vec2<f32> {
    // Both as the greatest number that at least `rank` reach: of the negative values and of the values.
    var low = vec2(-extremes.y, extremes.x);
    var high = vec2(-extremes.x, extremes.y);
    var is_found = vec2(high.x <= low.x, high.y <= low.y);
    for (var turn = 0u; turn < 22u; turn++) {
        let middle = 0.5 * (low + high);
        var reaching = 0u;
        for (var j = lane; j < count; j += LANES) {
            let value = vec2(-residuals[j], residuals[j]);
            reaching += select(0u, 1u, value.x >= middle.x) + select(0u, 65536u, value.y >= middle.y);
        }
        let counts = count_sum(reaching, lane);
        let both = vec2(counts & 65535u, counts >> 16u);
        let is_enough = both >= vec2(rank);
        low = select(low, middle, is_enough & !is_found);
        high = select(high, middle, !is_enough & !is_found);
        is_found = is_found | (both == vec2(rank));
        if all(is_found) {
            break;
        }
    }
    var nearest = vec4(-1e9);
    for (var j = lane; j < count; j += LANES) {
        let value = vec2(-residuals[j], residuals[j]);
        let reached = select(vec2(-1e9), -value, value >= low);
        nearest = max(nearest, vec4(reached, -1e9, -1e9));
    }
    nearest = max4(nearest, lane);
    return vec2(nearest.x, -nearest.y);
}

@compute @workgroup_size(32)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let site = group.z;
    let row = group.y + job.first_row;
    let row_place = site * job.rows + row;
    let bounds = rows[row_place].columns;
    let first = bounds.x + group.x * LANES;
    if first >= bounds.y {
        return;
    }
    let count = min(bounds.y - first, LANES);
    for (var place = 0u; place < count; place++) {
        let column_place = site * job.columns + first + place;
        let x = columns[column_place].x;
        let length_m = sqrt(max(cubic(rows[row_place].length_m2, x * x), 0.0));
        // Nearer paths have another model.
        if length_m < sites[site].minimum_m * 1.000001 {
            if lane == place {
                measures[place].flags = VALID | NEAR;
            }
        } else {
            measure(site, row_place, column_place, place, lane);
        }
    }
    // Each lane wrote what it reads.
    if lane < count {
        cells[row_place * job.columns + first + lane] = attenuate(site, measures[lane]);
    }
}
