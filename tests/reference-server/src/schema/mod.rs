//! Operations that nobody has written a handler for: their requests are checked against an `OpenAPI` document, and their
//! replies are samples of its schemas.
//!
//! What belongs here needs no knowledge of an application. State does not: what was created is not found again.

mod check;
mod contract;
mod document;
mod format;
mod merge;
mod reply;
mod request;
mod sample;
mod text;

use std::sync::OnceLock;

use crate::app::App;
use crate::call::{Answer, Call};
use crate::generated::contracts;
use crate::refusal::Refusal;
use crate::served::Served;
pub(crate) use contract::{Contract, Described};
pub(crate) use reply::refused;

/// Serves an operation of a contract that this package holds. The generated list of handlers names it where a spec says
/// `x-served-from-schema`.
#[allow(dead_code, reason = "every operation may have a handler")]
pub(crate) fn serve(call: &Call<'_>) -> Answer {
    let missing = || Refusal::new(501, "no_schema", "the contract does not describe this");
    let contract = built_in(call.operation.app());
    let described = match call.operation {
        Served::Brought(described) => Some(described),
        Served::Written(operation) => contract.operation(operation.id()),
    };
    answer(call, described.ok_or_else(missing)?)
}

/// Serves an operation as its document describes it.
pub(crate) fn answer(call: &Call<'_>, described: &Described) -> Answer {
    let sent = request::read(call, described)?;
    reply::reply(call, described, &sent)
}

/// The contract of `app` that this package holds, read when it is first needed.
pub(crate) fn built_in(app: App) -> &'static Contract {
    static READ: [OnceLock<Contract>; App::ALL.len()] = [const { OnceLock::new() }; App::ALL.len()];
    READ[app.index()].get_or_init(|| {
        let text = contracts::contract(app).spec;
        Contract::read(app, text).expect("a test reads every contract of this package")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;
    use crate::generated::operations::Operation;
    use crate::keys::Key;
    use crate::message::{Request, RequestBody};
    use crate::suite::Suite;

    #[test]
    fn every_operation_of_this_package_can_be_served() {
        let key = Key::of_seed("token", 1);
        let suite = Suite::new(Builder::default(), key, Default::default(), None).unwrap();
        let request = Request {
            method: http::Method::GET,
            version: http::Version::HTTP_11,
            path: String::new(),
            query: None,
            authority: None,
            headers: http::HeaderMap::new(),
            body: RequestBody::new(bytes::Bytes::new()),
        };
        let served = Operation::all().filter(|operation| {
            let call = Call {
                suite: &suite,
                operation: Served::Written(*operation),
                request: &request,
                params: vec!["PER-0123456789AB".to_owned(); 3],
                query: crate::params::Query::default(),
                caller: None,
                terms: crate::token::exchange::Terms::default(),
                now: suite.clock.now(),
            };
            serve(&call).is_ok_and(|reply| reply.status.is_success())
        });
        let served: Vec<&str> = served.map(Operation::id).collect();
        assert!(
            served.len() > 20 && served.contains(&"getPersonTimeline"),
            "{served:?}"
        );
    }
}
