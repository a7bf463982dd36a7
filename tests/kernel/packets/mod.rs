//! What packets see of an impairment.

mod plain;
