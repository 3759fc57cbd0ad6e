//! The fields of a JSON object, read one by one, so that each refusal names its field.

use std::collections::BTreeMap;
use std::str::FromStr;

use forge_model::ProfileId;
use serde_json::{Map, Value};

use super::names::{EXECUTOR, Kind, Name, VARIANT};
use crate::error::Problem;

/// The keys of a JSON object that came as, or inside, a body.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields {
    /// Where the object stands: empty at the top, else `task.` and the like.
    at: String,
    map: Map<String, Value>,
}

impl Fields {
    pub(crate) fn new(map: Map<String, Value>) -> Self {
        Self { at: String::new(), map }
    }

    /// Returns the keys as they came.
    pub(crate) fn into_map(self) -> Map<String, Value> {
        self.map
    }

    /// Returns a text that must be there and not blank, without the blanks around it.
    pub(crate) fn line(&self, name: Name) -> Result<String, Problem> {
        self.optional_line(name)?.ok_or_else(|| self.refuse(name, "must be a text that is not blank"))
    }

    /// Returns a text without the blanks around it; absent and null are none, a blank one is refused.
    pub(crate) fn optional_line(&self, name: Name) -> Result<Option<String>, Problem> {
        let Some(text) = self.optional_text(name)? else { return Ok(None) };
        match text.trim() {
            "" => Err(self.refuse(name, "must be a text that is not blank")),
            line => Ok(Some(line.to_string())),
        }
    }

    /// Returns a text as it was written, where it must be there and not blank.
    pub(crate) fn text(&self, name: Name) -> Result<String, Problem> {
        self.filled_text(name)?.ok_or_else(|| self.refuse(name, "must be a text that is not blank"))
    }

    /// Returns a text as it was written; absent and null are none.
    pub(crate) fn optional_text(&self, name: Name) -> Result<Option<String>, Problem> {
        let text = match self.value(name) {
            Value::Null => return Ok(None),
            Value::String(text) => text,
            _ => return Err(self.refuse(name, "must be a text")),
        };
        if text.contains('\0') {
            return Err(self.refuse(name, "must not contain a NUL character"));
        }
        // A text of n bytes has at most n characters, so most are never counted.
        if text.len() > name.limit && text.chars().count() > name.limit {
            return Err(self.refuse(name, &format!("must not be longer than {} characters", name.limit)));
        }
        Ok(Some(text.clone()))
    }

    /// Returns a text as it was written; absent, null and blank are none.
    pub(crate) fn filled_text(&self, name: Name) -> Result<Option<String>, Problem> {
        Ok(self.optional_text(name)?.filter(|text| !text.trim().is_empty()))
    }

    /// Returns none when the key is absent, which keeps; some none when it is null or blank, which clears.
    pub(crate) fn change(&self, name: Name) -> Result<Option<Option<String>>, Problem> {
        if self.has(name) { self.filled_text(name).map(Some) } else { Ok(None) }
    }

    /// Returns true or false; absent and null are none.
    pub(crate) fn flag(&self, name: Name) -> Result<Option<bool>, Problem> {
        match self.value(name) {
            Value::Null => Ok(None),
            Value::Bool(flag) => Ok(Some(*flag)),
            _ => Err(self.refuse(name, "must be true or false")),
        }
    }

    /// Returns a whole number; absent and null are none.
    pub(crate) fn number(&self, name: Name) -> Result<Option<i64>, Problem> {
        match self.value(name) {
            Value::Null => Ok(None),
            value => value.as_i64().map(Some).ok_or_else(|| self.refuse(name, "must be a whole number")),
        }
    }

    /// Returns an id that must be there.
    pub(crate) fn id<T: FromStr>(&self, name: Name) -> Result<T, Problem> {
        self.optional_id(name)?.ok_or_else(|| self.refuse(name, "must be an id"))
    }

    /// Returns an id; absent and null are none.
    pub(crate) fn optional_id<T: FromStr>(&self, name: Name) -> Result<Option<T>, Problem> {
        let Some(text) = self.optional_text(name)? else { return Ok(None) };
        let id = text.parse().map_err(|_| self.refuse(name, &format!("must be an id; {text:?} is none")))?;
        Ok(Some(id))
    }

    /// Returns a list of ids; absent and null are none.
    pub(crate) fn ids<T: FromStr>(&self, name: Name) -> Result<Option<Vec<T>>, Problem> {
        let items = match self.value(name) {
            Value::Null => return Ok(None),
            Value::Array(items) => items,
            _ => return Err(self.refuse(name, "must be a list of ids")),
        };
        if items.len() > name.limit {
            return Err(self.refuse(name, &format!("must not have more than {} ids", name.limit)));
        }
        let ids = items.iter().map(|item| item.as_str().and_then(|text| text.parse().ok()));
        match ids.collect() {
            Some(ids) => Ok(Some(ids)),
            None => Err(self.refuse(name, "must be a list of ids")),
        }
    }

    /// Returns a list of texts; absent and null are none.
    pub(crate) fn texts(&self, name: Name) -> Result<Option<Vec<String>>, Problem> {
        let items = match self.value(name) {
            Value::Null => return Ok(None),
            Value::Array(items) if items.len() <= name.limit => items,
            _ => return Err(self.refuse(name, &format!("must be a list of at most {} texts", name.limit))),
        };
        match items.iter().map(|item| item.as_str().map(str::to_string)).collect() {
            Some(texts) => Ok(Some(texts)),
            None => Err(self.refuse(name, "must be a list of texts")),
        }
    }

    /// Returns an object that must be there.
    pub(crate) fn object(&self, name: Name) -> Result<Fields, Problem> {
        match self.value(name) {
            Value::Object(map) => Ok(Fields { at: format!("{}{}.", self.at, name.name), map: map.clone() }),
            _ => Err(self.refuse(name, "must be an object")),
        }
    }

    /// Returns a list of objects that must be there.
    pub(crate) fn objects(&self, name: Name) -> Result<Vec<Fields>, Problem> {
        let items = match self.value(name) {
            Value::Array(items) if items.len() <= name.limit => items,
            _ => return Err(self.refuse(name, &format!("must be a list of at most {} objects", name.limit))),
        };
        let objects = items.iter().enumerate().map(|(at, item)| match item {
            Value::Object(map) => {
                Ok(Fields { at: format!("{}{}[{at}].", self.at, name.name), map: map.clone() })
            }
            _ => Err(self.refuse(name, "must be a list of objects")),
        });
        objects.collect()
    }

    /// Returns texts by names that the caller chose; absent and null are none.
    pub(crate) fn text_map(&self, name: Name) -> Result<BTreeMap<String, String>, Problem> {
        let map = match self.value(name) {
            Value::Null => return Ok(BTreeMap::new()),
            Value::Object(map) => map,
            _ => return Err(self.refuse(name, "must be an object of texts")),
        };
        let texts = map.iter().map(|(key, value)| Some((key.clone(), value.as_str()?.to_string())));
        texts.collect::<Option<_>>().ok_or_else(|| self.refuse(name, "must be an object of texts"))
    }

    /// Returns one of the names that a key may have.
    pub(crate) fn one_of<T: FromStr>(&self, name: Name) -> Result<Option<T>, Problem> {
        let Some(text) = self.filled_text(name)? else { return Ok(None) };
        let known = match name.kind {
            Kind::OneOf(known) => known.join("`, `"),
            _ => String::new(),
        };
        text.parse().map(Some).map_err(|_| self.refuse(name, &format!("must be one of `{known}`")))
    }

    /// Returns an agent and its variant, given as an object or as the plain name of the agent.
    pub(crate) fn profile(&self, name: Name) -> Result<ProfileId, Problem> {
        let read = match self.value(name) {
            Value::Object(_) => {
                let fields = self.object(name)?;
                ProfileId::new(&fields.line(EXECUTOR)?, fields.optional_text(VARIANT)?.as_deref())
            }
            Value::String(_) => self.line(name)?.parse(),
            _ => return Err(self.refuse(name, "must name an agent, as {\"executor\": \"CLAUDE_CODE\"}")),
        };
        read.map_err(|error| self.refuse(name, &format!("must name an agent: {error}")))
    }

    /// Returns a variant by itself; absent, null and blank are none. Whether the agent has it, the engine says.
    pub(crate) fn variant(&self, name: Name) -> Result<Option<String>, Problem> {
        let variant = self.filled_text(name)?;
        match ProfileId::new("AGENT", variant.as_deref()) {
            Ok(_) => Ok(variant),
            Err(_) => Err(self.refuse(name, "must be the name of a variant, as PLAN")),
        }
    }

    /// Says whether the key is there under any of its names, null or not.
    pub(crate) fn has(&self, name: Name) -> bool {
        self.map.contains_key(name.name) || name.older.iter().any(|older| self.map.contains_key(*older))
    }

    /// Returns the value as it came; null when the key is absent.
    pub(crate) fn value(&self, name: Name) -> &Value {
        let values = std::iter::once(&name.name).chain(name.older).filter_map(|key| self.map.get(*key));
        values.into_iter().find(|value| !value.is_null()).unwrap_or(&Value::Null)
    }

    /// Names a field in a sentence of refusal.
    pub(crate) fn refuse(&self, name: Name, rule: &str) -> Problem {
        Problem::invalid(format!("`{}{}` {rule}", self.at, name.name))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use axum::response::IntoResponse;
    use forge_model::TaskId;
    use serde_json::json;

    use super::super::names::*;
    use super::*;

    fn fields(value: Value) -> Fields {
        match value {
            Value::Object(map) => Fields::new(map),
            _ => panic!("a test gives objects only"),
        }
    }

    async fn refusal<T: std::fmt::Debug>(result: Result<T, Problem>) -> String {
        let response = result.unwrap_err().into_response();
        assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        body["message"].as_str().unwrap().to_string()
    }

    #[tokio::test]
    async fn a_title_is_trimmed_and_must_say_something() {
        assert_eq!(fields(json!({"title": "  Fix it\n"})).line(TITLE).unwrap(), "Fix it");
        let blank = "`title` must be a text that is not blank";
        assert_eq!(refusal(fields(json!({})).line(TITLE)).await, blank);
        assert_eq!(refusal(fields(json!({"title": null})).line(TITLE)).await, blank);
        assert_eq!(refusal(fields(json!({"title": " \t"})).line(TITLE)).await, blank);
        assert_eq!(refusal(fields(json!({"title": 7})).line(TITLE)).await, "`title` must be a text");
    }

    #[tokio::test]
    async fn an_absurd_title_and_a_nul_are_refused() {
        assert!(fields(json!({"title": "é".repeat(1000)})).line(TITLE).is_ok());
        let long = fields(json!({"title": "é".repeat(1001)}));
        assert_eq!(refusal(long.line(TITLE)).await, "`title` must not be longer than 1000 characters");
        let nul = fields(json!({"prompt": "a\0b"}));
        assert_eq!(refusal(nul.text(PROMPT)).await, "`prompt` must not contain a NUL character");
    }

    #[tokio::test]
    async fn an_older_name_is_read_when_the_newer_is_absent_or_null() {
        assert_eq!(fields(json!({"follow_up_prompt": "go"})).text(PROMPT).unwrap(), "go");
        assert_eq!(fields(json!({"prompt": null, "follow_up_prompt": "go"})).text(PROMPT).unwrap(), "go");
        assert_eq!(fields(json!({"prompt": "stay", "follow_up_prompt": "go"})).text(PROMPT).unwrap(), "stay");
    }

    #[tokio::test]
    async fn a_refusal_inside_an_object_names_the_whole_way() {
        let task = fields(json!({"task": {"title": ""}})).object(TASK).unwrap();
        assert_eq!(refusal(task.line(TITLE)).await, "`task.title` must be a text that is not blank");
        assert_eq!(refusal(fields(json!({"task": 1})).object(TASK)).await, "`task` must be an object");
    }

    #[tokio::test]
    async fn absent_keeps_and_null_or_blank_clears() {
        let body = fields(json!({"setup_script": null, "dev_script": " ", "copy_files": ".env"}));
        assert_eq!(body.change(CLEANUP_SCRIPT).unwrap(), None);
        assert_eq!(body.change(SETUP_SCRIPT).unwrap(), Some(None));
        assert_eq!(body.change(DEV_SCRIPT).unwrap(), Some(None));
        assert_eq!(body.change(COPY_FILES).unwrap(), Some(Some(".env".to_string())));
    }

    #[tokio::test]
    async fn a_profile_is_an_object_or_a_plain_name() {
        let read = |value: Value| fields(json!({"executor_profile_id": value})).profile(EXECUTOR_PROFILE_ID);
        let plan = json!({"executor": "claude-code", "variant": "PLAN", "model": "x"});
        assert_eq!(read(plan).unwrap().to_string(), "CLAUDE_CODE:PLAN");
        let default = json!({"profile": "codex", "variant": "DEFAULT"});
        assert_eq!(read(default).unwrap().to_string(), "CODEX");
        assert_eq!(read(json!("codex:high")).unwrap().to_string(), "CODEX:HIGH");
        assert!(refusal(read(json!(3))).await.starts_with("`executor_profile_id` must name an agent"));
        assert!(refusal(read(json!("../x"))).await.contains("\"../x\""));
        let empty = refusal(read(json!({}))).await;
        assert_eq!(empty, "`executor_profile_id.executor` must be a text that is not blank");
    }

    #[tokio::test]
    async fn an_id_that_is_none_is_named() {
        let body = fields(json!({"task_id": "banana"}));
        assert_eq!(refusal(body.id::<TaskId>(TASK_ID)).await, "`task_id` must be an id; \"banana\" is none");
        assert_eq!(refusal(fields(json!({})).id::<TaskId>(TASK_ID)).await, "`task_id` must be an id");
        let flag = fields(json!({"use_worktree": "yes"}));
        assert_eq!(refusal(flag.flag(USE_WORKTREE)).await, "`use_worktree` must be true or false");
    }
}
