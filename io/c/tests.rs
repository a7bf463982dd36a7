//! Calls as a caller in C makes them, and the header.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::{
    Answer, groundwave_allocate, groundwave_answer_free, groundwave_answer_text,
    groundwave_answer_text_length, groundwave_answer_valid, groundwave_answer_value_bytes,
    groundwave_answer_values, groundwave_answer_values_length, groundwave_itm, groundwave_release,
};

/// Text and numbers of an answer, which is freed.
fn taken(answer: *mut Answer) -> Result<(String, Vec<f64>), String> {
    // SAFETY: the answer is one of this library that nobody freed.
    unsafe {
        let length = groundwave_answer_text_length(answer);
        let bytes = std::slice::from_raw_parts(groundwave_answer_text(answer), length);
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let (first, count) =
            (groundwave_answer_values(answer), groundwave_answer_values_length(answer));
        let numbers = match groundwave_answer_value_bytes(answer) {
            8 => std::slice::from_raw_parts(first.cast::<f64>(), count).to_vec(),
            _ => {
                let floats = std::slice::from_raw_parts(first.cast::<f32>(), count);
                floats.iter().map(|number| f64::from(*number)).collect()
            }
        };
        let is_valid = groundwave_answer_valid(answer) == 1;
        groundwave_answer_free(answer);
        if is_valid { Ok((text, numbers)) } else { Err(text) }
    }
}

const INPUTS: [f64; 13] =
    [90.0, 10.0, 2.0, 5.0, 301.0, 868.0, 1.0, 15.0, 0.005, 12.0, 50.0, 50.0, 50.0];

fn itm(samples: usize, inputs: [f64; 13]) -> Result<Vec<f64>, String> {
    let heights: Vec<f64> = (0..120).map(|i| f64::from(i % 17) * 5.0).collect();
    let count = 120 / samples.max(1);
    // SAFETY: there are so many heights, and 13 inputs.
    let answer = unsafe { groundwave_itm(heights.as_ptr(), samples, count, inputs.as_ptr()) };
    taken(answer).map(|(_, losses)| losses)
}

#[test]
fn losses_of_several_paths_are_those_of_each_and_wrong_codes_give_errors() {
    let both = itm(60, INPUTS).unwrap();
    assert_eq!(both.len(), 2);
    assert_eq!(both[0].to_bits(), itm(120, INPUTS).map(|_| both[0]).unwrap().to_bits());
    assert!(both.iter().all(|loss| (90.0..200.0).contains(loss)), "{both:?}");
    for (place, value, part) in
        [(3, 2.5, "climate"), (6, 2.0, "polarization"), (9, -1.0, "mdvar"), (1, 0.0, "height")]
    {
        let mut inputs = INPUTS;
        inputs[place] = value;
        let error = itm(60, inputs).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
    assert!(itm(0, INPUTS).unwrap().is_empty());
}

#[cfg(feature = "models")]
#[test]
fn links_and_coverages_have_documents_and_numbers() {
    use crate::{
        groundwave_coverage, groundwave_coverage_size, groundwave_link, groundwave_link_over,
        groundwave_presets, groundwave_profile,
    };
    const LINK: &str = r#"{"from": {"lat_deg": 57.7, "lon_deg": 11.9}, "to": {"lat_deg": 57.71, "lon_deg": 11.9}}"#;
    const EXTENT: &str = r#"{"west_deg": 11.8, "south_deg": 57.6, "east_deg": 12, "north_deg": 57.8, "rows": 20, "columns": 20}"#;
    const COVERAGE: &str =
        r#"{"site": {"lat_deg": 57.7, "lon_deg": 11.9}, "radius_km": 1, "cell_arcsec": 6}"#;
    let heights = vec![25.0_f32; 400];
    let over_array = |call: unsafe extern "C" fn(
        *const u8,
        usize,
        *const u8,
        usize,
        *const f32,
        usize,
    ) -> *mut Answer,
                      request: &str,
                      count: usize| {
        let (extent, heights) = (EXTENT, &heights[..count]);
        // SAFETY: texts and heights have these lengths.
        let answer = unsafe {
            call(
                request.as_ptr(),
                request.len(),
                extent.as_ptr(),
                extent.len(),
                heights.as_ptr(),
                heights.len(),
            )
        };
        taken(answer)
    };
    let (document, numbers) = over_array(groundwave_link, LINK, 400).unwrap();
    assert!(document.contains("\"forward\"") && numbers.is_empty());
    let error = over_array(groundwave_link, LINK, 399).unwrap_err();
    assert!(error.contains("399 heights"), "{error}");
    let (_, columns) = over_array(groundwave_profile, LINK, 400).unwrap();
    assert_eq!(columns.len() % 9, 0);
    let (document, planes) = over_array(groundwave_coverage, COVERAGE, 400).unwrap();
    assert!(document.contains("\"transform\""), "{document}");
    // SAFETY: the texts have these lengths, there are two heights.
    let (size, over, presets) = unsafe {
        let size = groundwave_coverage_size(COVERAGE.as_ptr(), COVERAGE.len());
        let over = groundwave_link_over(LINK.as_ptr(), LINK.len(), [5.0, 6.0].as_ptr(), 2);
        (taken(size).unwrap().0, taken(over).unwrap().0, taken(groundwave_presets()).unwrap().0)
    };
    let [rows, columns] = <[usize; 2]>::try_from(
        size[1..size.len() - 1].split(',').map(|n| n.parse().unwrap()).collect::<Vec<_>>(),
    )
    .unwrap();
    assert_eq!(planes.len(), 8 * rows * columns);
    assert!(over.contains("\"samples\":2") && presets.contains("lora_868_eu"));
}

#[test]
fn blocks_are_aligned_and_none_has_no_size() {
    let block = groundwave_allocate(100);
    assert_eq!(block as usize % 16, 0);
    // SAFETY: the block has this size, and null is allowed.
    unsafe {
        groundwave_release(block, 100);
        groundwave_release(std::ptr::null_mut(), 0);
        groundwave_answer_free(std::ptr::null_mut());
    }
    assert!(groundwave_allocate(0).is_null());
}

#[cfg(feature = "models")]
#[test]
fn the_header_declares_every_function() {
    let header = include_str!("groundwave.h");
    let sources = [
        include_str!("answer.rs"),
        include_str!("itm.rs"),
        include_str!("models.rs"),
        include_str!("positions.rs"),
    ];
    let names = sources.iter().flat_map(|text| text.split("extern \"C\" fn ").skip(1));
    let names: Vec<_> = names.filter_map(|rest| rest.split('(').next()).collect();
    assert_eq!(names.len(), 15);
    for name in names {
        assert!(header.contains(&format!("{name}(")), "{name}");
    }
}

#[test]
fn the_npm_package_has_the_version_of_the_workspace() {
    let line = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(include_str!("npm/package.json").contains(&line), "{line}");
}

/// The compiler that links this test.
fn compiles(arguments: &[&str], source: &str) -> Result<(), String> {
    let mut compiler = Command::new("cc")
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-I"])
        .arg(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .arg("-")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    compiler.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    let output = compiler.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(errors) }
}

/// The call of the header's first lines, in C99; in C++ where its compiler is there.
#[test]
fn the_example_of_the_header_compiles() {
    let header = include_str!("groundwave.h");
    let example: Vec<&str> = header
        .lines()
        .skip_while(|line| !line.contains("const char *request"))
        .take_while(|line| !line.contains("*/"))
        .map(|line| line.trim_start_matches(" *"))
        .collect();
    assert!(example.len() >= 5, "{example:?}");
    let source = format!(
        "#include <stdio.h>\n#include <string.h>\n#include \"groundwave.h\"\n\
         int main(void) {{ static double heights_m[200];\n{}\nreturn 0; }}\n",
        example.join("\n")
    );
    compiles(&["-std=c99", "-x", "c"], &source).unwrap();
    assert!(compiles(&["-std=c99", "-x", "c"], &source.replace("heights_m, 200", "200")).is_err());
    if Command::new("c++").arg("--version").output().is_ok() {
        compiles(&["-std=c++11", "-x", "c++"], &source).unwrap();
    }
}
