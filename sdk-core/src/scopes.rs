//! Which scopes operations need, beside those that a token was granted.

use std::fmt;

use crate::operation::Operation;

/// The least set of scopes that a list of operations needs.
///
/// An operation that any of several scopes opens is satisfied by one that is needed anyway; otherwise by the first
/// that the contract lists. (The contract does not show which type of CRM command needs which write scope: a program
/// that submits several types names their scopes itself.)
///
/// ```
/// # fn example(suite: &sdk_core::Suite, operations: &[&'static sdk_core::Operation]) {
/// let suite = suite.with_scopes("crm", sdk_core::least_scopes(operations));
/// # let _ = suite;
/// # }
/// ```
#[must_use]
pub fn least_scopes(operations: &[&'static Operation]) -> Vec<&'static str> {
    let mut scopes: Vec<&'static str> = operations
        .iter()
        .filter(|operation| operation.scopes.len() == 1)
        .map(|operation| operation.scopes[0])
        .collect();
    scopes.sort_unstable();
    scopes.dedup();
    let open = operations
        .iter()
        .filter(|operation| operation.scopes.len() > 1);
    for operation in open {
        if !operation.scopes.iter().any(|scope| scopes.contains(scope)) {
            scopes.push(operation.scopes[0]);
        }
    }
    scopes
}

/// Operations whose scope a token lacks.
///
/// It prints as a text that names each operation with the scopes of which it needs one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MissingScopes {
    /// What the token was granted; `None` when the token endpoint did not say, and then nothing is known to be missing.
    pub granted: Option<Vec<String>>,
    /// The operations that the token does not open.
    pub operations: Vec<&'static Operation>,
}

impl MissingScopes {
    pub(crate) fn new(operations: &[&'static Operation], granted: Option<&[String]>) -> Self {
        Self {
            granted: granted.map(<[String]>::to_vec),
            operations: operations
                .iter()
                .copied()
                .filter(|operation| surely_missing(operation, granted))
                .collect(),
        }
    }

    /// Whether no operation is known to lack its scope.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }
}

impl fmt::Display for MissingScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.granted {
            None => return f.write_str("the token endpoint did not say what it granted"),
            Some(_) if self.is_empty() => return f.write_str("no scope is missing"),
            Some(granted) => write!(f, "granted: {}", granted.join(", "))?,
        }
        for operation in &self.operations {
            write!(
                f,
                "\n  - {} needs {}",
                operation.id,
                operation.scopes.join(" or ")
            )?;
        }
        Ok(())
    }
}

/// Whether a token with these scopes cannot open the operation. What is not known is not sure.
pub(crate) fn surely_missing(operation: &Operation, granted: Option<&[String]>) -> bool {
    granted.is_some_and(|granted| {
        !operation.scopes.is_empty()
            && !operation
                .scopes
                .iter()
                .any(|scope| granted.iter().any(|given| given == scope))
    })
}
