//! The setters of calls, written once for builders, raw calls and replays.

/// The setters of all calls, for a type with a method `with` that changes the options.
#[doc(hidden)]
#[macro_export]
macro_rules! option_setters {
    () => {
        /// Limits each attempt, from the first byte sent to the last byte read.
        pub fn timeout(self, timeout: ::std::time::Duration) -> Self {
            self.with(|options| options.with_timeout(timeout))
        }

        /// Limits the whole call: token, attempts and waits.
        pub fn deadline(self, deadline: ::std::time::Duration) -> Self {
            self.with(|options| options.with_deadline(deadline))
        }

        /// Sets how the call is retried.
        pub fn retry(self, policy: $crate::RetryPolicy) -> Self {
            self.with(|options| options.with_retry(policy))
        }

        /// Sets what happens to a reply with an unexpected `schemaVersion`.
        pub fn schema_policy(self, policy: $crate::SchemaPolicy) -> Self {
            self.with(|options| options.with_schema_policy(policy))
        }
    };
    (exact_replay) => {
        /// Sets whether this command may be retried after an ambiguous failure; see
        /// [`ExactReplay`](sdk_core::ExactReplay).
        pub fn exact_replay(self, replay: $crate::ExactReplay) -> Self {
            self.with(|options| options.with_exact_replay(replay))
        }
    };
    ($(#[$doc:meta])* idempotency_key) => {
        $(#[$doc])*
        pub fn idempotency_key(self, key: impl $crate::IntoKey) -> Self {
            self.with(|options| options.with_idempotency_key(key))
        }
    };
}

/// Adds the options of a call and `IntoFuture` to a builder with a `call: Call` field and a `sending` method.
#[doc(hidden)]
#[macro_export]
macro_rules! call_options {
    ($builder:ident => $output:ty) => {
        impl $builder {
            $crate::option_setters!();

            /// Adds a header. One that the SDK sets itself fails the call before it is sent.
            pub fn header(self, name: &str, value: &str) -> Self {
                self.with(|options| options.with_header(name, value))
            }

            /// Adds a query parameter that this version does not know yet; its value is not checked. A parameter that the
            /// call already has fails it before it is sent. A name that is added twice here is sent twice.
            pub fn query(self, name: impl Into<String>, value: impl Into<String>) -> Self {
                self.with(|options| options.with_query(name, value))
            }

            /// Sends the call without a token, for a service that needs none, such as a readiness probe.
            pub fn without_token(self) -> Self {
                self.with($crate::CallOptions::without_token)
            }

            fn with(
                mut self,
                change: impl FnOnce($crate::CallOptions) -> $crate::CallOptions,
            ) -> Self {
                self.call.change(change);
                self
            }
        }

        impl ::std::future::IntoFuture for $builder {
            type Output = ::std::result::Result<$output, $crate::Error>;
            type IntoFuture =
                ::std::pin::Pin<Box<dyn ::std::future::Future<Output = Self::Output> + Send>>;

            fn into_future(self) -> Self::IntoFuture {
                Box::pin(self.sending())
            }
        }
    };
}

/// [`call_options!`] for a command without a documented key.
#[doc(hidden)]
#[macro_export]
macro_rules! command_options {
    ($builder:ident => $output:ty) => {
        $crate::call_options!($builder => $output);

        impl $builder {
            $crate::option_setters!(exact_replay);

            $crate::option_setters! {
                /// Sends an `Idempotency-Key` although the contract shows none, if you know that the service takes one. The
                /// command may then be retried, unless `exact_replay` forbids it. A malformed key fails the call before it
                /// is sent.
                idempotency_key
            }
        }
    };
}

/// [`call_options!`] for a command with an `Idempotency-Key`.
#[doc(hidden)]
#[macro_export]
macro_rules! keyed_command_options {
    ($builder:ident => $output:ty) => {
        $crate::call_options!($builder => $output);

        impl $builder {
            $crate::option_setters! {
                /// Sets the `Idempotency-Key`. Without it the command gets a random key, which every attempt reuses and the
                /// receipt returns. A malformed key fails the call before it is sent.
                idempotency_key
            }
        }
    };
}

pub(crate) use option_setters;

pub(crate) use command_options;
