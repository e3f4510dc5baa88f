#![doc = include_str!("../docs/guide.md")]

/// Declares pages, each with the text of its name.
macro_rules! pages {
    ($($page:ident)*) => {
        $(
            #[doc = include_str!(concat!("../docs/", stringify!($page), ".md"))]
            pub mod $page {}
        )*
    };
}

pages! {
    adopting
    blocking
    commands
    compiler_messages
    configuration
    conflicts
    credentials
    drift
    errors
    first_call
    first_day
    gaps
    glossary
    installations
    limits
    migrating
    network
    observing
    questions
    reading
    shutdown
    testing
    time_and_retries
    tokens
    tutorial
    unknown_effect
    walking
    webhooks
}

#[doc = include_str!("../docs/stored_commands.md")]
#[doc = "```sql"]
#[doc = include_str!("../docs/outbox_postgres.sql")]
#[doc = "```"]
pub mod stored_commands {}
