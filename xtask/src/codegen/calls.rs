//! `calls.rs` of a client: progenitor's calls, reduced to what they build. Each one gives a request, which the
//! runtime then authenticates, sends and judges.

use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprMethodCall, FnArg, ImplItemFn, ItemFn, Lit, Pat, Stmt, Token, parse_quote};

use super::schema::Kind;
use super::spec::{Operation, Place, Spec};
use super::view::Generated;
use super::{Result, names, rust};

/// A call as the face uses it.
pub(crate) struct Call {
    pub(crate) function: String,
    /// Names and types of its arguments after the endpoint, without the body.
    pub(crate) arguments: Vec<(String, String)>,
}

/// Writes the file, and says how each operation is called.
pub(crate) fn write(spec: &Spec, generated: &Generated) -> Result<(String, Vec<Call>)> {
    let (mut code, mut calls) = (String::new(), Vec::new());
    for operation in &spec.operations {
        let function = names::snake(&operation.id);
        let item = generated
            .calls
            .iter()
            .find(|call| call.sig.ident == function);
        let item = item.ok_or_else(|| {
            format!(
                "operation `{}`: progenitor made no call of it",
                operation.id
            )
        })?;
        let (text, call) = call(operation, item)
            .map_err(|rule| format!("operation `{}`: {rule}", operation.id))?;
        code.push_str(&text);
        calls.push(call);
    }
    let types = spec
        .schemas
        .components
        .values()
        .filter(|component| !matches!(component.kind, Kind::Plain));
    let imports = rust::imports(
        &code,
        types.map(|component| (&*component.name, "super::types")),
    );
    Ok((
        format!("//! One function per operation, which builds its request.\n\n{imports}\n{code}"),
        calls,
    ))
}

fn call(operation: &Operation, item: &ImplItemFn) -> Result<(String, Call)> {
    let mut arguments = Vec::new();
    for input in &item.sig.inputs {
        let FnArg::Typed(input) = input else { continue };
        let Pat::Ident(name) = &*input.pat else {
            return Err("an argument of progenitor's call has no name".into());
        };
        if name.ident != "body" {
            arguments.push((name.ident.to_string(), rust::render(&input.ty)?));
        }
    }
    let request = reduce(operation, &item.block.stmts, &arguments)?;
    let function = names::snake(&operation.id);
    let mut inputs = vec!["endpoint: &Endpoint".to_owned()];
    inputs.extend(arguments.iter().map(|(name, ty)| format!("{name}: {ty}")));
    inputs.extend(operation.body.is_some().then(|| "body: Bytes".to_owned()));
    let signature = format!(
        "pub(crate) fn {function}({}) -> Draft {{}}",
        inputs.join(", ")
    );
    let mut built: ItemFn =
        syn::parse_str(&signature).map_err(|error| format!("`{signature}`: {error}"))?;
    built.block = parse_quote!({ #request });
    let text = prettyplease::unparse(&syn::File {
        shebang: None,
        attrs: Vec::new(),
        items: vec![built.into()],
    });
    Ok((
        format!(
            "/// `{} {}`.\n{text}\n",
            operation.method.name(),
            operation.path
        ),
        Call {
            function,
            arguments,
        },
    ))
}

/// The expression that makes the request, out of progenitor's statements.
fn reduce(
    operation: &Operation,
    statements: &[Stmt],
    arguments: &[(String, String)],
) -> Result<Expr> {
    let [url, headers, version, request, ..] = statements else {
        return Err("progenitor's call has too few statements".into());
    };
    let (text, version) = (tokens(headers), tokens(version));
    if !text.contains("with_capacity (1usize)")
        || !version.contains("from_static (\"api-version\")")
    {
        return Err("progenitor's call sets headers other than its own `api-version`".into());
    }
    let Some(Expr::Try(build)) = initial(request) else {
        return Err("progenitor's request does not end in `?`".into());
    };
    let mut request = (*build.expr).clone();
    let mut rewrite = Rewrite::new(path(url)?, arguments);
    rewrite.visit_expr_mut(&mut request);
    let expected = Done {
        target: 1,
        headers: 2,
        query: operation
            .parameters
            .iter()
            .filter(|parameter| parameter.place == Place::Query)
            .count(),
        body: usize::from(operation.body.is_some()),
    };
    if rewrite.done != expected {
        return Err(format!(
            "progenitor's call was rewritten in {:?} places instead of {expected:?}",
            rewrite.done
        ));
    }
    Ok(request)
}

fn initial(statement: &Stmt) -> Option<&Expr> {
    match statement {
        Stmt::Local(local) => local.init.as_ref().map(|init| &*init.expr),
        _ => None,
    }
}

/// The path out of `format!("{}/people/{}", self.baseurl, encode_path(&reference.to_string()),)`.
fn path(url: &Stmt) -> Result<Expr> {
    let Some(Expr::Macro(format)) = initial(url) else {
        return Err("progenitor's call does not begin with its URL".into());
    };
    let parts = format
        .mac
        .parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated)
        .map_err(|error| format!("progenitor's URL: {error}"))?;
    let mut parts = parts.into_iter();
    let (Some(Expr::Lit(template)), Some(base)) = (parts.next(), parts.next()) else {
        return Err("progenitor's URL is not made as it used to be".into());
    };
    let Lit::Str(template) = template.lit else {
        return Err("progenitor's URL has no template".into());
    };
    let template = template.value();
    let Some(route) = template
        .strip_prefix("{}")
        .filter(|_| tokens(&base) == "self . baseurl")
    else {
        return Err("progenitor's URL does not begin with the base".into());
    };
    let mut segments = Vec::new();
    for part in parts {
        segments.push(segment(&part)?);
    }
    Ok(if segments.is_empty() {
        parse_quote!(#route)
    } else {
        parse_quote!(&format!(#route, #(#segments),*))
    })
}

/// `encode_segment(reference)` out of `encode_path(&reference.to_string())`.
fn segment(part: &Expr) -> Result<Expr> {
    let inner = || {
        let Expr::Call(call) = part else { return None };
        let (true, Some(Expr::Reference(argument))) = (
            tokens(&call.func).ends_with("encode_path"),
            call.args.first(),
        ) else {
            return None;
        };
        match &*argument.expr {
            Expr::MethodCall(call) if call.method == "to_string" => Some(&*call.receiver),
            _ => None,
        }
    };
    let value = inner().ok_or("progenitor escapes a segment in another way than it used to")?;
    Ok(parse_quote!(encode_segment(#value)))
}

fn tokens(item: &impl quote::ToTokens) -> String {
    item.to_token_stream().to_string()
}

/// Turns a chain of reqwest's builder into one of the runtime's.
struct Rewrite<'a> {
    path: Expr,
    arguments: &'a [(String, String)],
    done: Done,
}

/// How often each thing was rewritten.
#[derive(Debug, Default, PartialEq)]
struct Done {
    target: usize,
    headers: usize,
    query: usize,
    body: usize,
}

impl<'a> Rewrite<'a> {
    fn new(path: Expr, arguments: &'a [(String, String)]) -> Self {
        Self {
            path,
            arguments,
            done: Done::default(),
        }
    }

    /// What stands for a call of the chain, if it is to be another one.
    fn replacement(&mut self, call: &ExprMethodCall) -> Option<Expr> {
        let (receiver, method) = (&call.receiver, &call.method);
        Some(match method.to_string().as_str() {
            "get" | "post" if tokens(receiver) == "self . client" => {
                self.done.target += 1;
                let path = &self.path;
                parse_quote!(endpoint.#method(#path))
            }
            // One is `Accept`, the other are those of the header map.
            "header" | "headers" => {
                self.done.headers += 1;
                (**receiver).clone()
            }
            // A draft is what is wanted.
            "build" => (**receiver).clone(),
            "query" => {
                self.done.query += 1;
                let (name, value) = self.parameter(call.args.first()?)?;
                parse_quote!(#receiver.query(#name, #value))
            }
            "json" => {
                self.done.body += 1;
                parse_quote!(#receiver.json(body))
            }
            "form_urlencoded" => {
                self.done.body += 1;
                parse_quote!(#receiver.form(body))
            }
            _ => return None,
        })
    }

    /// Name and value out of `&QueryParam::new("limit", &limit)`.
    fn parameter(&self, parameter: &Expr) -> Option<(Expr, Expr)> {
        let Expr::Reference(parameter) = parameter else {
            return None;
        };
        let Expr::Call(parameter) = &*parameter.expr else {
            return None;
        };
        let (name, Expr::Reference(value)) = (parameter.args.first()?, parameter.args.last()?)
        else {
            return None;
        };
        let value = &value.expr;
        let own = tokens(value);
        let (_, ty) = self.arguments.iter().find(|(name, _)| *name == own)?;
        let value = if ty.starts_with("Option") {
            parse_quote!(#value)
        } else {
            parse_quote!(Some(#value))
        };
        Some((name.clone(), value))
    }
}

impl VisitMut for Rewrite<'_> {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        visit_mut::visit_expr_mut(self, expression);
        let replacement = match &*expression {
            Expr::MethodCall(call) => self.replacement(call),
            // `form_urlencoded` is fallible, and what it is rewritten to is not.
            Expr::Try(fallible) => Some((*fallible.expr).clone()),
            _ => None,
        };
        if let Some(replacement) = replacement {
            *expression = replacement;
        }
    }
}
