//! The program `groundwave`.

use std::process::ExitCode;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod allocator;

fn main() -> ExitCode {
    groundwave::cli::main()
}
