//! The `error.type` of OpenTelemetry.

use http::StatusCode;

use crate::error::Error;

/// The status of a reply other than 2xx, or the name of a kind of error.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ErrorType {
    Status(StatusCode),
    Kind(&'static str),
}

impl ErrorType {
    pub(crate) fn new(status: Option<u16>, kind: &'static str) -> Self {
        let status = status.and_then(|status| StatusCode::from_u16(status).ok());
        match status.filter(|status| !status.is_success()) {
            Some(status) => Self::Status(status),
            None => Self::Kind(kind),
        }
    }

    pub(crate) fn of(error: &Error) -> Self {
        Self::new(error.status(), error.kind().as_str())
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Status(status) => status.as_str(),
            Self::Kind(kind) => kind,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::error::kind::ErrorKind;
    use crate::token::error::TokenErrorKind;

    #[test]
    fn the_documented_list_of_error_types_is_that_of_the_code() {
        let text = include_str!("mod.rs");
        let rows = text.lines().filter(|line| line.starts_with("//! | `"));
        let mut columns = [Vec::new(), Vec::new()];
        for row in rows.filter(|row| !row.contains("suite.")) {
            for (cell, column) in row.split('|').skip(1).zip(&mut columns) {
                let name = cell.trim().trim_matches('`');
                column.extend(Some(name).filter(|name| !name.is_empty()));
            }
        }
        let kinds: Vec<_> = ErrorKind::ALL.iter().map(|kind| kind.as_str()).collect();
        let of_tokens = TokenErrorKind::ALL.iter().map(|kind| kind.as_str());
        assert_eq!(columns, [kinds, of_tokens.collect()]);
    }
}
