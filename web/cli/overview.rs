//! `groundwave` without a command: the next step on this machine.

use groundwave_http::Failure;
use serde_json::json;

use super::doctor::{Finding, findings};
use super::output::{self, Output};

/// A first step.
struct Step {
    command: &'static str,
    purpose: &'static str,
}

const STEPS: [Step; 6] = [
    Step { command: "groundwave demo", purpose: "the page with a simulated mesh, in this browser" },
    Step { command: "groundwave init mesh.toml", purpose: "a first scenario of your own" },
    Step { command: "groundwave run mesh.toml", purpose: "its links, routes and rates" },
    Step { command: "groundwave serve planning", purpose: "plan masts and coverage on a map" },
    Step {
        command: "groundwave doctor",
        purpose: "abilities of this machine, and ways to the rest",
    },
    Step { command: "groundwave --help", purpose: "all commands" },
];

/// Shows the next step, and how many abilities this machine lacks.
pub fn show(output: Output) -> Result<(), Failure> {
    let findings = findings();
    let count = findings.iter().filter(|finding| !finding.is_met()).count();
    if output.json {
        let steps = STEPS.map(|step| json!({ "command": step.command, "purpose": step.purpose }));
        return output.json(
            &json!({ "version": env!("CARGO_PKG_VERSION"), "steps": steps, "missing": count }),
        );
    }
    let width = STEPS.iter().map(|step| step.command.len()).max().unwrap_or(0);
    let mut text = format!(
        "{}\nplan, simulate, emulate and operate wireless meshes on real terrain\n\n",
        output::heading(concat!("groundwave ", env!("CARGO_PKG_VERSION")))
    );
    for Step { command, purpose } in STEPS {
        text += &format!("  {command:width$}  {purpose}\n");
    }
    text += &format!("\n{}\n", output::faint(&summary(count, &findings)));
    output.text(&text)
}

fn summary(count: usize, findings: &[Finding]) -> String {
    match count {
        0 => format!("this machine: all {} abilities", findings.len()),
        count => {
            let missing = findings.iter().filter(|finding| !finding.is_met());
            let names: Vec<_> = missing.map(|finding| finding.ability).collect();
            format!(
                "this machine lacks {count} of {} abilities: {}",
                findings.len(),
                names.join(", ")
            )
        }
    }
}
