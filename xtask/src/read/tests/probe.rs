//! Checks the model with a JSON Schema validator. The test asks the validator for each field which values it rejects, and compares
//! the answers with the model. Only the search for field names and the translation of `OpenAPI` 3.0 notations are our own code.

use std::collections::BTreeSet;
use std::path::Path;

use jsonschema::error::{TypeKind, ValidationErrorKind as Rule};
use jsonschema::{JsonType, ValidationError, Validator};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use crate::adopt;
use crate::findings::{Findings, Weight};
use crate::model::app::{APPS, SAMPLE};
use crate::model::{Component, Kind, Property, Schemas, Spec, Ty};
use crate::node::{Node, step};
use crate::read::read_document;
use crate::write::tree::text_of;

/// Translates a document for the validator, with null as a type and without keywords that changed after 3.0.
fn translated(value: &Value) -> Value {
    let Value::Object(object) = value else {
        return match value {
            Value::Array(items) => items.iter().map(translated).collect(),
            other => other.clone(),
        };
    };
    let of_3_0 = [
        "nullable",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "required",
    ];
    let mut members: Map<String, Value> = Map::new();
    for (key, value) in object {
        if !(of_3_0.contains(&&**key) && value.is_boolean()) {
            members.insert(key.clone(), translated(value));
        }
    }
    if object.get("nullable") != Some(&Value::Bool(true)) {
        return Value::Object(members);
    }
    let is_plain = members.contains_key("type") && !members.contains_key("enum");
    if is_plain {
        members["type"] = json!([members["type"], "null"]);
        return Value::Object(members);
    }
    json!({"anyOf": [members, {"type": "null"}]})
}

fn validator(document: &Value, place: &str) -> Validator {
    let mut root = document.clone();
    let place = utf8_percent_encode(place, NON_ALPHANUMERIC).to_string();
    root["$ref"] = json!(format!("#{}", place.replace("%2F", "/")));
    jsonschema::draft202012::new(&root).unwrap_or_else(|error| panic!("{place}: {error}"))
}

/// The names of the fields of a schema, and whether only one direction has them.
fn names(root: &Value, schema: &Value, found: &mut BTreeSet<(String, bool)>) {
    if let Some(target) = schema["$ref"].as_str() {
        let target = percent_encoding::percent_decode_str(&target[1..]).decode_utf8_lossy();
        names(root, root.pointer(&target).unwrap(), found);
    }
    for branch in schema["allOf"].as_array().into_iter().flatten() {
        names(root, branch, found);
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let text = member.to_string();
        let is_one_sided =
            text.contains("\"readOnly\":true") || text.contains("\"writeOnly\":true");
        found.insert((name.clone(), is_one_sided));
    }
}

/// Whether a rule is broken at a place, and in all branches if there are several.
fn is_broken(error: &ValidationError<'_>, at: &str, by: &dyn Fn(&Rule, &Value) -> bool) -> bool {
    match error.kind() {
        Rule::AnyOf { context } | Rule::OneOfNotValid { context } => {
            let mut branches = context.iter().filter(|it| !is_for_null(it));
            branches.all(|it| it.iter().any(|error| is_broken(error, at, by)))
        }
        rule => error.instance_path().as_str() == at && by(rule, error.instance()),
    }
}

/// Whether the only error of a branch is that a value is not null.
fn is_for_null(errors: &[ValidationError<'_>]) -> bool {
    let is_null = |rule: &Rule| {
        matches!(
            rule,
            Rule::Type {
                kind: TypeKind::Single(JsonType::Null)
            }
        )
    };
    matches!(errors, [error] if is_null(error.kind()))
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The answer of a validator about a value, which is its allowed JSON types, and whether a string has listed values.
fn asked(
    validator: &Validator,
    within: &dyn Fn(Value) -> Value,
    at: &str,
) -> (BTreeSet<&'static str>, bool) {
    let breaks = |value: &Value, by: &dyn Fn(&Rule, &Value) -> bool| {
        let value = within(value.clone());
        validator
            .iter_errors(&value)
            .any(|error| is_broken(&error, at, by))
    };
    let values = [
        json!(null),
        json!(true),
        json!(1),
        json!(1.5),
        json!("~"),
        json!([]),
        json!({}),
    ];
    let of_type = |rule: &Rule, value: &Value| match rule {
        Rule::Type { .. } => true,
        Rule::Enum { options } => {
            let options = options.as_array().unwrap();
            options.iter().all(|it| json_type(it) != json_type(value))
        }
        Rule::Constant { expected_value } => json_type(expected_value) != json_type(value),
        _ => false,
    };
    let of_values =
        |rule: &Rule, _: &Value| matches!(rule, Rule::Enum { .. } | Rule::Constant { .. });
    let fitting = values.iter().filter(|it| !breaks(it, &of_type));
    (
        fitting.map(json_type).collect(),
        breaks(&json!("~"), &of_values),
    )
}

/// The answer of the model about a value.
fn modelled(schemas: &Schemas, ty: &Ty) -> (BTreeSet<&'static str>, bool) {
    let (types, is_named): (&[&str], bool) = match ty {
        Ty::Nullable(inner) => {
            let (mut types, is_named) = modelled(schemas, inner);
            types.insert("null");
            return (types, is_named);
        }
        Ty::Named(name) => match &schemas.components[name].kind {
            Kind::Struct(_) | Kind::Union { .. } => (&["object"], false),
            Kind::Enum { .. } | Kind::Constant(_) => (&["string"], true),
            _ => (&["string"], false),
        },
        Ty::Number => (&["integer", "number"], false),
        Ty::Record | Ty::Map(_) => (&["object"], false),
        Ty::Boolean => (&["boolean"], false),
        Ty::Integer { .. } | Ty::Count { .. } => (&["integer"], false),
        Ty::Array { .. } => (&["array"], false),
        _ => (&["string"], false),
    };
    (types.iter().copied().collect(), is_named)
}

#[derive(Default)]
struct Comparison {
    /// The places of values that are raw JSON because no type can express them.
    raw: Vec<String>,
    facts: usize,
    differences: Vec<String>,
}

impl Comparison {
    fn equal<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, ours: &T, theirs: &T) {
        self.facts += 1;
        if ours != theirs {
            self.differences.push(format!(
                "{what}: the model has {ours:?}, the validator {theirs:?}"
            ));
        }
    }

    fn object(&mut self, schemas: &Schemas, component: &Component, document: &Value) {
        let place = &*component.fields_at;
        // A schema with several branches has no single place.
        let Some(schema) = document.pointer(place) else {
            return;
        };
        let validator = validator(document, place);
        let nothing = json!({});
        let mut found = BTreeSet::new();
        names(document, schema, &mut found);
        if component.place == place {
            let members = component.members();
            let ours = |name: &str| members.iter().any(|it| it.name == name);
            for (name, _) in found.iter().filter(|(_, is_one_sided)| !is_one_sided) {
                self.equal(&format!("{place} has `{name}`"), &ours(name), &true);
            }
        }
        let of_names = |member: &&Property| found.iter().any(|(name, _)| *name == member.name);
        for member in component.members().iter().filter(of_names) {
            let name = &member.name;
            let what = format!("{place} `{name}`");
            let lacks = |rule: &Rule, _: &Value| matches!(rule, Rule::Required { property } if property == name);
            let is_required = validator
                .iter_errors(&nothing)
                .any(|it| is_broken(&it, "", &lacks));
            if !member.write_only {
                self.equal(
                    &format!("{what} is required"),
                    &member.required,
                    &is_required,
                );
            }
            let mut ty = member.value.ty.clone();
            if member.value.nullable {
                ty = Ty::Nullable(Box::new(ty));
            }
            self.value(
                schemas,
                member,
                &ty,
                (&validator, &|it| json!({ name: it }), &step("", name)),
                &what,
            );
        }
    }

    fn value(
        &mut self,
        schemas: &Schemas,
        member: &Property,
        ty: &Ty,
        (validator, within, at): (&Validator, &dyn Fn(Value) -> Value, &str),
        what: &str,
    ) {
        let (types, is_one_of_few) = asked(validator, within, at);
        let bare = match ty {
            Ty::Nullable(inner) => inner,
            ty => ty,
        };
        if *bare == Ty::Value {
            let is_one = types.iter().filter(|it| **it != "null").count() == 1;
            let is_said = self
                .raw
                .iter()
                .any(|it| it.contains(&step("/properties", &member.name)));
            let what = format!("{what} is raw JSON without a finding");
            return self.equal(&what, &(is_one && !is_said), &false);
        }
        let (known, has_values) = modelled(schemas, ty);
        self.equal(what, &known, &types);
        // Values of an open enum don't restrict strings, and values of a number are only documented.
        if is_one_of_few && types.contains("string") {
            self.equal(&format!("{what} has values"), &has_values, &true);
        }
        match bare {
            // The required fields of an object at its use.
            Ty::Named(_) if !schemas.members(bare).is_empty() => {
                let empty = within(json!({}));
                let lacks = |name: &str| {
                    let is_it = |rule: &Rule, _: &Value| matches!(rule, Rule::Required { property } if property == name);
                    let mut errors = validator.iter_errors(&empty);
                    errors.any(|it| is_broken(&it, at, &is_it))
                };
                let members = schemas.members(bare).iter().filter(|it| !it.write_only);
                for member in members {
                    let what = format!("{what}: `{}` is required", member.name);
                    self.equal(&what, &member.required, &lacks(&member.name));
                }
                let named = |it: &ValidationError<'_>| match it.kind() {
                    Rule::Required { property } if it.instance_path().as_str() == at => {
                        property.as_str().map(str::to_owned)
                    }
                    _ => None,
                };
                let is_known =
                    |name: &String| schemas.members(bare).iter().any(|it| it.name == *name);
                let mut required = validator.iter_errors(&empty).filter_map(|it| named(&it));
                let lost = required.find(|it| !is_known(it));
                self.equal(&format!("{what} has each required field"), &lost, &None);
            }
            Ty::Array { items, .. } => {
                let within = |it| within(json!([it]));
                self.value(
                    schemas,
                    member,
                    items,
                    (validator, &within, &format!("{at}/0")),
                    &format!("{what}, items"),
                );
            }
            Ty::Map(values) => {
                let within = |it| within(json!({"~": it}));
                self.value(
                    schemas,
                    member,
                    values,
                    (validator, &within, &format!("{at}/~0")),
                    &format!("{what}, values"),
                );
            }
            _ => {}
        }
    }

    fn document(&mut self, spec: &Spec, document: &Value) {
        for component in spec.schemas.components.values() {
            match &component.kind {
                Kind::Struct(_) => self.object(&spec.schemas, component, document),
                Kind::Union { variants, .. } => {
                    let schema = document.pointer(&component.fields_at).unwrap();
                    let schema = match schema["anyOf"].get(0) {
                        Some(only) if only["oneOf"].is_array() => only,
                        _ => schema,
                    };
                    let branches = ["oneOf", "anyOf"]
                        .into_iter()
                        .filter_map(|it| schema[it].as_array());
                    let is_value = |it: &&Value| it["type"] != "null";
                    let count = branches.flatten().filter(is_value).count();
                    self.equal(&component.fields_at, &variants.len(), &count);
                }
                _ => {}
            }
        }
    }
}

/// Constructs that the specs lack.
const RARE: &str = "
openapi: 3.1.0
info: {title: Rare, version: '1'}
paths: {}
components:
  schemas:
    Base: {type: object, required: [a], properties: {a: {type: string}}}
    Beside:
      type: object
      properties:
        it: {$ref: '#/components/schemas/Base', required: [b], properties: {b: {type: integer}}}
        either: {anyOf: [{$ref: '#/components/schemas/Base'}, {type: 'null'}]}
    Narrower: {allOf: [{$ref: '#/components/schemas/Base'}, {properties: {a: {enum: [x, y]}}}]}
    Lone: {allOf: [{description: Lone., type: object, required: [a], properties: {a: {type: string}}}, {description: x}]}
    Narrowed:
      allOf:
        - {type: object, properties: {links: {type: object, properties: {a: {type: string}}}, data: {type: array, items: {type: object}}}}
        - {type: object, properties: {links: {type: object, required: [b], properties: {b: {type: integer}}}, data: {type: array, items: {$ref: '#/components/schemas/Base'}}}}
    Inner:
      type: object
      properties:
        lists: {type: array, items: {type: [string, 'null']}}
        maps: {type: object, additionalProperties: {type: array, items: {type: integer}}}
";

#[test]
fn the_model_agrees_with_a_json_schema_validator() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let specs = APPS.iter().map(|it| text_of(&root, &it.spec()).unwrap());
    let specs = specs.chain([adopt::made(&root, &SAMPLE).unwrap()]);
    let mut comparison = Comparison::default();
    for text in specs.chain([RARE.to_owned()]) {
        let document = Node::parse(&text).unwrap();
        let mut findings = Findings::default();
        let spec = read_document(&APPS[0], &document, &mut findings).unwrap();
        findings.settled().unwrap();
        let json: Value = serde_yaml_ng::from_str(&text).unwrap();
        let raw = findings.of(Weight::Raw);
        let raw = raw.filter(|it| !it.rule.starts_with("progenitor"));
        let raw = raw.map(|it| it.place.clone());
        comparison.raw = raw.collect();
        comparison.document(&spec, &translated(&json));
    }
    assert_eq!(comparison.differences, [""; 0]);
    let facts = comparison.facts;
    assert!(facts > 2500, "only {facts} facts are compared");
}
