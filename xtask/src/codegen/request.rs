//! The methods of a request builder that check, build and send the request.

use std::fmt::Write as _;

use super::builder::Builder;
use super::inputs::limit;
use super::pattern::Pattern;
use super::schema::{Kind, Shape};
use super::spec::{Parameter, Place};
use super::{Result, names};

impl Builder<'_> {
    /// The method that checks the parameters and builds the request.
    pub(crate) fn request(&self) -> Result<String> {
        let mut checks = String::new();
        for parameter in &self.operation.parameters {
            checks.push_str(
                &self
                    .check(parameter)
                    .map_err(|rule| format!("parameter `{}`: {rule}", parameter.name))?,
            );
        }
        let field = |name: &str| names::snake(name);
        for (left, right) in &self.operation.exclusive {
            let set = |name: &str| format!("({name:?}, self.{}.is_some())", field(name));
            let _ = writeln!(
                checks,
                "check.exclusive(&[{}, {}])?;",
                set(left),
                set(right)
            );
        }
        for (first, last) in &self.operation.ordered {
            let _ = writeln!(
                checks,
                "check.ordered({first:?}, self.{}.as_ref(), {last:?}, self.{}.as_ref())?;",
                field(first),
                field(last)
            );
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
        arguments.extend(
            self.operation
                .body
                .is_some()
                .then(|| "self.body.bytes()?".to_owned()),
        );
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
            if in_path {
                format!("check.segment({name:?}, {place})?;\n")
            } else {
                String::new()
            }
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
            shape => match self
                .spec
                .schemas
                .named(shape)
                .map(|component| &component.kind)
            {
                Some(Kind::Enum { closed, .. }) => {
                    let known = if *closed {
                        format!("check.known({name:?}, {})?;\n", optional(".as_ref()"))
                    } else {
                        String::new()
                    };
                    known + &segment(format!("self.{field}.as_str()"))
                }
                Some(Kind::Reference(pattern)) if *required => {
                    if in_path
                        && !Pattern::compile(pattern)?
                            .sample()
                            .starts_with(|first: char| first.is_ascii_alphanumeric())
                    {
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
            let _ = if *required {
                writeln!(
                    lines,
                    "self.call.options_mut().header({name:?}, self.{field}{text}.as_ref());"
                )
            } else {
                writeln!(
                    lines,
                    "if let Some({field}) = &self.{field} {{\nself.call.options_mut().header({name:?}, {field}{text}.as_ref());\n}}"
                )
            };
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
