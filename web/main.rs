//! The program `groundwave`.

use std::process::ExitCode;

fn main() -> ExitCode {
    groundwave::cli::main()
}
