//! The browser of the desktop.

use std::process::{Command, Stdio};

/// Programs that open an address, first the one of the desktop.
const BROWSERS: [&str; 4] = ["xdg-open", "sensible-browser", "wslview", "open"];

/// Opens a page in the browser of the desktop; without one the printed address is all there is.
pub fn open(address: &str) {
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if cfg!(target_os = "linux") && !has_screen {
        return;
    }
    for program in BROWSERS {
        let mut command = Command::new(program);
        command.arg(address).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        if let Ok(mut child) = command.spawn() {
            // It ends by itself; its state must be collected.
            std::thread::spawn(move || child.wait());
            return;
        }
    }
}
