//! Why a tool did not do what was asked, as its caller reads it: `{success, error, details?}`.

use serde_json::{Value, json};

use crate::error::Problem;

/// Encodes a refusal: the server's own sentence, and what programs are told beside it.
pub(super) fn told(problem: &Problem) -> Value {
    let mut told = json!({ "success": false, "error": problem.message() });
    match problem.error_data() {
        Value::Null => {}
        Value::String(text) => told["details"] = json!(text),
        more => told["details"] = json!(more.to_string()),
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_carries_the_servers_sentence_and_details_as_text() {
        let plain = Problem::invalid("`title` must be a text");
        assert_eq!(told(&plain), json!({"success": false, "error": "`title` must be a text"}));
        let worded = Problem::invalid("no").with_error_data(json!("given"));
        assert_eq!(told(&worded)["details"], "given");
        let typed = Problem::invalid("no").with_error_data(json!({"type": "setup_required"}));
        assert_eq!(told(&typed)["details"], r#"{"type":"setup_required"}"#);
    }
}
