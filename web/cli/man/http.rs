//! Page of the HTTP interfaces, from their OpenAPI documents.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

/// Methods of operations in the order of the page.
const METHODS: [&str; 5] = ["get", "put", "post", "patch", "delete"];

/// Page of interfaces: description, and a table of operations for each tag.
pub(super) fn page(documents: &[Value]) -> String {
    let mut page = "# HTTP operations\n\n\
        A server has its OpenAPI document, with all schemas and errors, at `/openapi.json` (impairment daemon and \
        testbed: `/api-docs/openapi.json`). Parameters in brackets may be left out.\n"
        .to_owned();
    for document in documents {
        interface(&mut page, document);
    }
    page
}

fn interface(page: &mut String, document: &Value) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let info = &document["info"];
    let title = text(&info["title"]).replace("Groundwave ", "");
    let _ = write!(page, "\n## {}\n\n{}\n", capital(&title), text(&info["description"]));
    let mut tables: BTreeMap<String, String> = BTreeMap::new();
    for (path, operations) in document["paths"].as_object().into_iter().flatten() {
        for method in METHODS {
            let Some(operation) = operations.get(method) else { continue };
            let tag = operation["tags"][0].as_str().unwrap_or("operations").to_owned();
            tables.entry(tag).or_default().push_str(&row(method, path, operation));
        }
    }
    // A column that an interface does without is left out.
    let has_roles = tables.values().any(|rows| rows.contains(ROLE_MARK));
    for (tag, rows) in tables {
        let (head, rule) = if has_roles { (" role |", " --- |") } else { ("", "") };
        let _ = write!(
            page,
            "\n### {} of the {title}\n\n| operation | result | input |{head}\n| --- | --- | --- |{rule}\n{}",
            capital(&tag),
            if has_roles { rows.replace(ROLE_MARK, "") } else { rows },
        );
    }
}

/// Mark of a cell with a role, which no text has.
const ROLE_MARK: char = '\u{1}';

/// Row of an operation.
fn row(method: &str, path: &str, operation: &Value) -> String {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let mut inputs: Vec<String> = parameters
        .filter(|parameter| parameter["in"] == "query")
        .filter_map(|parameter| {
            let name = parameter["name"].as_str()?;
            let is_required = parameter["required"] == true;
            Some(if is_required { format!("`{name}`") } else { format!("[`{name}`]") })
        })
        .collect();
    if let Some(content) = operation["requestBody"]["content"].as_object() {
        inputs.extend(content.iter().map(|(media, body)| format!("body: {}", name(media, body))));
    }
    let responses = operation["responses"].as_object().into_iter().flatten();
    let result = responses
        .filter(|(status, _)| {
            status.starts_with('2') || status.starts_with('3') || *status == "101"
        })
        .map(|(_, response)| response["description"].as_str().unwrap_or_default());
    let summary = operation["summary"].as_str().map(str::to_owned);
    let result = summary.unwrap_or_else(|| result.collect::<Vec<_>>().join("; "));
    let needs = &operation["x-needs"];
    let role = match (needs["role"].as_str(), needs["node"] == true) {
        (Some(role), true) => format!(" {ROLE_MARK}{role}, node |"),
        (Some(role), false) => format!(" {ROLE_MARK}{role} |"),
        _ => String::new(),
    };
    let method = method.to_uppercase();
    format!("| `{method} {path}` | {} | {} |{role}\n", cell(&result), cell(&inputs.join(", ")))
}

/// Name of the schema of a body; its media type where it has none.
fn name(media: &str, body: &Value) -> String {
    let schema = &body["schema"];
    let name = |schema: &Value| {
        schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()).map(str::to_owned)
    };
    let of_items = || name(&schema["items"]).map(|item| format!("list of {item}"));
    name(schema).or_else(of_items).unwrap_or_else(|| media.to_owned())
}

/// Text of one cell of a table.
pub(super) fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").replace('<', "&lt;")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_of_every_interface_is_in_its_table() {
        let documents = super::super::documents();
        let page = page(&documents);
        let mut count = 0;
        for document in &documents {
            for (path, operations) in document["paths"].as_object().unwrap() {
                for method in operations.as_object().unwrap().keys() {
                    let operation = format!("| `{} {path}` |", method.to_uppercase());
                    assert!(page.contains(&operation), "{operation}");
                    count += 1;
                }
            }
        }
        assert!(count > 200, "{count}");
        assert!(!page.contains(ROLE_MARK));
    }

    #[test]
    fn rows_have_inputs_and_the_least_role() {
        let document = groundwave_web_gateway::document();
        let page = page(std::slice::from_ref(&document));
        let row = page.lines().find(|line| line.starts_with("| `GET /v1/tokens`")).unwrap();
        assert!(row.ends_with("| [`limit`], [`cursor`] | viewer |"), "{row}");
        let columns = |line: &str| line.replace("\\|", "").matches('|').count();
        let wrong = page.lines().find(|line| line.starts_with('|') && columns(line) != 5);
        assert_eq!(wrong, None);
    }
}
