//! Errors of GPIO lines.

use rustix::io::Errno;
use thiserror::Error;

/// Refused access to a GPIO line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GpioError {
    /// No GPIO chip.
    #[error("no GPIO chip")]
    NoChip,
    /// Unknown chip or line.
    #[error("no GPIO line {0}")]
    NoLine(String),
    /// Missing permission for the device file of a chip.
    #[error("permission denied; its group, usually gpio, may open /dev/gpiochip*")]
    Permission,
    /// Line outside the list of allowed lines.
    #[error("GPIO line {0} is not allowed; --gpio-line allows lines")]
    NotAllowed(String),
    /// Line of another consumer.
    #[error("GPIO line {line} is used by {consumer:?}")]
    Held {
        /// Chip and offset.
        line: String,
        /// Name of the consumer.
        consumer: String,
    },
    /// Line that another consumer took meanwhile.
    #[error("GPIO line is busy")]
    Busy,
    /// Setting that the chip does not support.
    #[error("the chip does not support this setting")]
    Unsupported,
    /// Any other error.
    #[error("{0}")]
    Other(String),
}

/// The meaning of an error of the library.
pub(super) fn of_library(err: gpiocdev::Error) -> GpioError {
    let errno = match &err {
        gpiocdev::Error::Os(errno) => Some(errno.0),
        gpiocdev::Error::Uapi(_, gpiocdev_uapi::Error::Os(errno)) => Some(errno.0),
        _ => None,
    };
    match errno.map(Errno::from_raw_os_error) {
        Some(Errno::ACCESS | Errno::PERM) => GpioError::Permission,
        Some(Errno::BUSY) => GpioError::Busy,
        Some(Errno::NOENT | Errno::NODEV | Errno::NXIO) => GpioError::NoChip,
        Some(Errno::OPNOTSUPP | Errno::INVAL) => GpioError::Unsupported,
        _ => GpioError::Other(err.to_string()),
    }
}
