//! Priority of a thread.

use std::io;

/// Niceness of threads whose work may wait: a tenth of the share of others on a busy processor.
const BACKGROUND: i32 = 10;

/// Lets all other threads of usual priority go before the calling one, for ever.
///
/// # Errors
/// When the system refuses.
pub fn lower() -> io::Result<()> {
    // On Linux a niceness belongs to a thread; no id is the calling one.
    Ok(rustix::process::setpriority_process(None, BACKGROUND)?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_the_calling_thread_is_lowered() {
        let own = || rustix::process::getpriority_process(None).unwrap();
        let before = own();
        let lowered = std::thread::spawn(move || {
            super::lower().unwrap();
            own()
        });
        assert_eq!(lowered.join().unwrap(), super::BACKGROUND);
        assert_eq!(own(), before);
    }
}
