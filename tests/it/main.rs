//! The whole program under test, as one binary.

mod bad_input;
mod commands;
mod compatibility;
mod cycles;
mod dependencies;
mod determinism;
mod gateway;
mod gis;
mod impair;
mod kill;
mod manual;
mod measured;
mod outline;
mod planning;
mod program;
mod properties;
mod recordings;
mod reliability;
mod scenarios;
mod schedule;
mod support;
mod sweep;
mod testbed;
mod tidy;
mod vocabulary;
