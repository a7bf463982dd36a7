// Reductions over the 32 lanes of a workgroup by its memory: for subgroups of any size.

var<workgroup> parts: array<vec4<f32>, 32>;
var<workgroup> part_counts: array<u32, 32>;
var<workgroup> total_count: u32;

fn sum4(value: vec4<f32>, lane: u32) -> vec4<f32> {
    workgroupBarrier();
    parts[lane] = value;
    workgroupBarrier();
    var sum = vec4(0.0);
    for (var i = 0u; i < 32u; i++) {
        sum += parts[i];
    }
    return sum;
}

fn max4(value: vec4<f32>, lane: u32) -> vec4<f32> {
    workgroupBarrier();
    parts[lane] = value;
    workgroupBarrier();
    var greatest = parts[0];
    for (var i = 1u; i < 32u; i++) {
        greatest = max(greatest, parts[i]);
    }
    return greatest;
}

// The same for all lanes, so that loops may end by it.
fn count_sum(value: u32, lane: u32) -> u32 {
    part_counts[lane] = value;
    workgroupBarrier();
    if lane == 0u {
        var sum = 0u;
        for (var i = 0u; i < 32u; i++) {
            sum += part_counts[i];
        }
        total_count = sum;
    }
    return workgroupUniformLoad(&total_count);
}
