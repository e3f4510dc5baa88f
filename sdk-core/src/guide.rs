// rustdoc uses the first definition of a link. `pages.txt` therefore replaces the pages' own link targets, which are
// for GitHub, with rustdoc links.
#![doc = include_str!("../docs/pages.txt")]
#![doc = include_str!("../docs/guide.md")]

/// Declares the pages, each with aliases for rustdoc's search. Aliases of modules also work in the documentation of
/// each client. Aliases of types don't.
macro_rules! pages {
    ($($page:ident: [$($word:literal)*])*) => {
        $(
            #[doc = include_str!("../docs/pages.txt")]
            #[doc = include_str!(concat!("../docs/", stringify!($page), ".md"))]
            $(#[doc(alias = $word)])*
            pub mod $page {}
        )*
    };
}

// Pages link to types by name, such as [`Suite::from_env`].
#[cfg(doc)]
#[allow(unused_imports)]
use crate::*;

pages! {
    agents: [
        "ai" "approval" "approvals" "approve" "claude" "human in the loop" "llm" "mcp" "model context protocol"
        "prompt injection" "proposal" "tool"
    ]
    authentication: [
        "audience" "bearer" "client id" "api key" "credentials" "expired" "expiry" "jwt" "oauth" "oauth2" "password" "refresh"
        "rotate" "rotation" "scopes" "secret" "sidecar" "token" "tokens" "vault"
    ]
    commands: [
        "409" "conflicts" "dedupe" "duplicate" "exactly once" "idempotency" "idempotent" "optimistic locking" "post" "stale"
        "update event" "version"
    ]
    configuration: [
        "backpressure" "base url" "body size" "concurrency" "defaults" "env" "environment" "environment variables" "fail fast"
        "in flight" "limits" "memory" "sandbox" "semaphore" "settings" "staging"
    ]
    errors: ["401" "403" "404" "500" "503" "forbidden" "request id" "status code" "unauthorized"]
    getting_started: ["Cargo.toml" "definition" "first_call" "getting started" "glossary" "install" "quickstart" "terms"]
    installations: ["customer" "label" "multi-tenant" "tenant" "workspace"]
    migrating: ["handwritten" "port" "reqwest"]
    network: [
        "ca" "certificate" "client certificate" "connection pool" "http2" "interceptor" "keep alive" "layer" "middleware" "mtls"
        "proxy" "root" "ssl" "tls" "tower"
    ]
    observability: [
        "alert" "hook" "interceptor" "log" "logging" "metrics" "observing" "opentelemetry" "prometheus" "span" "trace"
        "traceparent" "tracing"
    ]
    operations: ["api reference" "assumption" "endpoint" "gaps" "preview" "route" "scope" "undocumented"]
    outbox: ["crash" "persist" "queue" "stored_commands" "transaction"]
    pagination: [
        "callback" "checkpoint" "cursor" "event" "iterate" "limit" "list" "next page" "notification" "order by" "pages" "paginate"
        "push" "resume" "sort" "stream" "subscribe" "walking" "webhook" "webhooks"
    ]
    production: ["cancel" "checklist" "doctor" "drain" "first_day" "go live" "graceful" "kubernetes" "readiness" "shutdown" "sigterm"]
    records: [
        "amount" "date" "decimal" "decode" "deserialize" "enum" "json" "money" "reading" "struct" "time" "timezone"
        "unknown field"
    ]
    retries: [
        "429" "Retry-After" "backoff" "circuit breaker" "deadline" "jitter" "rate limit" "retry" "throttle" "time_and_retries"
        "timeout" "timeouts"
    ]
    testing: ["fake" "fault injection" "in memory" "mock" "paused clock" "stub" "test" "wiremock"]
    troubleshooting: ["borrow" "compiler_messages" "does not implement" "error message" "lifetime" "Send"]
    tutorial: ["example" "service" "walkthrough"]
    versions: [
        "MSRV" "adopting" "breaking change" "contract" "deprecation" "drift" "missing endpoint" "openapi" "raw call"
        "schema version" "semver" "sunset" "upgrade"
    ]
    web_services: ["WebAssembly" "axum" "block_on" "blocking" "clone" "runtime" "sync" "synchronous" "wasm"]
}

#[doc = include_str!("../docs/pages.txt")]
#[doc = include_str!("../docs/unknown_effect.md")]
///
#[doc = include_str!("../docs/lost_reply.svg")]
#[doc(alias = "lost reply")]
#[doc(alias = "ambiguous")]
#[doc(alias = "timed out")]
#[doc(alias = "did it happen")]
#[doc(alias = "idempotency")]
pub mod unknown_effect {}
