//! Impairments as commands of `tc`(8), for scripts and for people who know them.

use groundwave_impair::{Capabilities, Extensions, Impairment};

use super::stack::{NETEM, TBF, plan};
use super::{Handle, KernelError, Link, netem_plan};

/// Capabilities of a kernel with every other module: `tc` reports a missing one.
fn capabilities(netem: bool) -> Capabilities {
    Capabilities {
        netem,
        tbf: true,
        pfifo: true,
        bfifo: true,
        extensions: Extensions { gilbert_elliott: true, paretonormal: true },
        missing: Vec::new(),
        backend_name: String::new(),
        backend_version: String::new(),
    }
}

/// Commands of `tc`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TcCommands {
    /// The commands, in their order.
    pub commands: Vec<String>,
    /// Reasons why `tc` cannot set the rest; empty where the commands are all.
    pub omissions: Vec<&'static str>,
}

/// Commands that put `impairment` into force on an `interface` without queueing disciplines of its own,
/// with the handles that the daemon uses; the command that removes all of them for no impairment. As the
/// daemon does, they use `netem` wherever the kernel has it.
///
/// # Errors
/// [`KernelError::Unsupported`] for what needs `netem`, without it.
pub fn tc_commands(
    interface: &str,
    impairment: &Impairment,
    netem: bool,
) -> Result<TcCommands, KernelError> {
    // Of the link only the length of its frames matters, which `tc` takes from the interface.
    let stack = plan(impairment, &Link::default(), &capabilities(netem), None)?;
    if stack.is_empty() {
        let commands = vec![format!("tc qdisc del dev {interface} root")];
        return Ok(TcCommands { commands, omissions: Vec::new() });
    }
    let add = |parent: Handle, handle: Handle, options: String| {
        let place = match parent {
            Handle::ROOT => "root".to_owned(),
            parent => format!("parent {parent}"),
        };
        format!("tc qdisc add dev {interface} {place} handle {handle} {options}")
    };
    let (mut commands, mut omissions) = (Vec::new(), Vec::new());
    if let Some(netem) = &stack.netem {
        let (words, reasons) = netem_plan::words(netem, impairment);
        commands.push(add(Handle::ROOT, NETEM, words));
        omissions = reasons;
    }
    if let (Some(tbf), Some(rate)) = (&stack.tbf, &impairment.rate) {
        // Bytes: `bps` of tc are bytes a second.
        let text =
            format!("tbf rate {}bps burst {} limit {}", tbf.rate, rate.burst_bytes, tbf.limit);
        commands.push(add(stack.under_netem(), TBF, text));
    }
    if let Some(leaf) = &stack.leaf {
        let text = format!("{} limit {}", leaf.kind(), leaf.limit);
        commands.push(add(stack.under_tbf(), stack.leaf_handle(), text));
    }
    Ok(TcCommands { commands, omissions })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(json: serde_json::Value) -> Vec<String> {
        let impairment: Impairment = serde_json::from_value(json).unwrap();
        tc_commands("eth0", &impairment, true).unwrap().commands
    }

    #[test]
    fn every_field_gives_words() {
        let all = commands(serde_json::json!({
            "latency": {"kind": "stochastic", "mean": 50_000_000, "jitter": 2_500, "correlation": 0.25,
                "distribution": {"kind": "normal"}},
            "loss": {"model": "gilbert-elliott", "p": 0.01, "r": 0.3, "one_minus_h": 0.0,
                "one_minus_k": 1.0},
            "duplication": {"pct": 0.5}, "corruption": {"pct": 0.1, "correlation": 0.5},
            "reordering": {"pct": 25.0, "gap": 5},
            "rate": {"bps": 10_000_000, "burst_bytes": 20_000},
            "queue": {"limit": {"unit": "packets", "value": 500}}}));
        let [netem, tbf, queue] = &all[..] else { panic!("{all:?}") };
        assert!(
            netem.starts_with("tc qdisc add dev eth0 root handle 6757: netem limit ")
                && netem.ends_with(
                    " delay 50ms 2.500us 25% distribution normal loss gemodel 1% 30% 100% 0% \
                     duplicate 0.5% reorder 25% gap 5 corrupt 0.1% 50%"
                ),
            "{netem}"
        );
        assert!(
            tbf.starts_with(
                "tc qdisc add dev eth0 parent 6757:1 handle 6758: tbf rate 1250000bps burst 20000 limit "
            ),
            "{tbf}"
        );
        assert_eq!(queue, "tc qdisc add dev eth0 parent 6758:1 handle 6759: pfifo limit 500");
        let none = commands(serde_json::json!({}));
        assert_eq!(none, ["tc qdisc del dev eth0 root"]);
    }
}
