/// Declares the client of an application: what is the same in all of them.
///
/// `operations` is the generated module with the table `OPERATIONS` and the `APPLICATION`.
#[doc(hidden)]
#[macro_export]
macro_rules! application_client {
    ($(#[$meta:meta])* $operations:ident) => {
        $(#[$meta])*
        ///
        /// Cloning is cheap and shares everything; it is `Send`, `Sync` and `'static`.
        #[derive(Clone, Debug)]
        pub struct Client {
            api: $crate::codegen::ApiClient,
        }

        impl Client {
            /// A client for the suite's application. Nothing is sent and nothing is started.
            ///
            /// # Errors
            /// When the suite does not know the application's URL.
            pub fn new(suite: &$crate::Suite) -> ::std::result::Result<Self, $crate::Error> {
                $crate::codegen::ApiClient::new(suite, &$operations::APPLICATION)
                    .map(|api| Self { api })
            }

            /// The same client with other defaults for its calls.
            #[must_use]
            pub fn with_defaults(&self, defaults: $crate::CallOptions) -> Self {
                Self { api: self.api.with_defaults(defaults) }
            }

            /// The URL that its requests go to: scheme, host and port, with the path before those of the operations if the suite was
            /// given one.
            #[must_use]
            pub fn origin(&self) -> &str {
                self.api.endpoint().base()
            }

            /// The operations of the application: scopes, safety, provenance.
            #[must_use]
            pub fn operations() -> &'static [&'static $crate::Operation] {
                $operations::OPERATIONS
            }

            /// Obtains the token ahead of the first call, within the deadline of calls.
            ///
            /// # Errors
            /// When no token can be had in time.
            pub async fn prewarm(&self) -> ::std::result::Result<(), $crate::Error> {
                self.api.prewarm().await
            }

            /// Sends a prepared command exactly as it was prepared: bytes, headers and query. The contract says of CRM and
            /// Calendar that an exact replay of a committed command returns its stored result; of Accounting that is
            /// assumed (A51).
            ///
            /// `.await` sends it; before that, `timeout`, `deadline`, `retry` and the like can be set, and
            /// [`typed`](sdk_core::SendPrepared::typed) takes the result as a type of this crate. It fails without
            /// sending anything when the command was changed after it was prepared, or belongs to another client.
            pub fn send_prepared(&self, command: &$crate::PreparedCommand) -> $crate::SendPrepared {
                $crate::SendPrepared::new(&self.api, command)
            }

            /// A call with raw JSON in and out and all of the runtime's behaviour: of an operation of the table, or of a
            /// method and path that this SDK does not know yet.
            pub fn raw_call(&self, target: impl Into<$crate::RawTarget>) -> $crate::RawCall {
                self.api.raw_call(target)
            }

            /// Compares what the application says about its contract with what this SDK was built for: one cheap call
            /// without a token, for a service's start-up. Where the contract documents no metadata, the report says so.
            ///
            /// # Errors
            /// When the metadata cannot be had or read.
            pub async fn check_contract(
                &self,
            ) -> ::std::result::Result<$crate::ContractReport, $crate::Error> {
                self.api.check_contract().await
            }

            /// Which of these operations the client's token does not open, by the scopes that the token endpoint said
            /// it granted. Obtains a token if there is none, within the deadline of calls.
            ///
            /// # Errors
            /// When no token can be had in time.
            pub async fn missing_scopes(
                &self,
                operations: &[&'static $crate::Operation],
            ) -> ::std::result::Result<$crate::MissingScopes, $crate::Error> {
                self.api.missing_scopes(operations).await
            }

            pub(crate) fn api(&self) -> &$crate::codegen::ApiClient {
                &self.api
            }
        }
    };
}
