//! Nothing: the manifest selects features of dependencies.
