//! A row of the table of tools: what a tool is called, takes and gives, and what it does.

use std::future::Future;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::call::Call;
use super::reach::Reach;
use crate::api::{self, Key};
use crate::decode::names::Name;
use crate::error::Problem;

/// A tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// What people see.
    pub(super) title: &'static str,
    /// What a model reads before it chooses.
    pub(super) about: &'static str,
    pub(super) takes: Vec<Arg>,
    pub(super) hints: Hints,
    /// It is also called by its name with `adv_` before it, which is listed nowhere.
    pub(super) is_advanced: bool,
    /// What an agent's token reaches of it.
    pub(super) reach: Reach,
    gives: Option<fn() -> Map<String, Value>>,
    run: Box<Run>,
}

type Run = dyn Fn(Call) -> BoxFuture<'static, Result<Value, Problem>> + Send + Sync;

/// An argument of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arg {
    key: Key,
    about: &'static str,
}

/// What a client may tell its person before a tool is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hints {
    pub(super) read_only: bool,
    pub(super) destructive: bool,
    /// Doing it twice is doing it once.
    pub(super) idempotent: bool,
    /// It reaches beyond this machine.
    pub(super) open_world: bool,
}

/// The answer of a tool whose schema would say nothing, or is not worth its length.
pub(super) struct Raw(pub(super) Value);

/// An argument that must be there.
pub(super) const fn need(name: Name, about: &'static str) -> Arg {
    Arg { key: api::need(name), about }
}

/// An argument that may be absent or null.
pub(super) const fn may(name: Name, about: &'static str) -> Arg {
    Arg { key: api::may(name), about }
}

/// Begins a tool that changes nothing.
pub(super) fn reads(name: &'static str, title: &'static str, about: &'static str) -> Tool {
    let hints = Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
    tool(name, title, about, hints)
}

/// Begins a tool that adds or changes something, and takes nothing away.
pub(super) fn changes(name: &'static str, title: &'static str, about: &'static str) -> Tool {
    let hints = Hints { read_only: false, destructive: false, idempotent: false, open_world: false };
    tool(name, title, about, hints)
}

/// Begins a tool that takes something away or lands something.
pub(super) fn destroys(name: &'static str, title: &'static str, about: &'static str) -> Tool {
    let hints = Hints { read_only: false, destructive: true, idempotent: false, open_world: false };
    tool(name, title, about, hints)
}

fn tool(name: &'static str, title: &'static str, about: &'static str, hints: Hints) -> Tool {
    let run = |_: Call| async { Err(Problem::invalid("this tool does nothing")) }.boxed();
    Tool {
        name,
        title,
        about,
        takes: Vec::new(),
        hints,
        is_advanced: false,
        reach: Reach::Person,
        gives: None,
        run: Box::new(run),
    }
}

impl Tool {
    pub(super) fn takes(self, takes: &[Arg]) -> Self {
        Self { takes: takes.to_vec(), ..self }
    }

    pub(super) fn advanced(self) -> Self {
        Self { is_advanced: true, ..self }
    }

    /// Opens it to agents, as far as this.
    pub(super) fn reached(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    pub(super) fn idempotent(mut self) -> Self {
        self.hints.idempotent = true;
        self
    }

    /// It reaches beyond this machine.
    pub(super) fn open_world(mut self) -> Self {
        self.hints.open_world = true;
        self
    }

    /// Says what it does; the answer's type is its output schema.
    pub(super) fn does<T, Answer>(mut self, run: fn(Call) -> Answer) -> Self
    where
        T: Serialize + JsonSchema,
        Answer: Future<Output = Result<T, Problem>> + Send + 'static,
    {
        self.gives = Some(schema::<T>);
        self.run = Box::new(move |call| {
            let answer = run(call);
            async move { encoded(&answer.await?) }.boxed()
        });
        self
    }

    /// Says what it does, where the answer has no schema.
    pub(super) fn tells<Answer>(mut self, run: fn(Call) -> Answer) -> Self
    where
        Answer: Future<Output = Result<Raw, Problem>> + Send + 'static,
    {
        self.run = Box::new(move |call| {
            let answer = run(call);
            async move { answer.await.map(|raw| raw.0) }.boxed()
        });
        self
    }

    /// Does it.
    pub(super) fn run(&self, call: Call) -> BoxFuture<'static, Result<Value, Problem>> {
        (self.run)(call)
    }

    /// Describes its arguments to somebody who need not say what is known. Other keys are ignored, so none is
    /// forbidden.
    pub(super) fn input_schema(&self, known: &[Name]) -> Map<String, Value> {
        let properties: Map<String, Value> = self.takes.iter().map(Arg::property).collect();
        let is_known = |name: &str| known.iter().any(|known| known.name == name);
        let needed = self.takes.iter().filter(|arg| arg.key.needed).map(|arg| arg.key.name.name);
        let required: Vec<&str> = needed.filter(|name| !is_known(name)).collect();
        let mut schema = Map::new();
        schema.insert("type".to_string(), json!("object"));
        schema.insert("properties".to_string(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".to_string(), json!(required));
        }
        schema
    }

    /// Describes its answer, where it has a schema.
    pub(super) fn output_schema(&self) -> Option<Map<String, Value>> {
        self.gives.map(|gives| gives())
    }
}

impl Arg {
    fn property(&self) -> (String, Value) {
        let mut schema = self.key.parameter();
        if let Value::Object(schema) = &mut schema {
            schema.insert("description".to_string(), json!(self.about));
        }
        (self.key.name.name.to_string(), schema)
    }
}

/// Encodes an answer.
pub(super) fn encoded(answer: &impl Serialize) -> Result<Value, Problem> {
    let internal = || Problem::from(forge_engine::Error::internal("could not encode the answer"));
    serde_json::to_value(answer).map_err(|_| internal())
}

fn schema<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema);
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// Takes out the formats of numbers, which are words of Rust's that clients warn about.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            let is_number = |format: &Value| {
                format.as_str().is_some_and(|format| format.starts_with("uint") || format.starts_with("int"))
            };
            if map.get("format").is_some_and(is_number) {
                map.remove("format");
            }
            map.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}
