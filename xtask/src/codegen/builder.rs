//! The request builder of one operation.

use std::fmt::Write as _;

use super::calls::Call;
use super::schema::Shape;
use super::spec::{Operation, Parameter, Place, Spec};
use super::{Result, docs, inputs, names, rust};

/// Methods that every builder has, so that no parameter may have their names.
const METHODS: [&str; 14] = [
    "with",
    "timeout",
    "deadline",
    "retry",
    "header",
    "headers",
    "query",
    "schema_policy",
    "exact_replay",
    "idempotency_key",
    "send",
    "pages",
    "items",
    "prepare",
];

/// An operation together with how it is called.
pub(crate) struct Builder<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) operation: &'a Operation,
    pub(crate) call: &'a Call,
}

impl Builder<'_> {
    pub(crate) fn name(&self) -> String {
        names::pascal(&self.operation.id)
    }

    /// The type of the decoded reply.
    pub(crate) fn reply(&self) -> Result<String> {
        match &self.operation.reply.shape {
            Shape::Named(name) => Ok(name.clone()),
            Shape::Value => Ok("RawJson".into()),
            Shape::Record => Ok("Record".into()),
            Shape::Page => Ok("Page<Record>".into()),
            _ => Err("a reply is an object, a page or any JSON value".into()),
        }
    }

    /// The required parameters, in the order of the spec.
    pub(crate) fn required(&self) -> impl Iterator<Item = &Parameter> {
        self.operation
            .parameters
            .iter()
            .filter(|parameter| parameter.required)
    }

    fn optional(&self) -> impl Iterator<Item = &Parameter> {
        self.operation
            .parameters
            .iter()
            .filter(|parameter| !parameter.required)
    }

    /// The type of a parameter's field without its `Option`: what the call borrows, owned.
    fn field_type(&self, parameter: &Parameter) -> Result<String> {
        if parameter.place == Place::Header {
            return Ok(match &parameter.value.shape {
                Shape::Named(name) => name.clone(),
                _ => "String".to_owned(),
            });
        }
        let argument = self
            .call
            .arguments
            .iter()
            .find(|(name, _)| *name == parameter.field);
        let (_, ty) = argument
            .ok_or_else(|| format!("progenitor's call has no argument `{}`", parameter.field))?;
        let bare = ty
            .strip_prefix("Option<")
            .and_then(|rest| rest.strip_suffix('>'));
        if bare.is_some() == parameter.required {
            return Err(format!(
                "progenitor's argument `{}` is optional where the parameter is not",
                parameter.field
            ));
        }
        Ok(match bare.unwrap_or(ty) {
            "&str" => "String".to_owned(),
            other => other.trim_start_matches('&').to_owned(),
        })
    }

    fn argument(&self, parameter: &Parameter) -> Result<rust::Argument> {
        let is_reference = |shape: &Shape| inputs::is_reference(&self.spec.schemas, shape);
        Ok(rust::argument(
            &parameter.value.shape,
            &is_reference,
            &self.field_type(parameter)?,
            &parameter.field,
        ))
    }

    /// The method of the group that makes the builder, without its docs.
    pub(crate) fn method(&self) -> Result<String> {
        let mut arguments = vec!["&self".to_owned()];
        let constant = names::screaming(&self.operation.id);
        let mut members = vec![format!(
            "call: Call::new(&self.api, &operations::{constant})"
        )];
        for parameter in &self.operation.parameters {
            let field = &parameter.field;
            if parameter.required {
                let argument = self.argument(parameter)?;
                arguments.push(format!("{field}: {}", argument.ty));
                members.push(if argument.value == *field {
                    argument.value
                } else {
                    format!("{field}: {}", argument.value)
                });
            } else {
                members.push(format!("{field}: None"));
            }
        }
        if let Some(body) = &self.operation.body {
            let (ty, value) = match &body.value.shape {
                Shape::Named(name) if body.form => (
                    format!("&{name}"),
                    format!("Body::form(&operations::{constant}, body)"),
                ),
                Shape::Named(name) => (
                    format!("&{name}"),
                    format!("Body::json(&operations::{constant}, body)"),
                ),
                _ if body.form => return Err("a form needs a named schema".into()),
                _ => (
                    "impl Into<JsonBody>".to_owned(),
                    "Body::raw(&body.into())".to_owned(),
                ),
            };
            arguments.push(format!("body: {ty}"));
            members.push(format!("body: {value}"));
        }
        let (method, builder) = (&self.operation.name, self.name());
        Ok(format!(
            "pub fn {method}({}) -> {builder} {{\n{builder} {{ {} }}\n}}\n",
            arguments.join(", "),
            members.join(", ")
        ))
    }

    /// The builder itself: fields, setters and the methods that send it.
    pub(crate) fn write(&self, group: &str) -> Result<String> {
        let Operation { name: method, .. } = self.operation;
        let builder = self.name();
        let text = docs::operation(&self.spec.schemas, self.operation);
        let mut code = docs::comment(&format!(
            "{text}\n\nMade by [`{group}::{method}`]; see there for an example."
        ));
        let _ = writeln!(
            code,
            "#[derive(Clone, Debug)]\n#[must_use = \"a request does nothing until it is sent\"]\npub struct {builder} {{\ncall: Call,"
        );
        for parameter in &self.operation.parameters {
            let ty = self.field_type(parameter)?;
            let ty = if parameter.required {
                ty
            } else {
                format!("Option<{ty}>")
            };
            let _ = writeln!(code, "{}: {ty},", parameter.field);
        }
        let body = if self.operation.body.is_some() {
            "body: Body,\n"
        } else {
            ""
        };
        let _ = writeln!(code, "{body}}}\n\nimpl {builder} {{");
        for parameter in self.optional() {
            code.push_str(&self.setter(parameter)?);
        }
        code.push_str(&self.request()?);
        code.push_str(&self.sending()?);
        code.push_str("}\n\n");
        let (options, output) = match (self.operation.is_command(), self.operation.keyed) {
            (true, true) => ("keyed_command_options", "Receipt"),
            (true, false) => ("command_options", "Receipt"),
            (false, _) => ("call_options", "Response"),
        };
        let _ = writeln!(
            code,
            "sdk_core::{options}!({builder} => {output}<{}>);\n",
            self.reply()?
        );
        Ok(code)
    }

    fn setter(&self, parameter: &Parameter) -> Result<String> {
        let field = &parameter.field;
        if METHODS.contains(&field.as_str()) || ["request", "sending"].contains(&field.as_str()) {
            return Err(format!(
                "parameter `{}`: every builder already has a method of this name",
                parameter.name
            ));
        }
        let argument = self.argument(parameter)?;
        let mut text = docs::prose(&parameter.description);
        if let Some(default) = &parameter.value.default {
            let _ = write!(text, "\n\nThe service defaults to `{default}`.");
        }
        Ok(format!(
            "{}pub fn {field}(mut self, {field}: {}) -> Self {{\nself.{field} = Some({});\nself\n}}\n\n",
            docs::comment(&text),
            argument.ty,
            argument.value
        ))
    }
}
