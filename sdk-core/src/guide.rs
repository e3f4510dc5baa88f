//! The guide: pages to read, without code.

#[doc = include_str!("../docs/compiler.md")]
pub mod compiler {}

#[doc = include_str!("../docs/errors.md")]
pub mod errors {}

#[doc = include_str!("../docs/first_day.md")]
pub mod first_day {}

#[doc = include_str!("../docs/gaps.md")]
pub mod gaps {}

#[doc = include_str!("../docs/lists.md")]
pub mod lists {}

#[doc = include_str!("../docs/stored_commands.md")]
#[doc = "```sql"]
#[doc = include_str!("../docs/outbox_postgres.sql")]
#[doc = "```"]
pub mod stored_commands {}

#[doc = include_str!("../docs/tokens.md")]
pub mod tokens {}
