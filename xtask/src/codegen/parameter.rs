//! Reads the parameters of an operation and holds them to the conventions.

use super::document::RawParameter;
use super::operation::{KEY_HEADER, Reader, resolve};
use super::schema::Shape;
use super::spec::{Parameter, Place};
use super::{Result, names};
use crate::at;

/// Headers that the runtime sets by itself, whatever a caller wants.
const OWN_HEADERS: &str = "accept authorization connection content-length content-type cookie host idempotency-key \
                           proxy-authorization transfer-encoding user-agent";

impl Reader<'_> {
    /// The parameters, and whether there is an `Idempotency-Key` among them.
    pub(super) fn parameters(&self) -> Result<(Vec<Parameter>, bool)> {
        let (mut parameters, mut keyed) = (Vec::new(), false);
        for raw in &self.raw.parameters {
            let known = &self.document.components.parameters;
            let raw = resolve(raw, raw.reference.as_deref(), known)?;
            if raw.place == "header" && raw.name == KEY_HEADER && raw.required {
                keyed = true;
                continue;
            }
            let place = format!("parameter `{}`", raw.name);
            parameters.push(self.parameter(raw).map_err(at(place))?);
        }
        Ok((parameters, keyed))
    }

    fn parameter(&self, raw: &RawParameter) -> Result<Parameter> {
        let value = self.used(&raw.schema)?;
        if value.nullable
            || matches!(
                value.shape,
                Shape::Value
                    | Shape::Record
                    | Shape::Page
                    | Shape::Number
                    | Shape::Array { .. }
                    | Shape::Text { secret: true, .. }
            )
        {
            return Err(
                "a parameter is text, an enumeration, a reference, an integer or a time, and no secret".into(),
            );
        }
        let field = names::snake(&raw.name);
        if matches!(field.as_str(), "body" | "call" | "client" | "endpoint") {
            return Err("its name is one that generated code uses".into());
        }
        let place = match raw.place.as_str() {
            "path" => Place::Path,
            "query" => Place::Query,
            "header" => Place::Header,
            other => {
                return Err(format!(
                    "it stands in the path, the query or a header, not `{other}`"
                ));
            }
        };
        match place {
            Place::Path if !raw.required || !self.path.contains(&format!("{{{}}}", raw.name)) => {
                return Err("a path parameter is required and occurs in the path".into());
            }
            Place::Header => check_header(&raw.name, &value.shape)?,
            _ => {}
        }
        Ok(Parameter {
            name: raw.name.clone(),
            field,
            place,
            required: raw.required,
            description: if raw.description.is_empty() {
                value.description.clone()
            } else {
                raw.description.trim().to_owned()
            },
            value,
        })
    }
}

fn check_header(name: &str, shape: &Shape) -> Result<()> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(is_token) {
        return Err("the name of a header has letters, digits, `-` and `_`".into());
    }
    let mut own = OWN_HEADERS.split(' ');
    if own.any(|header| header.eq_ignore_ascii_case(name)) {
        return Err(format!(
            "the runtime sets this header; only a required `{KEY_HEADER}` is declared"
        ));
    }
    match shape {
        Shape::Text { .. } | Shape::Named(_) => Ok(()),
        _ => Err("a header is text, an enumeration or a reference".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::check_header;
    use crate::codegen::schema::Shape;

    const TEXT: Shape = Shape::Text {
        min: None,
        max: None,
        secret: false,
    };

    #[test]
    fn a_header_is_one_that_the_runtime_leaves_to_callers() {
        assert_eq!(check_header("X-Workspace", &TEXT), Ok(()));
        for (name, shape, said) in [
            ("Authorization", &TEXT, "the runtime sets this header"),
            ("Idempotency-Key", &TEXT, "required `Idempotency-Key`"),
            ("X Workspace", &TEXT, "the name of a header"),
            ("X-Since", &Shape::Timestamp, "a header is text"),
        ] {
            let error = check_header(name, shape).unwrap_err();
            assert!(error.contains(said), "{name}: {error}");
        }
    }
}
