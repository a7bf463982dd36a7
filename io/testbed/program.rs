//! Programs run in a network namespace.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::error::TestbedError;
use super::namespace::inside;

/// Runs a program in the namespace at a path to its end, with any exit status.
///
/// # Errors
/// When the namespace cannot be entered or the program not started.
pub fn outcome(
    path: &Path,
    hint: &'static str,
    program: &str,
    arguments: &[String],
) -> Result<Output, TestbedError> {
    let ran = inside(path, || Command::new(program).args(arguments).stdin(Stdio::null()).output())?;
    ran.map_err(|source| TestbedError::Program { program: program.to_owned(), hint, source })
}

/// Standard output of a program that must succeed; otherwise as [`outcome`].
///
/// # Errors
/// When it fails.
pub fn output_of(
    path: &Path,
    hint: &'static str,
    program: &str,
    arguments: &[&str],
) -> Result<String, TestbedError> {
    let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
    let output = outcome(path, hint, program, &arguments)?;
    if !output.status.success() {
        let output = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let program = program.to_owned();
        return Err(TestbedError::Failed { program, output });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
