//! The example of an operation, which is compiled with the docs of its crate.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::builder::Builder;
use super::pattern::Pattern;
use super::schema::{Kind, Property, Schemas, Shape};
use super::{Result, names};

/// How many optional members an example of a body sets, to show how it is done.
const SHOWN: usize = 2;

/// What an example needs besides its lines.
#[derive(Default)]
struct Context {
    /// Types out of the `types` module.
    types: BTreeSet<String>,
    /// Values that the reader has: arguments of the hidden function around the example.
    given: Vec<(String, &'static str)>,
}

impl Context {
    /// A value that the reader has, by a name that no other one has.
    fn give(&mut self, name: &str, ty: &'static str) -> String {
        let taken = |name: &str| self.given.iter().any(|(given, _)| given == name);
        let mut free = name.to_owned();
        while taken(&free) {
            free = format!("other_{free}");
        }
        self.given.push((free.clone(), ty));
        free
    }
}

/// Writes the example as a code block.
pub(crate) fn write(builder: &Builder<'_>) -> Result<String> {
    let (spec, operation) = (builder.spec, builder.operation);
    let client = spec.app.name;
    let mut context = Context::default();
    let mut arguments = Vec::new();
    for parameter in builder.required() {
        let shape = &parameter.value.shape;
        arguments.push(value(&spec.schemas, shape, &parameter.field, &mut context)?);
    }
    let mut lines = Vec::new();
    if let Some(body) = &operation.body {
        if let Shape::Named(name) = &body.value.shape {
            let body = object(&spec.schemas, name, SHOWN, &mut context)?;
            lines.push(format!("let body = {body};"));
            arguments.push("&body".to_owned());
        } else {
            arguments.push(context.give("body", "sdk_core::RawJson"));
        }
    }
    let call = format!(
        "{client}.{}().{}({})",
        operation.group,
        operation.name,
        arguments.join(", ")
    );
    let limit = operation.parameter("limit");
    let limited = match limit.map(|limit| &limit.value.shape) {
        Some(Shape::Integer { max: Some(max), .. }) => format!("{call}.limit({max})"),
        _ => call.clone(),
    };
    if operation.is_list() {
        lines.extend([
            format!("let page = {limited}.await?;"),
            "println!(\"{} on this page\", page.items()?.len());\n".to_owned(),
            "// Or all of them: pages are fetched as they are needed.".to_owned(),
            format!("let mut items = {call}.items();"),
            "while let Some(item) = items.try_next().await? {\n    println!(\"{item}\");\n}"
                .to_owned(),
        ]);
    } else {
        let name = if operation.is_command() {
            "receipt"
        } else {
            "response"
        };
        lines.extend([
            format!("let {name} = {limited}.await?;"),
            format!("println!(\"{{{name}:?}}\");"),
        ]);
    }
    let mut given = String::new();
    for (name, ty) in &context.given {
        let _ = write!(given, ", {name}: {ty}");
    }
    let types: Vec<&str> = context.types.iter().map(String::as_str).collect();
    let imports = match types.as_slice() {
        [] => String::new(),
        [only] => format!("use sdk_{client}::types::{only};\n\n"),
        several => format!("use sdk_{client}::types::{{{}}};\n\n", several.join(", ")),
    };
    Ok(format!(
        "```no_run\n# async fn example({client}: sdk_{client}::Client{given}) -> Result<(), sdk_core::Error> {{\n\
         {imports}{}\n# Ok(())\n# }}\n```",
        lines.join("\n")
    ))
}

/// A value of a shape: written out where the spec says enough, and otherwise one that the reader has.
fn value(schemas: &Schemas, shape: &Shape, name: &str, context: &mut Context) -> Result<String> {
    let given = match shape {
        Shape::Text { .. } => "&str",
        Shape::Timestamp => "sdk_core::Timestamp",
        Shape::Date => "sdk_core::Date",
        Shape::Number => "sdk_core::Number",
        Shape::Value | Shape::Page => "sdk_core::RawJson",
        Shape::Record => "sdk_core::Record",
        Shape::Integer { min, .. } => return Ok(min.unwrap_or(1).to_string()),
        Shape::Boolean => return Ok("true".into()),
        Shape::Array { items, .. } => match **items {
            Shape::Value => "Vec<sdk_core::RawJson>",
            Shape::Record => "Vec<sdk_core::Record>",
            ref items => return Ok(format!("[{}]", value(schemas, items, name, context)?)),
        },
        Shape::Named(component) => match schemas.kind(shape) {
            Some(Kind::Reference(pattern)) => {
                return Ok(format!("{:?}", Pattern::compile(pattern)?.sample()));
            }
            Some(Kind::Enum { values, .. }) => {
                context.types.insert(component.clone());
                return Ok(format!("{component}::{}", names::pascal(&values[0])));
            }
            _ => return object(schemas, component, 0, context),
        },
    };
    Ok(context.give(name, given))
}

/// An expression that makes an object with its required members and some optional ones.
fn object(schemas: &Schemas, name: &str, optional: usize, context: &mut Context) -> Result<String> {
    let Some(Kind::Struct(members)) = schemas.kind(&Shape::Named(name.to_owned())) else {
        return Err(format!("schema `{name}` is no object"));
    };
    context.types.insert(name.to_owned());
    let stated = |member: &&Property| schemas.constant(&member.value.shape).is_none();
    let (required, others): (Vec<_>, Vec<_>) = members
        .iter()
        .filter(stated)
        .partition(|member| member.required);
    let mut arguments = Vec::new();
    for member in required {
        let value = value(schemas, &member.value.shape, &member.field, context)?;
        arguments.push(if member.value.nullable {
            format!("Some({value}.into())")
        } else {
            value
        });
    }
    let mut text = format!("{name}::new({})", arguments.join(", "));
    let telling = |member: &&Property| match schemas.kind(&member.value.shape) {
        Some(kind) => matches!(kind, Kind::Enum { .. } | Kind::Reference(_)),
        None => matches!(member.value.shape, Shape::Text { .. }),
    };
    for member in others.into_iter().filter(telling).take(optional) {
        let value = value(schemas, &member.value.shape, &member.field, context)?;
        let _ = write!(text, "\n    .{}({value})", member.field);
    }
    Ok(text)
}
