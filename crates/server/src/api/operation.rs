//! One operation: what a route is called, takes and gives.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::{Body, Key};

/// What a route is called, takes and gives.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// What a client calls it: a method of the SDK.
    pub(crate) id: &'static str,
    /// One sentence for people.
    pub(crate) summary: &'static str,
    pub(crate) query: Vec<Key>,
    pub(crate) takes: Takes,
    pub(crate) gives: Gives,
    pub(crate) status: u16,
    /// Some refusals come with 200 and `success: false`, where older clients look for the message.
    pub(crate) refuses_with_200: bool,
    /// The call may be repeated under an `Idempotency-Key`.
    pub(crate) repeatable: bool,
}

/// What the body of a request is.
#[derive(Debug, Clone)]
pub(crate) enum Takes {
    Nothing,
    Json(Body),
    /// JSON that may also be null or absent.
    MaybeJson(Body),
    /// Any JSON, sent as text whatever its content type.
    Text,
    /// Parts of a form; one of them, with one of these names, is a file.
    File(&'static [&'static str]),
}

/// What the body of a good answer is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Gives {
    /// A payload inside the envelope.
    Enveloped(MakeSchema),
    /// JSON without an envelope.
    Bare(MakeSchema),
    /// Bytes of a content type.
    Bytes(&'static str),
    /// Server-sent events.
    Events,
    /// A WebSocket whose messages look like this.
    Socket(MakeSchema),
}

/// Makes the schema of a type.
pub(crate) type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

/// Begins an operation that takes nothing and gives nothing.
pub(crate) fn op(id: &'static str, summary: &'static str) -> Operation {
    Operation {
        method: "",
        path: "",
        id,
        summary,
        query: Vec::new(),
        takes: Takes::Nothing,
        gives: Gives::Enveloped(schema_of::<()>),
        status: 200,
        refuses_with_200: false,
        repeatable: false,
    }
}

impl Operation {
    pub(super) fn at(mut self, method: &'static str, path: &'static str) -> Self {
        (self.method, self.path) = (method, path);
        self
    }

    /// Adds a parameter of the query.
    pub(crate) fn query(mut self, key: Key) -> Self {
        self.query.push(key);
        self
    }

    pub(crate) fn takes(mut self, body: Body) -> Self {
        self.takes = Takes::Json(body);
        self
    }

    /// Takes a body that may be null or absent.
    pub(crate) fn may_take(mut self, body: Body) -> Self {
        self.takes = Takes::MaybeJson(body);
        self
    }

    pub(crate) fn takes_text(mut self) -> Self {
        self.takes = Takes::Text;
        self
    }

    /// Takes a form with a file in a part of one of these names.
    pub(crate) fn takes_file(mut self, parts: &'static [&'static str]) -> Self {
        self.takes = Takes::File(parts);
        self
    }

    /// Gives a payload inside the envelope.
    pub(crate) fn gives<T: JsonSchema>(mut self) -> Self {
        self.gives = Gives::Enveloped(schema_of::<T>);
        self
    }

    pub(crate) fn gives_bare<T: JsonSchema>(mut self) -> Self {
        self.gives = Gives::Bare(schema_of::<T>);
        self
    }

    pub(crate) fn gives_bytes(mut self, content_type: &'static str) -> Self {
        self.gives = Gives::Bytes(content_type);
        self
    }

    pub(crate) fn gives_events(mut self) -> Self {
        self.gives = Gives::Events;
        self
    }

    /// Becomes a WebSocket, each of whose messages is a `T`.
    pub(crate) fn becomes_socket<T: JsonSchema>(mut self) -> Self {
        self.gives = Gives::Socket(schema_of::<T>);
        self.status = 101;
        self
    }

    pub(crate) fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn refuses_with_200(mut self) -> Self {
        self.refuses_with_200 = true;
        self
    }

    pub(crate) fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}
