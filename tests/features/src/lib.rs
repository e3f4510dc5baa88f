//! This crate is empty. Its manifest selects features of dependencies.
