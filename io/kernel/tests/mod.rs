//! Traffic control over the model of a kernel and over the running one.

mod bytes;
mod driver;
mod fake;
mod host;
mod random;
mod returning;
