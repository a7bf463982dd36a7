// Reductions over the 32 lanes of a workgroup that are one subgroup.

fn sum4(value: vec4<f32>, lane: u32) -> vec4<f32> {
    return subgroupAdd(value);
}

fn max4(value: vec4<f32>, lane: u32) -> vec4<f32> {
    return subgroupMax(value);
}

fn count_sum(value: u32, lane: u32) -> u32 {
    return subgroupAdd(value);
}
