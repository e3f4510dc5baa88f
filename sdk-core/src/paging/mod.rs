//! Lists as streams: of [`Pages`], of [`Items`]; resumable and bounded in memory.
//!
//! The builder of a list with a cursor has three ends: awaited it gets one page, `pages()` walks all of them, and
//! `items()` all their items. A walk is lazy, `'static`, `Send` and `Sync`; it can be moved into a task, kept in a
//! struct, or given to the combinators of `futures`.
//!
//! ```no_run
//! # use sdk_core::{Error, Items, Record};
//! # async fn export(_: Record) {}
//! # async fn example(list: impl Fn() -> Items<Record>, stored: Option<String>) -> Result<(), Box<dyn std::error::Error>> {
//! let mut items = list();
//! if let Some(stored) = stored {
//!     items = items.resume(serde_json::from_str(&stored)?)?;
//! }
//! while let Some(item) = items.try_next().await? {
//!     export(item).await;
//!     let stored = serde_json::to_string(&items.checkpoint())?;
//! }
//! # Ok(()) }
//! ```
//!
//! # Types of yours
//! The contract does not show the members of a record, so that a walk delivers [`Record`](crate::Record)s, which keep
//! everything. Who knows better has them decoded, at the cost of a loop that was written for that type:
//!
//! ```no_run
//! # use sdk_core::{Error, Items, Record};
//! #[derive(serde::Deserialize)]
//! #[serde(rename_all = "camelCase")]
//! struct Person {
//!     public_reference: String,
//!     display_name: Option<String>,
//! }
//!
//! # async fn example(items: Items<Record>) -> Result<(), Error> {
//! let mut people = items.decode::<Person>();
//! while let Some(person) = people.try_next().await? {
//!     println!("{} {:?}", person.public_reference, person.display_name);
//! }
//! # Ok(()) }
//! ```
//!
//! Such a type loses what it does not name, and a record that it cannot hold fails its page: the error says which one and
//! why, the checkpoint stands before the page, and its records can still be had as they are. Checkpoints of both kinds of
//! walk are the same.
//!
//! # How a walk ends
//! A `nextCursor` that is null ends it, and so does an empty one (assumed: A53); an empty page with a cursor does not. A page
//! without `nextCursor`, or with one of another type, is an error: a walk never ends by accident. A cursor that came before
//! is an error: at once if it came among the last 4,096, otherwise before three times as many pages were fetched as there
//! are. [`Pages::max_pages`] bounds a list that never ends. After an error the walk is over.
//!
//! # Failures
//! Token, repeats, timeout and deadline are those of any call, and hold for each page: a walk of hours renews
//! its token as it goes. What still fails is an error, and the [`Checkpoint`] goes on behind the last item that was
//! delivered, in this process or another one. Items are passed on as they come: a server that lists one twice has it
//! delivered twice.
//!
//! # What the contract does not say
//! How long a cursor lives, and how far a list can be walked. A cursor that the server no longer takes gives its 400;
//! the error then says how many items were delivered, and that the walk has to start again. Nor does it say what becomes
//! of a walk while the list changes: whether a new record is still met, or a moved one twice.
//!
//! Only the page of opportunities is shown. That the other lists have `items` too is assumed (A07 in
//! `specs/ASSUMPTIONS.md`): a page without it is an error of [`Items`] that lists the members that came, and is
//! delivered as it is by [`Pages`].
//!
//! # Dropping and cancelling
//! Dropping a walk ends what it has under way. Dropping the future of `try_next` loses nothing: the next one goes on
//! with the same request, whose time limits run on meanwhile.

mod checkpoint;
mod cycle;
mod fetch;
mod items;
mod pages;

pub use checkpoint::Checkpoint;
pub use items::Items;
pub use pages::Pages;
