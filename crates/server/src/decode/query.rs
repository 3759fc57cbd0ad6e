//! The query of a request, read one parameter at a time, so that each refusal names its parameter.

use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::names::Name;
use crate::error::Problem;

/// The parameters of a query. An empty one counts as absent; of a repeated one the last counts, unless it may be.
#[derive(Debug)]
pub(crate) struct Query(HashMap<String, Vec<String>>);

impl Query {
    /// Returns a parameter that must be there.
    pub(crate) fn required<T>(&self, name: &str) -> Result<T, Problem>
    where
        T: FromStr,
        T::Err: Display,
    {
        self.optional(name)?
            .ok_or_else(|| Problem::bad_request(format!("the query parameter `{name}` is missing")))
    }

    /// Returns a parameter that may be absent.
    pub(crate) fn optional<T>(&self, name: &str) -> Result<Option<T>, Problem>
    where
        T: FromStr,
        T::Err: Display,
    {
        let Some(text) = self.last(name).filter(|text| !text.is_empty()) else { return Ok(None) };
        let value = text.parse().map_err(|error| {
            Problem::bad_request(format!("the query parameter `{name}` cannot be {text:?}: {error}"))
        })?;
        Ok(Some(value))
    }

    /// Returns a text that may be absent, no longer than its name allows.
    pub(crate) fn text(&self, name: Name) -> Result<Option<String>, Problem> {
        let text: Option<String> = self.optional(name.name)?;
        if text.as_ref().is_some_and(|text| text.chars().count() > name.limit) {
            let (name, most) = (name.name, name.limit);
            let message = format!("the query parameter `{name}` must not be longer than {most} characters");
            return Err(Problem::bad_request(message));
        }
        Ok(text)
    }

    /// Returns the texts of a parameter that may be repeated, none of them longer than its name allows.
    pub(crate) fn texts(&self, name: Name, most: usize) -> Result<Vec<String>, Problem> {
        let texts: Vec<String> =
            self.0.get(name.name).into_iter().flatten().filter(|text| !text.is_empty()).cloned().collect();
        let (named, limit) = (name.name, name.limit);
        if texts.len() > most {
            let message = format!("the query parameter `{named}` must not be there more than {most} times");
            return Err(Problem::bad_request(message));
        }
        if texts.iter().any(|text| text.chars().count() > limit) {
            let message = format!("the query parameter `{named}` must not be longer than {limit} characters");
            return Err(Problem::bad_request(message));
        }
        Ok(texts)
    }

    fn last(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.last().map(String::as_str)
    }

    /// Returns a yes or no, which is no when absent.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.last(name) {
            None | Some("" | "false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(text) => {
                let message = format!("the query parameter `{name}` must be true or false, not {text:?}");
                Err(Problem::bad_request(message))
            }
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = axum::extract::Query::<Vec<(String, String)>>::from_request_parts(parts, state)
            .await
            .map_err(|error| Problem::bad_request(format!("the query cannot be read: {error}")))?;
        let mut parameters: HashMap<String, Vec<String>> = HashMap::new();
        for (name, text) in query.0 {
            parameters.entry(name).or_default().push(text);
        }
        Ok(Query(parameters))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use forge_model::TaskId;

    use super::super::names;
    use super::*;

    async fn query(text: &str) -> Query {
        let (mut parts, ()) = Request::get(format!("/api/x?{text}")).body(()).unwrap().into_parts();
        Query::from_request_parts(&mut parts, &()).await.unwrap()
    }

    fn told<T: std::fmt::Debug>(result: Result<T, Problem>) -> String {
        format!("{:?}", result.unwrap_err())
    }

    #[tokio::test]
    async fn each_refusal_names_its_parameter() {
        assert!(told(query("").await.required::<TaskId>("task_id")).contains("`task_id` is missing"));
        assert!(told(query("task_id=x").await.required::<TaskId>("task_id")).contains("`task_id` cannot be"));
        assert!(told(query("from=-1").await.optional::<u64>("from")).contains("`from` cannot be"));
        assert!(told(query("all=maybe").await.flag("all")).contains("`all` must be true or false"));
    }

    #[tokio::test]
    async fn a_text_is_no_longer_than_its_name_allows() {
        let most = names::Q.limit;
        let text = "é".repeat(most);
        assert_eq!(query(&format!("q={text}")).await.text(names::Q).unwrap(), Some(text.clone()));
        assert!(told(query(&format!("q={text}x")).await.text(names::Q)).contains("`q` must not be longer"));
    }

    #[tokio::test]
    async fn of_a_repeated_parameter_the_last_counts_unless_all_are_wanted() {
        let query = query("path=a&path=&path=b%2Fc").await;
        assert_eq!(query.optional::<String>("path").unwrap().as_deref(), Some("b/c"));
        assert_eq!(query.texts(names::DIFF_PATH, 2).unwrap(), ["a", "b/c"]);
        assert!(told(query.texts(names::DIFF_PATH, 1)).contains("more than 1 times"));
    }

    #[tokio::test]
    async fn an_empty_parameter_counts_as_absent() {
        assert_eq!(query("from=").await.optional::<u64>("from").unwrap(), None);
        assert!(!query("all=").await.flag("all").unwrap());
        assert!(query("all=true").await.flag("all").unwrap());
    }
}
