//! Values that tests of programs make, and runs that can be repeated: the feature `test-util`.

mod errors;
mod replies;
mod scripted;
mod seeds;
mod statuses;
