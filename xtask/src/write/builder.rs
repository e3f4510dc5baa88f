//! The request builder of one operation.

use std::fmt::Write as _;

use crate::model::{Body, Operation, Parameter, Spec, Ty};
use crate::{Result, names};

use super::checks::has_rules;
use super::text::comment;
use super::{docs, options, rust};

/// An operation of a spec.
pub(super) struct Builder<'a> {
    pub(super) spec: &'a Spec,
    pub(super) operation: &'a Operation,
}

/// How a body is handed in: the type of the argument, and what makes a `Body` of it.
struct BodyArgument {
    ty: String,
    value: String,
}

impl Builder<'_> {
    pub(super) fn name(&self) -> String {
        names::pascal(&self.operation.id)
    }

    /// The type of the decoded reply.
    pub(super) fn reply(&self) -> String {
        rust::reply_type(&self.spec.schemas, &self.operation.reply)
    }

    /// What a call returns the reply in.
    pub(super) fn wrapper(&self) -> &'static str {
        if self.operation.is_command() {
            "Receipt"
        } else {
            "Response"
        }
    }

    /// The type of the items of a list.
    pub(super) fn item(&self) -> Option<String> {
        match self.operation.reply.ty() {
            Some(Ty::Page { items, .. }) if self.operation.is_list() => {
                Some(rust::item_type(&self.spec.schemas, items))
            }
            _ => None,
        }
    }

    fn argument(&self, parameter: &Parameter) -> rust::Argument {
        let ty = &parameter.value.ty;
        rust::argument(&self.spec.schemas, ty, false, &parameter.field)
    }

    fn body(&self, body: &Body) -> Result<BodyArgument> {
        let constant = names::screaming(&self.operation.id);
        let schemas = &self.spec.schemas;
        let (ty, make) = match &body.value.ty {
            Ty::Named(name) if body.form => (format!("&{name}"), "form"),
            ty if body.form => return Err(format!("a form needs an object, not {ty:?}")),
            ty @ Ty::Named(name) if has_rules(schemas, ty) => (format!("&{name}"), "json"),
            Ty::Array { items, min, max } if has_rules(schemas, items) => {
                let (min, max) = (min.unwrap_or(0), rust::limit("usize", *max));
                return Ok(BodyArgument {
                    ty: format!("&[{}]", schemas.rust(items)),
                    value: format!("Body::list(&operations::{constant}, body, {min}, {max})"),
                });
            }
            _ => {
                return Ok(BodyArgument {
                    ty: "impl Into<JsonBody>".to_owned(),
                    value: "Body::raw(&body.into())".to_owned(),
                });
            }
        };
        Ok(BodyArgument {
            ty,
            value: format!("Body::{make}(&operations::{constant}, body)"),
        })
    }

    /// The method of the group that makes the builder, without its docs.
    pub(super) fn method(&self) -> Result<String> {
        let mut arguments = vec!["&self".to_owned()];
        let constant = names::screaming(&self.operation.id);
        let mut members = vec![format!(
            "call: Call::new(&self.api, &operations::{constant})"
        )];
        for parameter in &self.operation.parameters {
            let field = &parameter.field;
            if parameter.required {
                let argument = self.argument(parameter);
                arguments.push(format!("{field}: {}", argument.ty));
                members.push(argument.field(field));
            } else {
                members.push(format!("{field}: None"));
            }
        }
        match &self.operation.body {
            Some(body) if body.required => {
                let body = self.body(body)?;
                arguments.push(format!("body: {}", body.ty));
                members.push(format!("body: {}", body.value));
            }
            Some(_) => members.push("body: None".to_owned()),
            None => {}
        }
        let (method, builder) = (&self.operation.name, self.name());
        Ok(format!(
            "{}pub fn {method}({}) -> {builder} {{\n{builder} {{ {} }}\n}}\n\n",
            docs::deprecated(self.operation.deprecated),
            arguments.join(", "),
            members.join(", ")
        ))
    }

    /// The builder itself: fields, setters and the methods that send it.
    pub(super) fn write(&self, group: &str) -> Result<String> {
        let Operation { name: method, .. } = self.operation;
        let builder = self.name();
        let text = docs::operation(&self.spec.schemas, self.operation);
        let mut code = comment(&format!(
            "{text}\n\nMade by [`{group}::{method}`]; see there for an example."
        ));
        let _ = writeln!(
            code,
            "#[derive(Clone, Debug)]\n#[must_use = \"a request does nothing until it is sent: add `.await`\"]\npub struct {builder} {{\ncall: Call,"
        );
        for parameter in &self.operation.parameters {
            let field = &parameter.field;
            let ty = self.spec.schemas.parameter(parameter);
            let _ = writeln!(code, "{field}: {ty},");
        }
        let body = self.operation.body.as_ref();
        code.push_str(match body {
            Some(body) if body.required => "body: Body,\n",
            Some(_) => "body: Option<Body>,\n",
            None => "",
        });
        let _ = writeln!(code, "}}\n\nimpl {builder} {{");
        let optional = self.operation.parameters.iter().filter(|it| !it.required);
        code.extend(optional.map(|parameter| self.setter(parameter)));
        if let Some(body) = body.filter(|body| !body.required) {
            let docs = comment(&docs::body(body));
            let argument = self.body(body)?;
            let (ty, value) = (argument.ty, argument.value);
            let _ = write!(
                code,
                "{docs}pub fn body(mut self, body: {ty}) -> Self {{\nself.body = Some({value});\nself\n}}\n\n"
            );
        }
        code.push_str(&self.request());
        code.push_str(&self.sending());
        code.push_str(&options::setters(self.operation));
        code.push_str("}\n\n");
        let output = format!("{}<{}>", self.wrapper(), self.reply());
        code.push_str(&options::future(&builder, &output));
        Ok(code)
    }

    fn setter(&self, parameter: &Parameter) -> String {
        let (field, argument) = (&parameter.field, self.argument(parameter));
        format!(
            "{}{}pub fn {field}(mut self, {field}: {}) -> Self {{\nself.{field} = Some({});\nself\n}}\n\n",
            comment(&docs::parameter(parameter)),
            docs::deprecated(parameter.deprecated),
            argument.ty,
            argument.value
        )
    }
}
