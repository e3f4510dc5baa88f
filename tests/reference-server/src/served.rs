//! An operation that a server serves: one of the suite, or one of a contract that a test brought along.

use std::sync::Arc;

use crate::app::App;
use crate::auth::Caller;
use crate::generated::operations::Operation;
use crate::schema::Described;

/// The path of the token exchange. A vendor's document may lack it.
pub(crate) const EXCHANGE: &str = "/oauth/token";

/// An operation of this server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Served<'s> {
    /// One that everyone knows by its name.
    Written(Operation),
    /// One that only this server knows.
    Brought(&'s Described),
}

/// Methods that give the same of either.
macro_rules! of_either {
    ($($name:ident: $type:ty = $written:expr, $brought:expr;)*) => {
        impl<'s> Served<'s> {
            $(pub(crate) fn $name(self) -> $type {
                match self {
                    Served::Written(operation) => $written(operation),
                    Served::Brought(described) => $brought(described),
                }
            })*
        }
    };
}

of_either! {
    app: App = Operation::app, |one: &Described| one.app;
    id: &'s str = Operation::id, |one: &'s Described| &*one.id;
    method: &'s str = Operation::method, |one: &'s Described| &*one.method;
    path: &'s str = Operation::path, |one: &'s Described| &*one.path;
    summary: &'s str = Operation::summary, |one: &'s Described| &*one.summary;
    auth: bool = Operation::auth, |one: &Described| !one.security.is_empty();
    // Whether nobody has written a handler for it.
    is_from_schema: bool = Operation::served_from_schema, |_| true;
    // The operation of the suite that it is, if it is one.
    written: Option<Operation> = Some, |_| None;
    // Its name, if only this server knows it.
    brought: Option<Arc<str>> = |_| None, |one: &Described| Some(Arc::clone(&one.id));
}

impl<'s> Served<'s> {
    /// Whether it issues tokens.
    pub(crate) fn is_exchange(self) -> bool {
        self.app() == App::Platform && self.path() == EXCHANGE
    }

    /// The scopes that a caller needs: all of any one alternative.
    pub(crate) fn scopes(self) -> Vec<Vec<&'s str>> {
        match self {
            Served::Written(operation) => operation.scopes().iter().map(|one| vec![*one]).collect(),
            Served::Brought(described) => {
                let all = described.security.iter();
                all.map(|scopes| scopes.iter().map(String::as_str).collect())
                    .collect()
            }
        }
    }

    /// Whether a caller has the scopes that it needs.
    pub(crate) fn admits(self, caller: &Caller) -> bool {
        let alternatives = self.scopes();
        let mut held = alternatives
            .iter()
            .map(|all| all.iter().all(|scope| caller.has_scope(scope)));
        alternatives.is_empty() || held.any(|held| held)
    }
}
