//! What a document says of the assumptions that the spec before it rested on. What is assumed of an element is compared
//! where documents are; here is what no element carries. Only what is seen counts: silence confirms nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::document::Document;
use crate::diff::{Assumption, Verdict};
use crate::node::Node;

/// One assumption, and what was seen.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) outcome: &'static str,
    /// Whether nothing is left of it to be seen.
    pub(crate) settled: bool,
    pub(crate) evidence: Vec<String>,
}

/// All assumptions that the spec before rests on, and those of the runtime of which the document says something.
pub(crate) fn answers(
    assumed: &[Assumption],
    before: &Node,
    after: &Node,
    register: &str,
) -> Vec<Answer> {
    let of_specs = assumed.iter().map(|it| Answer {
        id: it.id.clone(),
        title: it.title.clone(),
        outcome: it.verdict,
        settled: it.places.iter().all(|(seen, _)| *seen != Verdict::NotSeen),
        evidence: it
            .places
            .iter()
            .map(|(seen, place)| format!("{seen}: {place}"))
            .collect(),
    });
    let title = |id: &str| {
        let mut headings = register.lines().filter_map(|line| line.strip_prefix("## "));
        let found = headings.find_map(|line| line.strip_prefix(id)?.strip_prefix(' '));
        found.unwrap_or_default().to_owned()
    };
    let shown = shown(Document { root: before }, Document { root: after });
    let of_runtime = shown.into_iter().map(|(id, evidence)| Answer {
        title: title(id),
        id: id.to_owned(),
        // What it stood in for is shown, so a person compares.
        outcome: "shown",
        settled: false,
        evidence: evidence.into_iter().collect(),
    });
    of_specs.chain(of_runtime).collect()
}

/// The document's word on assumptions that no element of a spec carries.
fn shown(before: Document<'_>, after: Document<'_>) -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut shown = BTreeMap::<_, BTreeSet<String>>::new();
    let mut add = |id, text| shown.entry(id).or_default().insert(text);
    for new in after.calls() {
        let route = new.route();
        for (status, raw) in after.responses(&new, '4') {
            if let Some(schema) = Document::json(raw).filter(|it| after.says(it)) {
                let name = schema.text_at("$ref").unwrap_or("an inline schema");
                let text = format!("errors are shown as {name}; compare its members");
                add("A55", text.clone());
                add("A72", text);
            }
            if matches!(status.as_str(), "429" | "408") {
                let text = format!("{route} documents {status}");
                add("A42", text);
            }
        }
        let Some(old) = before.call(&route) else {
            continue;
        };
        let key = "Idempotency-Key";
        if after.parameter(&new, key).is_some() && before.parameter(&old, key).is_none() {
            add("A40", format!("{route} takes an `{key}`"));
        }
        let id = match new.path.rsplit('/').next() {
            Some("commands") => "A77",
            Some("intake-review-commands") => "A79",
            _ => "A76",
        };
        for (part, was, is) in [
            ("body", before.body(&old), after.body(&new)),
            ("reply", before.reply(&old), after.reply(&new)),
        ] {
            if is.is_some_and(|it| after.says(it)) && !was.is_some_and(|it| before.says(it)) {
                add(id, format!("{route} shows its {part}"));
            }
        }
    }
    shown
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.id, self.title, self.outcome)?;
        for evidence in self.evidence.iter().take(5) {
            write!(f, "\n    {evidence}")?;
        }
        let more = self.evidence.len().saturating_sub(5);
        if more > 0 {
            write!(f, "\n    and {more} more")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::answers;
    use crate::node::Node;

    const BEFORE: &str = "
paths:
  /pets: {get: {responses: {'200': {content: {application/json: {schema: {}}}}}}}
  /pets/commands: {post: {requestBody: {content: {application/json: {schema: {type: object}}}}}}
";

    #[test]
    fn what_is_shown_of_the_runtime_is_for_a_person_to_compare() {
        let after = "
paths:
  /pets:
    get:
      responses:
        '200': {content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}}
        '429': {content: {application/json: {schema: {$ref: '#/components/schemas/Error'}}}}
  /pets/commands:
    parameters: [{name: idempotency-key, in: header}]
    post: {requestBody: {content: {application/json: {schema: {oneOf: [{type: object}, {type: array}]}}}}}
  /new: {post: {parameters: [{name: Idempotency-Key, in: header}]}}
components: {schemas: {Error: {allOf: [{properties: {code: {type: string}}}]}}}
";
        let (before, after) = (Node::parse(BEFORE).unwrap(), Node::parse(after).unwrap());
        let register = "## A40 Keys\nScope: runtime\n";
        let seen: Vec<String> = answers(&[], &before, &after, register)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            seen,
            [
                "A40 Keys: shown\n    POST /pets/commands takes an `Idempotency-Key`",
                "A42 : shown\n    GET /pets documents 429",
                "A55 : shown\n    errors are shown as #/components/schemas/Error; compare its members",
                "A72 : shown\n    errors are shown as #/components/schemas/Error; compare its members",
                "A76 : shown\n    GET /pets shows its reply",
                "A77 : shown\n    POST /pets/commands shows its body",
            ]
        );
        assert!(answers(&[], &before, &before, register).is_empty());
    }
}
