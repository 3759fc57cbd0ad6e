//! The table of operations: every route with what it takes and gives.
//!
//! The router, the OpenAPI document, `GET /api/routes` and the generated TypeScript are all made from it, so
//! that none of them can tell another story. There is no other way to add a route.

mod body;
mod document;
mod operation;

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, on};

pub(crate) use body::{Body, Key, may, need};
pub(crate) use operation::{Gives, Operation, Takes, op};

pub use document::openapi;

use crate::state::App;

/// Routes, and the operations they stand for.
#[derive(Debug, Default)]
pub(crate) struct Api {
    router: Router<App>,
    operations: Vec<Operation>,
}

impl Api {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn get<H, T>(self, path: &'static str, handler: H, operation: Operation) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.add("GET", MethodFilter::GET, path, handler, operation)
    }

    pub(crate) fn post<H, T>(self, path: &'static str, handler: H, operation: Operation) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.add("POST", MethodFilter::POST, path, handler, operation)
    }

    pub(crate) fn put<H, T>(self, path: &'static str, handler: H, operation: Operation) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.add("PUT", MethodFilter::PUT, path, handler, operation)
    }

    pub(crate) fn delete<H, T>(self, path: &'static str, handler: H, operation: Operation) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.add("DELETE", MethodFilter::DELETE, path, handler, operation)
    }

    /// Takes in the routes of another noun.
    pub(crate) fn merge(mut self, other: Api) -> Self {
        self.router = self.router.merge(other.router);
        self.operations.extend(other.operations);
        self
    }

    pub(crate) fn into_parts(self) -> (Router<App>, Vec<Operation>) {
        (self.router, self.operations)
    }

    fn add<H, T>(
        mut self,
        method: &'static str,
        filter: MethodFilter,
        path: &'static str,
        handler: H,
        operation: Operation,
    ) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.router = self.router.route(path, on(filter, handler));
        self.operations.push(operation.at(method, path));
        self
    }
}
