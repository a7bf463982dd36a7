//! The whole program under test, as one binary.

mod bad_input;
mod changes;
mod commands;
mod compatibility;
mod cycles;
mod demo;
mod dependencies;
mod determinism;
mod files;
mod gateway;
mod gis;
mod ground;
mod impair;
mod kill;
mod manual;
mod measured;
mod outline;
mod planning;
#[cfg(target_arch = "x86_64")]
mod processors;
mod program;
mod properties;
mod recordings;
mod reliability;
mod scenarios;
mod schedule;
mod schemathesis;
mod support;
mod sweep;
mod sweep_join;
mod terrain;
mod terrain_posts;
mod testbed;
mod tidy;
mod units;
mod vocabulary;
