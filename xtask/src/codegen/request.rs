//! The methods of a request builder that check, build and send the request.

use std::fmt::Write as _;

use super::builder::Builder;
use super::inputs::limit;
use super::pattern::Pattern;
use super::schema::{Kind, Shape};
use super::spec::{Parameter, Place};
use super::{Result, names};
use crate::at;

impl Builder<'_> {
    /// The method that checks the parameters and builds the request.
    pub(crate) fn request(&self) -> Result<String> {
        let mut checks = String::new();
        for parameter in &self.operation.parameters {
            let place = format!("parameter `{}`", parameter.name);
            checks += &self.check(parameter).map_err(at(place))?;
        }
        for (left, right) in &self.operation.exclusive {
            let set = |name| format!("({name:?}, self.{}.is_some())", names::snake(name));
            let (left, right) = (set(left), set(right));
            let _ = writeln!(checks, "check.exclusive(&[{left}, {right}])?;");
        }
        for (first, last) in &self.operation.ordered {
            let time = |name| format!("{name:?}, self.{}.as_ref()", names::snake(name));
            let (first, last) = (time(first), time(last));
            let _ = writeln!(checks, "check.ordered({first}, {last})?;");
        }
        if !checks.is_empty() {
            checks.insert_str(0, "let check = self.call.check();\n");
        }
        let mut arguments = vec!["self.call.endpoint()".to_owned()];
        for (name, ty) in &self.call.arguments {
            arguments.push(match ty.as_str() {
                _ if self.operation.is_list() && name == "cursor" => "cursor".to_owned(),
                "Option<&str>" => format!("self.{name}.as_deref()"),
                ty if ty.starts_with("Option<&") => format!("self.{name}.as_ref()"),
                ty if ty.starts_with('&') => format!("&self.{name}"),
                _ => format!("self.{name}"),
            });
        }
        let body = self.operation.body.is_some();
        arguments.extend(body.then(|| "self.body.bytes()?".to_owned()));
        let cursor = if self.operation.is_list() {
            ", cursor: Option<&str>"
        } else {
            ""
        };
        Ok(format!(
            "fn request(&self{cursor}) -> Result<Draft, Error> {{\n{checks}Ok(calls::{}({}))\n}}\n\n",
            self.call.function,
            arguments.join(", ")
        ))
    }

    fn check(&self, parameter: &Parameter) -> Result<String> {
        let Parameter {
            name,
            field,
            required,
            place,
            value,
            ..
        } = parameter;
        let in_path = *place == Place::Path;
        let optional = |borrow: &str| match (self.operation.is_list() && name == "cursor", required)
        {
            (true, _) => "cursor".to_owned(),
            (false, true) => format!(
                "Some({}self.{field})",
                if borrow.is_empty() { "" } else { "&" }
            ),
            (false, false) => format!("self.{field}{borrow}"),
        };
        let segment = |place: String| {
            let check = format!("check.segment({name:?}, {place})?;\n");
            if in_path { check } else { String::new() }
        };
        Ok(match &value.shape {
            Shape::Text {
                min: None,
                max: None,
                ..
            } => segment(format!("&self.{field}")),
            Shape::Text { min, max, .. } => {
                let (min, max) = (min.unwrap_or(0), limit("usize", *max));
                let text = optional(".as_deref()");
                segment(format!("&self.{field}"))
                    + &format!("check.length({name:?}, {text}, {min}, {max})?;\n")
            }
            Shape::Integer {
                min: None,
                max: None,
            } => String::new(),
            Shape::Integer { min, max } => {
                let bound = |bound: Option<i64>| {
                    bound
                        .map(u32::try_from)
                        .transpose()
                        .map_err(|_| "its bounds must be those of a u32")
                };
                let (min, max) = (bound(*min)?.unwrap_or(0), limit("u32", bound(*max)?));
                format!("check.range({name:?}, {}, {min}, {max})?;\n", optional(""))
            }
            Shape::Timestamp | Shape::Date => {
                format!("check.rfc3339({name:?}, {})?;\n", optional(".as_ref()"))
            }
            shape => match self.spec.schemas.kind(shape) {
                Some(Kind::Enum { closed, .. }) => {
                    let known = if *closed {
                        format!("check.known({name:?}, {})?;\n", optional(".as_ref()"))
                    } else {
                        String::new()
                    };
                    known + &segment(format!("self.{field}.as_str()"))
                }
                Some(Kind::Reference(pattern)) if *required => {
                    let sample = Pattern::compile(pattern)?.sample();
                    if in_path && !sample.starts_with(|first: char| first.is_ascii_alphanumeric()) {
                        return Err("a pattern in a path must not admit `..`: let it begin with a letter or a digit".into());
                    }
                    format!("check.reference({name:?}, &self.{field})?;\n")
                }
                Some(Kind::Reference(_)) => {
                    format!(
                        "if let Some({field}) = &self.{field} {{\ncheck.reference({name:?}, {field})?;\n}}\n"
                    )
                }
                _ => String::new(),
            },
        })
    }

    /// The method that puts the documented headers among the options, with which they are sent and stored; none if there
    /// are none.
    fn headers(&self) -> Option<String> {
        let mut lines = String::new();
        let headers = |parameter: &&Parameter| parameter.place == Place::Header;
        for Parameter {
            name,
            field,
            required,
            value,
            ..
        } in self.operation.parameters.iter().filter(headers)
        {
            let text = match value.shape {
                Shape::Text { .. } => "",
                _ => ".as_str()",
            };
            let set = |value| {
                format!("self.call.options_mut().header({name:?}, {value}{text}.as_ref());\n")
            };
            if *required {
                lines += &set(format!("self.{field}"));
            } else {
                let set = set(field.clone());
                let _ = write!(lines, "if let Some({field}) = &self.{field} {{\n{set}}}\n");
            }
        }
        (!lines.is_empty()).then(|| format!("fn headers(mut self) -> Self {{\n{lines}self\n}}\n\n"))
    }

    /// The methods that send it.
    pub(crate) fn sending(&self) -> Result<String> {
        let reply = self.reply()?;
        let headers = self.headers();
        let (with, this) = match headers {
            Some(_) => ("let this = self.headers();\n", "this"),
            None => ("", "self"),
        };
        // `send` is for callers who like to name it; `.await` does without its future around the other one.
        let methods = |wrapper: &str, docs: &str, cursor: &str, method: &str| {
            format!(
                "/// {docs}\npub async fn send(self) -> Result<{wrapper}<{reply}>, Error> {{\n\
                 self.sending().await\n}}\n\n\
                 fn sending(self) -> impl Future<Output = Result<{wrapper}<{reply}>, Error>> + Send + 'static {{\n\
                 {with}let request = {this}.request({cursor});\n{this}.call.{method}(request)\n}}\n"
            )
        };
        let sending = if self.operation.is_list() {
            let cursor = format!("{this}.cursor.as_deref()");
            methods("Response", "Gets one page.", &cursor, "send")
                + &format!(
                    "\n/// All pages from here on, fetched one by one as they are asked for.\n\
                     pub fn pages(self) -> Pages<Record> {{\n\
                     {with}let (call, cursor) = ({this}.call.clone(), {this}.cursor.clone());\n\
                     Pages::new(call, cursor, move |cursor| {this}.request(cursor))\n}}\n\n\
                     /// All items from here on; their pages are fetched as they are needed.\n\
                     pub fn items(self) -> Items<Record> {{\nself.pages().items()\n}}\n"
                )
        } else if self.operation.is_command() {
            methods("Receipt", "Sends the command.", "", "command")
                + &format!(
                    "\n/// Makes a command of it that can be stored, and sent later, also by another process.\n\
                     pub fn prepare(self) -> Result<PreparedCommand, Error> {{\n\
                     {with}let request = {this}.request();\n{this}.call.prepare(request)\n}}\n"
                )
        } else {
            methods("Response", "Sends the request.", "", "send")
        };
        Ok(headers.unwrap_or_default() + &sending)
    }
}
