//! The program: it composes the floors and does nothing else.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
