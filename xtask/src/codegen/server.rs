//! `operations.rs` of the reference server: the operations of all specs as one enumeration. The server matches
//! on it without a catch-all, so an operation that it does not serve does not compile.

use std::fmt::Write as _;

use super::names;
use super::spec::{Auth, Operation, Spec};

/// Writes the file.
pub(crate) fn write(specs: &[Spec]) -> String {
    let mut code = String::from(
        "use crate::app::App;\n\n/// An operation of the suite, named as its `operationId`.\n\
         #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub enum Operation {\n",
    );
    for (_, operation) in all(specs) {
        let Operation { id, path, .. } = operation;
        let _ = writeln!(
            code,
            "/// `{id}`: `{} {path}`.\n{},",
            operation.method.name(),
            names::pascal(id)
        );
    }
    let count = all(specs).count();
    let _ = write!(
        code,
        "}}\n\nimpl Operation {{\n/// Every operation, in the order of the specs.\npub const ALL: [Operation; {count}] = [\n"
    );
    for (_, operation) in all(specs) {
        let _ = writeln!(code, "Operation::{},", names::pascal(&operation.id));
    }
    code.push_str("];\n\n");
    for property in properties() {
        let _ = write!(
            code,
            "/// {}\n#[must_use]\npub const fn {}(self) -> {} {{\nmatch self {{\n",
            property.docs, property.name, property.ty
        );
        for (spec, operation) in all(specs) {
            let _ = writeln!(
                code,
                "Operation::{} => {},",
                names::pascal(&operation.id),
                (property.value)(spec, operation)
            );
        }
        code.push_str("}\n}\n\n");
    }
    code + "}\n"
}

fn all(specs: &[Spec]) -> impl Iterator<Item = (&Spec, &Operation)> {
    specs.iter().flat_map(|spec| {
        spec.operations
            .iter()
            .map(move |operation| (spec, operation))
    })
}

/// A method of the enumeration.
struct Property {
    name: &'static str,
    ty: &'static str,
    docs: &'static str,
    value: fn(&Spec, &Operation) -> String,
}

fn properties() -> [Property; 6] {
    [
        Property {
            name: "id",
            ty: "&'static str",
            docs: "The `operationId`.",
            value: |_, operation| format!("{:?}", operation.id),
        },
        Property {
            name: "app",
            ty: "App",
            docs: "The application that serves it.",
            value: |spec, _| format!("App::{}", names::pascal(spec.app.name)),
        },
        Property {
            name: "method",
            ty: "&'static str",
            docs: "The HTTP method, in capitals.",
            value: |_, operation| format!("{:?}", operation.method.name()),
        },
        Property {
            name: "path",
            ty: "&'static str",
            docs: "The path template, from the origin of the application.",
            value: |_, operation| format!("{:?}", operation.path),
        },
        Property {
            name: "scopes",
            ty: "&'static [&'static str]",
            docs: "The scopes of which the token needs any one; empty when none is documented.",
            value: |_, operation| format!("&{:?}", operation.scopes),
        },
        Property {
            name: "auth",
            ty: "bool",
            docs: "Whether the operation needs a bearer token.",
            value: |_, operation| (operation.auth == Auth::Bearer).to_string(),
        },
    ]
}
