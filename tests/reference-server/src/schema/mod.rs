//! `OpenAPI` documents: reads their operations, checks every request against them, and serves operations without a
//! handler with samples of their schemas.
//!
//! Except for `assumed.rs`, this module knows nothing about specific applications. The module also has no state, so a
//! sample doesn't depend on earlier requests.

mod assumed;
mod check;
mod contract;
mod document;
mod format;
mod merge;
mod parameter;
#[cfg(test)]
mod property;
mod reply;
mod request;
mod sample;
mod served;
mod text;

use std::sync::OnceLock;

use crate::app::App;
use crate::generated::contracts;
use crate::generated::operations::Operation;
pub(crate) use assumed::{fields, has};
pub(crate) use check::MISSING;
#[cfg(test)]
pub(crate) use check::{Side, problems};
pub(crate) use contract::Contract;
pub(crate) use reply::{refused, serve};
pub(crate) use request::{Broken, Sent, read};
pub(crate) use served::{EXCHANGE, Served};

/// Returns this package's contract, parsed at first use. The error lists everything in it that can't be served.
pub(crate) fn built_in(app: App) -> Result<&'static Contract, &'static str> {
    static READ: [OnceLock<Result<Contract, String>>; App::ALL.len()] =
        [const { OnceLock::new() }; App::ALL.len()];
    let read = || {
        let mut contract = Contract::read(app, contracts::contract(app).spec)?;
        for operation in Operation::all().filter(|it| it.app() == app) {
            let place = contract.place(operation.method(), operation.path());
            let missing = || format!("{} is not in its contract", operation.id());
            contract.operations[place.ok_or_else(missing)?].written = Some(operation);
        }
        Ok(contract)
    };
    READ[app.index()]
        .get_or_init(read)
        .as_ref()
        .map_err(|it| &**it)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Base;
    use crate::builder::Builder;
    use crate::call::Call;
    use crate::message::Request;
    use crate::suite::Suite;
    use crate::token::key::TokenKey;

    #[test]
    fn every_operation_is_found_in_its_contract_by_method_and_path() {
        for app in App::all() {
            let text = contracts::contract(app).spec;
            let renamed = text.replace("operationId: ", "operationId: vendors_");
            let renamed = Contract::read(app, &renamed).unwrap();
            for operation in Operation::all().filter(|it| it.app() == app) {
                let path = operation.path().replace('{', "{the_");
                for contract in [built_in(app).unwrap(), &renamed] {
                    let place = contract.place(operation.method(), &path);
                    assert!(place.is_some(), "{operation:?}");
                }
            }
        }
    }

    #[test]
    fn every_operation_of_this_package_can_be_served() {
        let settings = Builder::default();
        let bases = App::each(|app| Base::read("", &format!("http://{app}")).unwrap());
        let key = TokenKey::new(&settings, true).unwrap();
        let suite = Suite::new(settings, key, bases, None).unwrap();
        let request = Request {
            method: http::Method::GET,
            version: http::Version::HTTP_11,
            path: String::new(),
            query: None,
            authority: None,
            headers: http::HeaderMap::new(),
            body: bytes::Bytes::new(),
        };
        let served = Operation::all().filter(|operation| {
            let call = Call {
                suite: &suite,
                operation: suite.named(*operation),
                request: &request,
                params: vec!["PER-0123456789AB".to_owned(); 3],
                sent: Sent::default(),
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
