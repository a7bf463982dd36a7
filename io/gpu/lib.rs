//! Coverage on a GPU.
