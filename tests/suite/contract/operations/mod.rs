//! One scenario per operation: a successful call, checks of its response, and a failing call.
//!
//! Tests that apply to every operation use the scenarios through a [`Visitor`].

mod accounting;
mod calendar;
mod crm_commands;
mod crm_records;
mod crm_views;
mod name_only;
mod platform;

use sdk_core::{Error, PreparedCommand, Receipt, Response};
use sdk_reference_server::Operation;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::setup::Setup;

/// The result of a call: a response, or a receipt with a response.
pub(crate) trait Answer {
    type Value: Serialize + DeserializeOwned;

    fn response(self) -> Response<Self::Value>;
}

impl<T: Serialize + DeserializeOwned> Answer for Response<T> {
    type Value = T;

    fn response(self) -> Response<T> {
        self
    }
}

impl<T: Serialize + DeserializeOwned> Answer for Receipt<T> {
    type Value = T;

    fn response(self) -> Response<T> {
        self.into_response()
    }
}

/// The call of a scenario, in its three forms.
pub(crate) struct Calls<C> {
    pub(crate) operation: Operation,
    pub(crate) plain: C,
    /// The call with a parameter and a header that no contract documents.
    pub(crate) extended: C,
    /// The prepared command, if the call is a command.
    pub(crate) prepared: Option<Result<PreparedCommand, Error>>,
}

pub(crate) trait Visitor {
    async fn visit<A: Answer>(
        &mut self,
        setup: &Setup,
        calls: Calls<impl IntoFuture<Output = Result<A, Error>> + Clone>,
    );
}

/// Provides `prepare` for builders without such a method.
trait Unprepared: Sized {
    fn prepare(self) -> Option<Result<PreparedCommand, Error>> {
        None
    }
}

impl<T> Unprepared for T {}

/// Lists the modules of this folder with their operations.
macro_rules! modules {
    ($( $module:ident )+) => {
        /// The operations with a scenario, by module, and whether the scenario has a failing call.
        pub(super) const COVERED: &[(&str, &[(Operation, bool)])] =
            &[$( (stringify!($module), $module::COVERED) ),+];

        pub(crate) async fn visit_all(setup: &Setup, visitor: &mut impl Visitor) {
            $( $module::visit(setup, visitor).await; )+
        }
    };
}

modules! { crm_views crm_records crm_commands calendar accounting name_only platform }

/// Defines scenarios: an operation, its call, a function that checks the response, and optionally a failing call with
/// its status, code and message prefix. The failing call is omitted if the operation documents only the failures that
/// [`every`](super::every) operation has.
///
/// Each scenario becomes a module with two tests, named after the operation: `succeeds` and `fails`.
macro_rules! operations {
    ($(
        $operation:ident: |$setup:ident| $call:expr => $succeeds:ident
        $(, $status:literal $code:literal $message:literal: |$fails_setup:ident| $fails:expr )?;
    )+) => {
        pub(super) const COVERED: &[(sdk_reference_server::Operation, bool)] = &[$(
            (sdk_reference_server::Operation::$operation, false $( || $status >= 400 )?)
        ),+];

        pub(super) async fn visit(
            setup: &$crate::contract::setup::Setup,
            visitor: &mut impl super::Visitor,
        ) {
            // Not needed if all operations of the module are commands, because those have a `prepare` method.
            #[allow(unused_imports)]
            use super::Unprepared as _;
            $(
                let plain = { let $setup = setup; $call };
                let calls = super::Calls {
                    operation: sdk_reference_server::Operation::$operation,
                    extended: plain.clone().query("fromTheFuture", "a b&c").header("x-from-the-future", "yes"),
                    prepared: plain.clone().prepare().into(),
                    plain,
                };
                visitor.visit(setup, calls).await;
            )+
        }

        $(
            // The module has the name of the operation.
            #[allow(non_snake_case)]
            mod $operation {
                // Not all calls need items of the module.
                #[allow(unused_imports)]
                use super::*;
                use $crate::contract::{case, setup::Setup};

                const OPERATION: sdk_reference_server::Operation =
                    sdk_reference_server::Operation::$operation;

                #[tokio::test]
                async fn succeeds() {
                    let setup = Setup::in_memory();
                    let got = { let $setup = &setup; $call }.await.unwrap();
                    let response = $crate::contract::operations::Answer::response(got.clone());
                    case::succeeded(&setup, OPERATION, &response);
                    super::$succeeds(&setup, &got);
                }

                $(
                    #[tokio::test]
                    async fn fails() {
                        let setup = Setup::in_memory();
                        let error = { let $fails_setup = &setup; $fails }.await.err().unwrap();
                        case::refused(&setup, OPERATION, &error, ($status, $code, $message));
                    }
                )?
            }
        )+
    };
}

use operations;
