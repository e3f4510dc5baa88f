//! The scopes that operations require, and the required scopes that a token lacks.

use std::fmt;

use crate::client::ApiClient;
use crate::error::Error;
use crate::operation::Operation;

/// Returns a small set of scopes that permits these operations. For each operation, the set gets the operation's first
/// scope, unless it already contains a sufficient scope.
///
/// The set depends on the order of the operations and isn't always the smallest possible set. The contract doesn't
/// document the write scope of each type of CRM command. A program that submits several types must therefore name their
/// scopes itself.
///
/// Operations without a token add nothing. Operations that the contract documents by name only add nothing either,
/// because their scopes are undocumented. If the set is empty, the token endpoint decides which scopes to grant,
/// possibly all.
///
/// ```
/// # fn example(
/// #     suite: &sdk_core::Suite,
/// #     operations: &[&'static sdk_core::Operation],
/// # ) -> Result<sdk_core::Suite, sdk_core::Error> {
/// suite.with_scopes(sdk_core::App::Crm, sdk_core::least_scopes(operations))
/// # }
/// ```
#[must_use]
pub fn least_scopes(operations: &[&'static Operation]) -> Vec<&'static str> {
    least(operations.iter().map(|operation| operation.scopes))
}

fn least(alternatives: impl Iterator<Item = &'static [&'static str]>) -> Vec<&'static str> {
    let mut scopes: Vec<&'static str> = Vec::new();
    for accepted in alternatives {
        let is_open = accepted.iter().any(|scope| scopes.contains(scope));
        scopes.extend(accepted.first().filter(|_| !is_open));
    }
    scopes
}

/// The operations whose scope a token lacks. `Display` prints each operation with the scopes of which it needs one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MissingScopes {
    /// The granted scopes. `None` if the token endpoint didn't report them, in which case no missing scope is known.
    pub granted: Option<Vec<String>>,
    /// The operations whose required scope is missing.
    pub operations: Vec<&'static Operation>,
    /// The operations whose required scopes the contract doesn't document.
    pub undocumented: Vec<&'static Operation>,
}

impl MissingScopes {
    pub(crate) fn new(operations: &[&'static Operation], granted: Option<&[String]>) -> Self {
        let only = |condition: &dyn Fn(&Operation) -> bool| {
            let operations = operations.iter().copied();
            operations
                .filter(|operation| condition(operation))
                .collect()
        };
        Self {
            granted: granted.map(<[String]>::to_vec),
            operations: only(&|operation| operation.lacks_required_scope(granted)),
            undocumented: only(&|operation| operation.authenticated && operation.scopes.is_empty()),
        }
    }

    /// Whether no scope is known to be missing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }
}

impl ApiClient {
    /// Returns which of these operations the client's token doesn't permit. Waits for a token, at most for a call's
    /// deadline.
    ///
    /// # Errors
    /// If no token is available in time.
    pub async fn missing_scopes(
        &self,
        operations: &[&'static Operation],
    ) -> Result<MissingScopes, Error> {
        let app = self.application().app;
        if let Some(foreign) = operations.iter().find(|it| it.application != app) {
            let found = format!("{}.{}", foreign.application, foreign.id);
            let error = Error::invalid("operation", &format!("belong to {app}"), &found);
            return Err(error.with_installation(self.label()));
        }
        let bearer = self.token_in_time().await?;
        Ok(MissingScopes::new(operations, bearer.granted_scopes()))
    }
}

impl fmt::Display for MissingScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.granted {
            None => f.write_str("the token endpoint did not list the granted scopes")?,
            Some(_) if self.is_empty() => f.write_str("no scope is known to be missing")?,
            Some(granted) => write!(f, "granted: {}", granted.join(", "))?,
        }
        for Operation { id, scopes, .. } in &self.operations {
            write!(f, "\n  - {id} needs {}", scopes.join(" or "))?;
        }
        for Operation { id, .. } in &self.undocumented {
            write!(
                f,
                "\n  - {id} needs a scope that the contract does not document"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::least;

    #[test]
    fn an_operations_first_scope_is_added_unless_a_sufficient_scope_is_there() {
        let least = |alternatives: &[&'static [&'static str]]| least(alternatives.iter().copied());
        assert_eq!(least(&[&["a", "b"], &["b", "c"], &[]]), ["a", "b"]);
        assert_eq!(least(&[&["b"], &["a", "b"], &["b", "c"]]), ["b"]);
        assert_eq!(least(&[&["b", "a"], &["b"]]), ["b"]);
        assert!(least(&[&[], &[]]).is_empty());
    }
}
