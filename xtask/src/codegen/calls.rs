//! `calls.rs` of a client: progenitor's calls, reduced to what they build. Each one gives a request, which the
//! runtime then authenticates, sends and judges.

use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, FnArg, ImplItemFn, ItemFn, Pat, Stmt, Token, parse_quote};

use super::schema::Kind;
use super::spec::{Operation, Spec};
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
    let (url, request) = reduce(operation, &item.block.stmts)?;
    let function = names::snake(&operation.id);
    let mut inputs = vec!["endpoint: &Endpoint".to_owned()];
    inputs.extend(arguments.iter().map(|(name, ty)| format!("{name}: {ty}")));
    inputs.extend(operation.body.is_some().then(|| "body: Bytes".to_owned()));
    let signature = format!(
        "pub(crate) fn {function}({}) -> Result<reqwest::Request, reqwest::Error> {{}}",
        inputs.join(", ")
    );
    let mut built: ItemFn =
        syn::parse_str(&signature).map_err(|error| format!("`{signature}`: {error}"))?;
    built.block = parse_quote!({ #url #request });
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

/// The statement that makes the URL and the expression that makes the request, out of progenitor's statements.
fn reduce(operation: &Operation, statements: &[Stmt]) -> Result<(Stmt, Expr)> {
    let [url, headers, version, request, ..] = statements else {
        return Err("progenitor's call has too few statements".into());
    };
    let (text, version) = (tokens(headers), tokens(version));
    if !text.contains("with_capacity (1usize)")
        || !version.contains("from_static (\"api-version\")")
    {
        return Err("progenitor's call sets headers other than its own `api-version`".into());
    }
    let (Stmt::Local(local), mut url) = (request, url.clone()) else {
        return Err("progenitor's call has no request where it used to be".into());
    };
    let request = local.init.as_ref().map(|init| (*init.expr).clone());
    let Some(Expr::Try(build)) = request else {
        return Err("progenitor's request does not end in `?`".into());
    };
    let mut request = *build.expr;
    let mut rewrite = Rewrite::default();
    rewrite.visit_stmt_mut(&mut url);
    rewrite.visit_expr_mut(&mut request);
    let expected = Rewrite {
        base: 1,
        client: 1,
        headers: 1,
        build: 1,
        body: usize::from(operation.body.is_some()),
    };
    if rewrite != expected {
        return Err(format!(
            "progenitor's call was rewritten in {rewrite:?} places instead of {expected:?}"
        ));
    }
    Ok((url, request))
}

fn tokens(item: &impl quote::ToTokens) -> String {
    item.to_token_stream().to_string()
}

/// How often each thing was rewritten.
#[derive(Debug, Default, PartialEq)]
struct Rewrite {
    base: usize,
    client: usize,
    headers: usize,
    build: usize,
    body: usize,
}

impl VisitMut for Rewrite {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        visit_mut::visit_expr_mut(self, expression);
        let replacement: Option<Expr> = match &*expression {
            Expr::Field(field) => match tokens(field).as_str() {
                "self . baseurl" => {
                    self.base += 1;
                    Some(parse_quote!(endpoint.base()))
                }
                "self . client" => {
                    self.client += 1;
                    Some(parse_quote!(endpoint.http()))
                }
                _ => None,
            },
            // `form_urlencoded` is fallible, and what it is rewritten to is not.
            Expr::Try(fallible) if matches!(&*fallible.expr, Expr::MethodCall(call) if call.method == "body") => {
                Some((*fallible.expr).clone())
            }
            Expr::MethodCall(call) => {
                let receiver = &call.receiver;
                let media = match call.method.to_string().as_str() {
                    "headers" => {
                        self.headers += 1;
                        *expression = (**receiver).clone();
                        return;
                    }
                    "build" => {
                        self.build += 1;
                        return;
                    }
                    "json" => "application/json",
                    "form_urlencoded" => "application/x-www-form-urlencoded",
                    _ => return,
                };
                self.body += 1;
                Some(parse_quote! {
                    #receiver
                        .header(reqwest::header::CONTENT_TYPE, reqwest::header::HeaderValue::from_static(#media))
                        .body(body)
                })
            }
            _ => None,
        };
        if let Some(replacement) = replacement {
            *expression = replacement;
        }
    }

    fn visit_macro_mut(&mut self, item: &mut syn::Macro) {
        if let Ok(mut arguments) =
            item.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated)
        {
            arguments
                .iter_mut()
                .for_each(|argument| self.visit_expr_mut(argument));
            item.tokens = quote::ToTokens::to_token_stream(&arguments);
        }
    }

    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        visit_mut::visit_path_mut(self, path);
        // The client crates have these names from the runtime.
        path.leading_colon = None;
    }
}
