//! Names of types that callers know: where a document has a schema without a name at the place of a type of the spec
//! before, the type keeps its name. What the vendor named has the vendor's name.

use std::collections::{BTreeMap, BTreeSet};

use super::document::{quoted, route};
use crate::model::{Component, Operation, Spec, Ty};
use crate::node::Node;

/// The places of types that would get a derived name, as `JSONPath`s, and the names that they had.
pub(super) fn kept(before: &Spec, after: &Spec, document: &Node) -> Vec<(String, String)> {
    let mut walk = Walk {
        before,
        after,
        pairs: BTreeSet::new(),
    };
    for old in &before.operations {
        let at = route(old.method.key(), &old.path);
        let same = |it: &&Operation| route(it.method.key(), &it.path) == at;
        if let Some(new) = after.operations.iter().find(same) {
            walk.operation(old, new);
        }
    }
    let (mut forth, mut back) = (BTreeMap::new(), BTreeMap::new());
    for (old, new) in &walk.pairs {
        forth.entry(old).or_insert_with(BTreeSet::new).insert(new);
        back.entry(new).or_insert_with(BTreeSet::new).insert(old);
    }
    let component = |spec: &Spec, name: &str| spec.schemas.components.get(name).cloned();
    let pairs = walk.pairs.iter().filter(|(old, new)| {
        // One name for one type, and none that means another one.
        let alone = forth[old].len() == 1 && back[new].len() == 1;
        alone && component(after, old).is_none() && component(before, new).is_none()
    });
    let kept = pairs.filter_map(|(old, new)| {
        let is_type = component(before, old).is_some_and(|it: Component| it.is_type());
        let place = component(after, new).filter(Component::is_type)?.place;
        Some((path(document, &place)?, old.clone())).filter(|_| is_type)
    });
    kept.collect()
}

/// A pointer as a `JSONPath`; none where a vendor gave the name, or where nothing is written.
fn path(document: &Node, pointer: &str) -> Option<String> {
    let steps = pointer.split('/').skip(1);
    let steps: Vec<String> = steps
        .map(|it| it.replace("~1", "/").replace("~0", "~"))
        .collect();
    if matches!(&*steps, [top, kind, _] if top == "components" && kind == "schemas") {
        return None;
    }
    let (mut node, mut path) = (document, vec!["$".to_owned()]);
    for step in &steps {
        let item = step.parse().ok().and_then(|at: usize| node.items().get(at));
        let is_plain = step.chars().all(|it| it.is_ascii_alphabetic());
        // A parameter may move.
        path.push(match item.map(|it| it.text_at("name")) {
            Some(Some(name)) => format!("[?@.name=={}]", quoted(name)),
            Some(None) => format!("[{step}]"),
            None if is_plain => format!(".{step}"),
            None => format!("[{}]", quoted(step)),
        });
        node = item.or_else(|| node.get(step))?;
    }
    let is_named = ["x-sdk-name", "$ref"]
        .iter()
        .any(|key| node.get(key).is_some());
    node.object().filter(|_| !is_named).map(|_| path.concat())
}

struct Walk<'a> {
    before: &'a Spec,
    after: &'a Spec,
    /// Names of types at the same place.
    pairs: BTreeSet<(String, String)>,
}

impl Walk<'_> {
    fn operation(&mut self, old: &Operation, new: &Operation) {
        for parameter in &old.parameters {
            if let Some(found) = new.parameter(&parameter.name) {
                self.types(&parameter.value.ty, &found.value.ty);
            }
        }
        if let (Some(old), Some(new)) = (&old.body, &new.body) {
            self.types(&old.value.ty, &new.value.ty);
        }
        if let (Some(old), Some(new)) = (old.reply.ty(), new.reply.ty()) {
            self.types(old, new);
        }
    }

    fn types(&mut self, old: &Ty, new: &Ty) {
        if let (Some(old), Some(new)) = (old.inner(), new.inner()) {
            return self.types(old, new);
        }
        let (Ty::Named(was), Ty::Named(is)) = (old, new) else {
            return;
        };
        if self.pairs.insert((was.clone(), is.clone())) {
            let (before, after) = (self.before, self.after);
            for member in before.schemas.members(old) {
                let mut members = after.schemas.members(new).iter();
                if let Some(found) = members.find(|it| it.name == member.name) {
                    self.types(&member.value.ty, &found.value.ty);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::kept;
    use crate::findings::Findings;
    use crate::model::App;
    use crate::node::Node;

    /// Documents of one list, with the schemas of its parameter, of its reply and of what that refers to.
    fn names(before: [&str; 3], after: [&str; 3]) -> Vec<String> {
        let document = |[parameter, reply, others]: [&str; 3]| {
            let text = format!(
                "{{openapi: 3.1.0, info: {{title: Zoo, version: '1'}}, paths: {{/pets: {{get: {{operationId: listPets, \
                 parameters: [{{name: kind, in: query, schema: {parameter}}}], responses: {{'200': {{description: All., \
                 content: {{application/json: {{schema: {reply}}}}}}}}}}}}}}}, components: {{schemas: {others}}}}}"
            );
            serde_yaml_ng::from_str::<Node>(&text).unwrap()
        };
        let (before, after) = (document(before), document(after));
        let spec = |document: &Node| {
            let app = App::named("crm").unwrap();
            crate::read::read(app, document, &mut Findings::default()).unwrap()
        };
        let kept = kept(&spec(&before), &spec(&after), &after).into_iter();
        kept.map(|(path, name)| format!("{path} {name}")).collect()
    }

    const KIND: &str = "{type: string, enum: [cat, dog]}";
    const NAMED: [&str; 3] = [
        "{$ref: '#/components/schemas/Kind'}",
        "{$ref: '#/components/schemas/Pets'}",
        "{Kind: {type: string, enum: [cat, dog]}, Pets: {type: object, properties: {pets: {type: array, items: {$ref: '#/components/schemas/Pet'}}}}, Pet: {type: object, properties: {name: {type: string}}}}",
    ];

    #[test]
    fn a_schema_without_a_name_keeps_the_one_that_callers_know() {
        let pets = "{type: object, properties: {pets: {type: array, items: {type: object, properties: {name: {type: string}}}}}}";
        let reply = "$.paths['/pets'].get.responses['200'].content['application/json'].schema";
        assert_eq!(
            names(NAMED, [KIND, pets, "{}"]),
            [
                "$.paths['/pets'].get.parameters[?@.name=='kind'].schema Kind".to_owned(),
                format!("{reply}.properties.pets.items Pet"),
                format!("{reply} Pets"),
            ]
        );
    }

    #[test]
    fn the_vendors_names_stand_and_no_name_is_given_twice() {
        let zoo = "{Zoo: {type: object, properties: {pets: {type: array, items: {type: object, properties: {name: {type: string}, friend: {type: object, properties: {name: {type: string}}}}}}}}}";
        let reply = "{$ref: '#/components/schemas/Zoo'}";
        assert_eq!(
            names(NAMED, [KIND, reply, zoo]),
            [
                "$.paths['/pets'].get.parameters[?@.name=='kind'].schema Kind",
                "$.components.schemas.Zoo.properties.pets.items Pet",
            ]
        );
        // What is called `Pet` now is something else.
        let others = "{Zoo: {type: object, properties: {pets: {type: array, items: {type: object, properties: {name: {type: string}, pet: {$ref: '#/components/schemas/Pet'}}}}}}, Pet: {type: object, properties: {id: {type: string}}}}";
        let kind = "$.paths['/pets'].get.parameters[?@.name=='kind'].schema Kind";
        assert_eq!(names(NAMED, [KIND, reply, others]), [kind]);
    }
}
