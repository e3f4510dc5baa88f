// Of two definitions of a link the first one counts: `pages.txt` makes rustdoc's links of those that a page has for hosts.
#![doc = include_str!("../docs/pages.txt")]
#![doc = include_str!("../docs/guide.md")]

/// Declares pages, each with the text of its name and the words under which the search finds it too. Aliases of modules
/// travel into the documentation of each client, those of types do not.
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

pages! {
    adopting: ["openapi" "vendor" "upgrade"]
    blocking: ["sync" "synchronous" "block_on" "runtime" "wasm" "WebAssembly"]
    commands: ["idempotency" "idempotent" "dedupe" "duplicate" "exactly once" "post" "update event"]
    compiler_messages: ["borrow" "does not implement" "lifetime" "Send"]
    configuration: [
        "settings" "environment variables" "env" "environment" "defaults" "base url" "fail fast" "staging" "sandbox"
    ]
    conflicts: ["409" "optimistic locking" "stale" "version"]
    credentials: ["secret" "rotation" "rotate" "vault" "client id" "api key" "password"]
    drift: ["contract" "deprecation" "sunset" "breaking change" "schema version" "raw call" "missing endpoint"]
    errors: ["401" "403" "404" "500" "503" "status code" "troubleshooting" "unauthorized" "forbidden" "request id"]
    first_call: ["getting started" "quickstart" "install" "Cargo.toml" "axum" "clone"]
    first_day: ["doctor" "production" "checklist" "go live"]
    gaps: ["assumption" "not shown" "preview"]
    glossary: ["terms" "definition"]
    installations: ["tenant" "multi-tenant" "customer" "label" "workspace"]
    limits: ["concurrency" "in flight" "backpressure" "semaphore" "memory" "body size"]
    migrating: ["handwritten" "reqwest" "port"]
    network: [
        "proxy" "tls" "ssl" "certificate" "ca" "root" "mtls" "client certificate" "http2" "middleware" "interceptor"
        "tower" "layer" "connection pool" "keep alive"
    ]
    observing: [
        "logging" "log" "tracing" "trace" "traceparent" "metrics" "opentelemetry" "prometheus" "span" "interceptor" "hook"
    ]
    operations: ["endpoint" "scope" "api reference" "route"]
    questions: ["faq" "how to" "help"]
    reading: [
        "deserialize" "struct" "json" "decode" "unknown field" "enum" "amount" "decimal" "money" "date" "time" "timezone"
    ]
    shutdown: ["graceful" "drain" "cancel" "sigterm"]
    stored_commands: ["outbox" "crash" "queue" "transaction" "persist"]
    testing: ["mock" "fake" "stub" "wiremock" "test" "in memory" "fault injection" "paused clock"]
    time_and_retries: [
        "retry" "retries" "backoff" "jitter" "timeout" "timeouts" "deadline" "rate limit" "429" "Retry-After" "throttle" "circuit breaker"
    ]
    tokens: ["token" "oauth" "oauth2" "bearer" "jwt" "expiry" "expired" "refresh" "scopes" "audience" "sidecar"]
    tutorial: ["example" "walkthrough" "service"]
    walking: [
        "pagination" "paginate" "pages" "cursor" "list" "iterate" "stream" "next page" "limit" "checkpoint" "resume"
        "sort" "order by"
    ]
    webhooks: ["webhook" "callback" "event" "subscribe" "push" "notification"]
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
