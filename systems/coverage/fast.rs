//! fast
