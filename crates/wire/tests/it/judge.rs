//! Whether a message is as its schema says. The tests of the services use it too.

use serde_json::Value;

/// Where `value` is not as `schema` says, for the words that our schemas use.
pub(crate) fn offences(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    judge(schema, value, "", &mut found);
    found
}

fn judge(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    for (word, rule) in schema.as_object().unwrap() {
        let holds = match word.as_str() {
            "$schema" | "$id" | "title" => true,
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "type" => match rule.as_str() {
                Some(name) => is_a(value, name),
                None => {
                    let mut several = rule.as_array().unwrap().iter();
                    several.any(|name| is_a(value, name.as_str().unwrap()))
                }
            },
            "required" => {
                let names = rule.as_array().unwrap().iter().filter_map(Value::as_str);
                let missing = |name: &&str| value.is_object() && value.get(*name).is_none();
                found.extend(names.filter(missing).map(|name| format!("{at}/{name} is missing")));
                true
            }
            "properties" => {
                for (name, inner) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        judge(inner, value, &format!("{at}/{name}"), found);
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = &schema["properties"];
                for (name, value) in value.as_object().into_iter().flatten() {
                    if known.get(name).is_none() {
                        judge(rule, value, &format!("{at}/{name}"), found);
                    }
                }
                true
            }
            "items" => {
                for value in value.as_array().into_iter().flatten() {
                    judge(rule, value, &format!("{at}/[]"), found);
                }
                true
            }
            "allOf" => {
                for rule in rule.as_array().unwrap() {
                    if offences(&rule["if"], value).is_empty() {
                        judge(&rule["then"], value, at, found);
                    }
                }
                true
            }
            other => panic!("what is {other}?"),
        };
        if !holds {
            found.push(format!("{at}: {value} is not {word} {rule}"));
        }
    }
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        other => panic!("what is {other}?"),
    }
}
