//! Compiles a release build anew when the built page changes; a debug build reads the page at run time.
#![allow(clippy::disallowed_methods, reason = "a build script reads its environment")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo::rerun-if-changed=../app/dist");
    }
}
