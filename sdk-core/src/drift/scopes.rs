//! Which scopes operations need, beside those that a token was granted.

use std::fmt;

use crate::client::ApiClient;
use crate::error::Error;
use crate::operation::Operation;

/// The least set of scopes that a list of operations needs.
///
/// An operation that any of several scopes opens is satisfied by one that is needed anyway; otherwise by the one that
/// opens most of the others, and among equals by the first that the contract lists. (The contract does not show which
/// type of CRM command needs which write scope: a program that submits several types names their scopes itself.)
///
/// Operations that need no token, and those that are known by name only, whose scopes are not shown, add nothing. A token
/// that is asked for with an empty set has whatever scopes the token endpoint gives to a request that names none, which
/// may be all.
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
    let alternatives = operations.iter().map(|operation| operation.scopes);
    least(alternatives.collect())
}

fn least(mut alternatives: Vec<&'static [&'static str]>) -> Vec<&'static str> {
    let mut scopes: Vec<&'static str> = alternatives
        .iter()
        .filter(|scopes| scopes.len() == 1)
        .map(|scopes| scopes[0])
        .collect();
    scopes.sort_unstable();
    scopes.dedup();
    loop {
        alternatives.retain(|open| !open.is_empty() && !open.iter().any(|it| scopes.contains(it)));
        let opens = |scope| {
            let with = alternatives.iter().filter(|open| open.contains(scope));
            with.count()
        };
        // The first of the equals, while `max_by_key` would take the last.
        let candidates = alternatives.iter().copied().flatten().rev();
        match candidates.max_by_key(|scope| opens(scope)) {
            Some(best) => scopes.push(best),
            None => return scopes,
        }
    }
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
    /// The operations whose scopes the contract does not show, so that nothing can be said of them.
    pub not_shown: Vec<&'static Operation>,
}

impl MissingScopes {
    pub(crate) fn new(operations: &[&'static Operation], granted: Option<&[String]>) -> Self {
        Self {
            granted: granted.map(<[String]>::to_vec),
            operations: operations
                .iter()
                .copied()
                .filter(|operation| operation.surely_missing(granted))
                .collect(),
            not_shown: operations
                .iter()
                .copied()
                .filter(|operation| operation.authenticated && operation.scopes.is_empty())
                .collect(),
        }
    }

    /// Whether no operation is known to lack its scope.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }
}

impl ApiClient {
    /// Which of these operations the client's token does not open. A token is waited for within the deadline of calls.
    ///
    /// # Errors
    /// When no token can be had in time.
    pub async fn missing_scopes(
        &self,
        operations: &[&'static Operation],
    ) -> Result<MissingScopes, Error> {
        let bearer = self.token_in_time(self.tokens().bearer()).await?;
        Ok(MissingScopes::new(operations, bearer.granted_scopes()))
    }
}

impl fmt::Display for MissingScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.granted {
            None => f.write_str("the token endpoint did not say what it granted")?,
            Some(_) if self.is_empty() => f.write_str("no scope is known to be missing")?,
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
        for operation in &self.not_shown {
            write!(
                f,
                "\n  - {} needs a scope that the contract does not show",
                operation.id
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::least;

    #[test]
    fn one_scope_that_opens_several_operations_is_taken_rather_than_one_for_each() {
        assert_eq!(least(vec![&["a", "b"], &["b", "c"], &[]]), ["b"]);
        assert_eq!(least(vec![&["a", "b"], &["c", "a"], &["b"]]), ["b", "c"]);
        assert_eq!(least(vec![&["b", "a"]]), ["b"]);
        assert!(least(vec![&[], &[]]).is_empty());
    }
}
