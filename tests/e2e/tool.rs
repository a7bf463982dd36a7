//! Programs of the virtual machine, in its namespaces.

use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// A program in a namespace, or in the virtual machine's root namespace for "".
pub fn command(netns: &str, words: &[&str]) -> Command {
    let mut all = match netns {
        "" => Vec::new(),
        netns => vec!["ip", "netns", "exec", netns],
    };
    all.extend_from_slice(words);
    let mut command = Command::new(all[0]);
    command.args(&all[1..]).stdin(Stdio::null());
    command
}

/// Output of a program and `true` if it succeeded.
pub fn try_run(netns: &str, line: &str) -> (bool, String) {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let output = command(netns, &words).output().unwrap_or_else(|err| panic!("{line}: {err}"));
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// Output of a program; it must succeed.
pub fn run(netns: &str, line: &str) -> String {
    let (ok, output) = try_run(netns, line);
    assert!(ok, "{netns}: {line}: {output}");
    output
}

/// A program that ends with its keeper.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program that writes to a file of the share for answers.
pub fn start(netns: &str, line: &str, log: &str) -> Running {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let log = std::fs::File::create(format!("/run/out/{log}")).unwrap();
    let mut command = command(netns, &words);
    command.stdout(log.try_clone().unwrap()).stderr(log);
    Running(command.spawn().unwrap_or_else(|err| panic!("{line}: {err}")))
}

/// Time since the virtual machine started, s.
pub fn uptime() -> String {
    let text = std::fs::read_to_string("/proc/uptime").unwrap();
    text.split(' ').next().unwrap().to_owned()
}

/// Says how far it is.
pub fn say(what: &str) {
    println!("[{:>7} s] {what}", uptime());
}

/// Tries every half second until a value is found; fails after `seconds` of the virtual machine's
/// time.
pub fn wait_for<T>(what: &str, seconds: u32, mut there: impl FnMut() -> Option<T>) -> T {
    let before = std::fs::read_to_string("/proc/uptime").unwrap();
    let start: f64 = before.split(' ').next().unwrap().parse().unwrap();
    loop {
        if let Some(value) = there() {
            say(what);
            return value;
        }
        let now: f64 = uptime().parse().unwrap();
        assert!(now - start < f64::from(seconds), "not within {seconds} s: {what}");
        thread::sleep(Duration::from_millis(500));
    }
}
