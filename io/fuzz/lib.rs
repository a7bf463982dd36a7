//! Fuzz targets of every parser of foreign bytes in the crates of `io`.
#![cfg(test)]

mod fuzz;
