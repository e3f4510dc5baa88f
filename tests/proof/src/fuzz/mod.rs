//! What reads bytes from outside, with the properties that any input must keep.
