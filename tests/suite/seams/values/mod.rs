//! Values that tests of programs make, next to those that calls return, and runs that can be repeated: the feature `test-util`.

mod made;
mod scripted;
mod statuses;
