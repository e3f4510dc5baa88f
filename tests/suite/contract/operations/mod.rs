//! One scenario an operation: a call that succeeds, what is particular about its reply, and how it fails.
//!
//! Whatever else is true of every operation follows from its scenario, for whoever implements [`Visitor`].

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

use super::world::World;

/// What a call gives: a response, or a receipt that has one.
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

/// The call of a scenario, in the forms in which it can be sent.
pub(crate) struct Calls<C> {
    pub(crate) operation: Operation,
    /// As the scenario has it.
    pub(crate) plain: C,
    /// With a parameter and a header that no contract knows.
    pub(crate) extended: C,
    /// To be stored, if it is a command.
    pub(crate) prepared: Option<Result<PreparedCommand, Error>>,
}

/// Does the same with the call of each operation.
pub(crate) trait Visitor {
    async fn visit<A: Answer>(
        &mut self,
        world: &World,
        calls: Calls<impl IntoFuture<Output = Result<A, Error>> + Clone>,
    );
}

/// What `prepare` is on builders that have no such method.
trait Unprepared: Sized {
    fn prepare(self) -> Option<Result<PreparedCommand, Error>> {
        None
    }
}

impl<T> Unprepared for T {}

/// The scenarios of this folder: by module, its operations and the way through their calls.
macro_rules! modules {
    ($( $module:ident )+) => {
        /// The operations that have a scenario, by module, and whether it fails.
        pub(super) const COVERED: &[(&str, &[(Operation, bool)])] =
            &[$( (stringify!($module), $module::COVERED) ),+];

        /// Takes a visitor to every operation.
        pub(crate) async fn visit_all(world: &World, visitor: &mut impl Visitor) {
            $( $module::visit(world, visitor).await; )+
        }
    };
}

modules! { crm_views crm_records crm_commands calendar accounting name_only platform }

/// Takes scenarios: an operation, its call, a function that looks at the reply, and, unless all that it documents is
/// what [`every`](super::every) operation has, a call that fails, with its status, code and the beginning of its message.
///
/// Each is a module of two tests, named as the operation: `succeeds` and `fails`.
macro_rules! operations {
    ($(
        $operation:ident: |$world:ident| $call:expr => $succeeds:ident
        $(, $status:literal $code:literal $message:literal: |$fails_world:ident| $fails:expr )?;
    )+) => {
        pub(super) const COVERED: &[(sdk_reference_server::Operation, bool)] = &[$(
            (sdk_reference_server::Operation::$operation, false $( || $status >= 400 )?)
        ),+];

        pub(super) async fn visit(
            world: &$crate::contract::world::World,
            visitor: &mut impl super::Visitor,
        ) {
            // Where all are commands, each has a method of that name.
            #[allow(unused_imports)]
            use super::Unprepared as _;
            $(
                let plain = { let $world = world; $call };
                let calls = super::Calls {
                    operation: sdk_reference_server::Operation::$operation,
                    extended: plain.clone().query("fromTheFuture", "a b&c").header("x-from-the-future", "yes"),
                    prepared: plain.clone().prepare().into(),
                    plain,
                };
                visitor.visit(world, calls).await;
            )+
        }

        $(
            // As it is called everywhere else.
            #[allow(non_snake_case)]
            mod $operation {
                // Some calls need nothing from the module.
                #[allow(unused_imports)]
                use super::*;
                use $crate::contract::{case, world::World};

                const OPERATION: sdk_reference_server::Operation =
                    sdk_reference_server::Operation::$operation;

                #[tokio::test]
                async fn succeeds() {
                    let world = World::in_memory();
                    let got = { let $world = &world; $call }.await.unwrap();
                    let response = $crate::contract::operations::Answer::response(got.clone());
                    case::succeeded(&world, OPERATION, &response);
                    super::$succeeds(&world, &got);
                }

                $(
                    #[tokio::test]
                    async fn fails() {
                        let world = World::in_memory();
                        let error = { let $fails_world = &world; $fails }.await.err().unwrap();
                        case::refused(&world, OPERATION, &error, ($status, $code, $message));
                    }
                )?
            }
        )+
    };
}

use operations;
