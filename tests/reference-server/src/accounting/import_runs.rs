//! Import runs.

use super::{once, result};
use crate::call::{Answer, Call};
use crate::data::reference::Kind;
use crate::fields::Fields;
use crate::refusal::Refusal;

const MODES: [&str; 4] = [
    "opening_balances",
    "summary_history",
    "full_history",
    "evidence_only",
];

pub(crate) fn create(call: &Call<'_>) -> Answer {
    once(call, check, |store, _| {
        store.ledger.imports += 1;
        let subject = store.name(Kind::ImportRun);
        // A run is not finished at once: the other documented outcome.
        Ok(result(
            call,
            store,
            "import-run.create",
            "pending",
            &subject,
        ))
    })
}

fn check(run: Fields<'_>) -> Result<(), Refusal> {
    run.constant("schemaVersion", "suite-accounting-import-create.v1")?;
    run.constant("adapterContractVersion", "suite-accounting-adapter.v1")?;
    for name in ["adapterId", "adapterImplementationVersion"] {
        run.required(name)?.text(name)?;
    }
    run.required("mode")?.one_of("mode", &MODES)?;
    for name in ["sourceApplication", "intendedCoverage"] {
        run.required(name)?.object(name)?;
    }
    Ok(())
}
