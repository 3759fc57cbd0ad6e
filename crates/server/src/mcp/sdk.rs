//! The one file that knows the library which speaks MCP: sessions, versions of the protocol, and how a tool is told.
//!
//! A request has passed the server's own rules when it gets here, and carries whose it is.

mod sessions;

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::request::Parts;
use futures_util::FutureExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, PromptArgument, PromptMessage, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate, ResourceUpdatedNotificationParam, Role, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, ToolAnnotations, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, model};
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use super::call::{Call, Progress};
use super::prompts::{self, Prompt};
use super::resources::{self, Address};
use super::tool::Tool;
use super::{failure, reach, tools};
use crate::access::Caller;
use crate::closing::StreamGuard;
use crate::decode::Fields;
use crate::decode::names::Name;
use crate::state::App;
use crate::streams::ChangesTail;
pub(super) use sessions::CALLER;
use sessions::Sessions;

/// The largest call that is read, as large as that of any other route.
pub(super) const LARGEST_CALL: usize = 20 * 1024 * 1024;

/// How many resources one session follows: each costs a task.
const MOST_FOLLOWED: usize = 64;

const INSTRUCTIONS: &str = "Forge runs coding agents on git repositories. A project is a repository, a task is something wanted \
     in it, an attempt is one try at a task by one agent, on a branch and in a worktree of its own. Begin with list_projects. \
     create_and_start_task starts an agent and answers with its attempt_id.";

/// Makes what answers at `/mcp`.
pub(crate) fn service(app: App) -> StreamableHttpService<Forge, Sessions> {
    // Which hosts and origins may call was settled before, by the server's own rules.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(LARGEST_CALL)
        .with_sse_retry(None);
    let (end, mut guard) = (config.cancellation_token.clone(), app.closing.guard());
    // Made within the runtime of a server; without one, as when only the table of routes is wanted, nothing ends.
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move {
            guard.closed().await;
            end.cancel();
        });
    }
    StreamableHttpService::new(
        move || Ok(Forge { app: app.clone(), followed: Arc::default() }),
        Arc::new(Sessions::new()),
        config,
    )
}

/// Forge, as a client of the protocol sees it.
#[derive(Debug, Clone)]
pub(crate) struct Forge {
    app: App,
    /// What follows the resources that this session wants to hear of, by their addresses.
    followed: Arc<Followed>,
}

#[derive(Debug, Default)]
struct Followed(Mutex<HashMap<String, AbortHandle>>);

impl Followed {
    fn all(&self) -> MutexGuard<'_, HashMap<String, AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows an address, and ends what followed it before; false when too many are followed already.
    fn put(&self, uri: String, follow: impl FnOnce() -> AbortHandle) -> bool {
        let mut all = self.all();
        if all.len() >= MOST_FOLLOWED && !all.contains_key(&uri) {
            return false;
        }
        if let Some(before) = all.insert(uri, follow()) {
            before.abort();
        }
        true
    }

    /// Follows an address no more.
    fn end(&self, uri: &str) {
        if let Some(before) = self.all().remove(uri) {
            before.abort();
        }
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        let all = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        all.values().for_each(AbortHandle::abort);
    }
}

impl ServerHandler for Forge {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .build();
        let mut info = InitializeResult::new(capabilities);
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info.server_info = Implementation::new("forge", env!("CARGO_PKG_VERSION")).with_title("Forge");
        info.instructions = Some(INSTRUCTIONS.to_string());
        info
    }

    /// Agrees on the newest version that both know, and says what is known where the client is too old.
    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut info = self.get_info();
        info.protocol_version = negotiated(&request.protocol_version)?;
        request.protocol_version = info.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(info)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = caller(&context)?;
        let mut listed = Vec::new();
        for tool in tools::all() {
            if reach::hears_of(&self.app.engine, caller, tool.reach).await {
                listed.push(described(tool, reach::known(caller, tool.reach)));
            }
        }
        Ok(ListToolsResult::with_all_items(listed))
    }

    fn get_tool(&self, name: &str) -> Option<model::Tool> {
        tools::named(name).map(|tool| described(tool, &[]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::named(&request.name) else {
            let message = format!("there is no tool {:?}; tools/list tells which there are", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let (engine, caller) = (self.app.engine.clone(), caller(&context)?);
        let fields = Fields::new(request.arguments.unwrap_or_default());
        let (progress, directory) = (progress(&context), directory(&context));
        let app = self.app.clone();
        let called = async move {
            let fields = reach::narrowed(&engine, caller, tool.reach, fields).await?;
            tool.run(Call { app, caller, fields, progress, directory }).await
        };
        let answer = tokio::select! {
            answer = called => answer,
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("the call was cancelled", None)),
        };
        let result = match answer {
            Ok(answer) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(pretty(&answer))]);
                result.structured_content = tool.output_schema().map(|_| answer);
                result
            }
            Err(problem) => CallToolResult::error(vec![ContentBlock::text(pretty(&failure::told(&problem)))]),
        };
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let listed = prompts::ALL.iter().map(|prompt| {
            let arguments = prompt.arguments().into_iter().map(|argument| {
                let told = PromptArgument::new(argument.name).with_description(argument.about);
                told.with_required(argument.is_needed)
            });
            model::Prompt::new(prompt.name, Some(prompt.about()), Some(arguments.collect()))
        });
        Ok(ListPromptsResult::with_all_items(listed.collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some(prompt) = Prompt::named(&request.name) else {
            let message =
                format!("there is no prompt {:?}; prompts/list tells which there are", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let text = prompt.filled(&request.arguments.unwrap_or_default());
        let text = text.map_err(|why| ErrorData::invalid_params(why, None))?;
        let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
        Ok(result.with_description(prompt.about()).into())
    }

    /// Lists what is under way; everything else is found by its address.
    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = caller(&context)?;
        let attempts = self.app.engine.attempts(None).await;
        let attempts = attempts.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let mut listed = Vec::new();
        for view in attempts.into_iter().filter(|view| view.attempt.state.is_live()) {
            let id = view.attempt.id;
            if Address::Attempt(id).is_reached_by(&self.app.engine, caller).await {
                let name = view.task.map_or_else(|| view.attempt.branch.clone(), |task| task.title);
                let about = format!("{} on {}", view.attempt.profile, view.attempt.branch);
                let told = Resource::new(format!("forge://attempt/{id}"), name).with_description(about);
                listed.push(told.with_mime_type("application/json"));
            }
        }
        Ok(ListResourcesResult::with_all_items(listed))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let listed = resources::TEMPLATES.iter().map(|(uri, name, about, kind)| {
            ResourceTemplate::new(*uri, *name).with_description(*about).with_mime_type(*kind)
        });
        Ok(ListResourceTemplatesResult::with_all_items(listed.collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let address = self.address(&request.uri, &context).await?;
        let (kind, text) = address
            .contents(&self.app.engine)
            .await
            .map_err(|problem| ErrorData::resource_not_found(problem.message().to_string(), None))?;
        let contents = ResourceContents::text(text, request.uri).with_mime_type(kind);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let address = self.address(&request.uri, &context).await?;
        let (uri, peer) = (request.uri.clone(), context.peer.clone());
        let app = self.app.clone();
        let follow = move || {
            let mut news = News::of(&app, vec![(uri, address)]);
            let follows = tokio::spawn(async move {
                while let Some(changed) = news.next().await {
                    for uri in changed {
                        // A client that cannot be told is gone.
                        let told = ResourceUpdatedNotificationParam::new(uri);
                        if peer.notify_resource_updated(told).await.is_err() {
                            return;
                        }
                    }
                }
            });
            follows.abort_handle()
        };
        match self.followed.put(request.uri, follow) {
            true => Ok(()),
            false => Err(too_many_followed()),
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.followed.end(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let uris = requested.resource_subscriptions.clone().unwrap_or_default();
        let known = uris.into_iter().filter(|uri| Address::read(uri).is_some());
        Some(SubscriptionFilter::builder().resource_subscriptions(known.collect::<Vec<_>>()).build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut wanted = Vec::new();
        if context.accepted().resource_subscriptions.as_ref().is_some_and(|uris| uris.len() > MOST_FOLLOWED) {
            return Err(too_many_followed());
        }
        for uri in context.accepted().resource_subscriptions.clone().unwrap_or_default() {
            let address = self.address(&uri, context.request_context()).await?;
            wanted.push((uri, address));
        }
        let mut news = News::of(&self.app, wanted);
        loop {
            let changed = tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = news.next() => changed,
            };
            let Some(changed) = changed else { return Ok(()) };
            for uri in changed {
                if context.sink().notify_resource_updated(uri).await.is_err() {
                    return Ok(());
                }
            }
        }
    }
}

impl Forge {
    /// Reads an address that the caller reaches. What it does not reach is not there for it.
    async fn address(&self, uri: &str, context: &RequestContext<RoleServer>) -> Result<Address, ErrorData> {
        let caller = caller(context)?;
        if let Some(address) = Address::read(uri)
            && address.is_reached_by(&self.app.engine, caller).await
        {
            return Ok(address);
        }
        Err(ErrorData::resource_not_found(format!("there is nothing at {uri:?}"), None))
    }
}

/// The news of some resources: which of them have changed.
struct News {
    tail: ChangesTail,
    closing: StreamGuard,
    wanted: Vec<(String, Address)>,
}

impl News {
    fn of(app: &App, wanted: Vec<(String, Address)>) -> Self {
        Self { tail: ChangesTail::now(app.engine.clone()), closing: app.closing.guard(), wanted }
    }

    /// Waits for news; none when the server closes.
    async fn next(&mut self) -> Option<Vec<String>> {
        loop {
            let changes = tokio::select! {
                () = self.closing.closed() => return None,
                changes = self.tail.next() => changes?,
            };
            let is_changed = |address: &Address| {
                changes.resync || changes.items.iter().any(|item| address.is_changed_by(item))
            };
            let told = self.wanted.iter().filter(|(_, address)| is_changed(address));
            let told: Vec<String> = told.map(|(uri, _)| uri.clone()).collect();
            if !told.is_empty() {
                return Some(told);
            }
        }
    }
}

fn too_many_followed() -> ErrorData {
    let message = format!("a session follows {MOST_FOLLOWED} resources at most; unsubscribe from one first");
    ErrorData::invalid_request(message, None)
}

/// Agrees on a version: the newest known one that is not newer than the client's.
fn negotiated(requested: &ProtocolVersion) -> Result<ProtocolVersion, ErrorData> {
    let known = || ProtocolVersion::KNOWN_VERSIONS.iter().filter(|version| version.has_initialize());
    let agreed = known().filter(|version| version.as_str() <= requested.as_str());
    agreed.max_by(|one, other| one.as_str().cmp(other.as_str())).cloned().ok_or_else(|| {
        let supported: Vec<&str> = known().map(ProtocolVersion::as_str).collect();
        let minimum = supported.iter().min();
        let data = json!({ "requested": requested.as_str(), "minimum": minimum, "supported": supported });
        let message =
            format!("protocol version {:?} is older than any that is spoken here", requested.as_str());
        ErrorData::invalid_params(message, Some(data))
    })
}

/// Returns whose request it is, which the server's own rules have settled.
fn caller(context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
    let parts = context.extensions.get::<Parts>();
    let caller = parts.and_then(|parts| parts.extensions.get::<Caller>()).copied();
    caller.ok_or_else(|| ErrorData::internal_error("whose request this is, is not known", None))
}

/// Returns where the caller works, if it tells; what `forge mcp` sends.
fn directory(context: &RequestContext<RoleServer>) -> Option<PathBuf> {
    let text = context.extensions.get::<Parts>()?.headers.get("x-forge-directory")?.to_str().ok()?;
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digits = if byte == b'%' { Some([rest.next()?, rest.next()?]) } else { None };
        let byte = match digits {
            Some(digits) => u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?,
            None => byte,
        };
        bytes.push(byte);
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// Makes the way to tell a caller how far its call is, if it wants to know.
fn progress(context: &RequestContext<RoleServer>) -> Progress {
    let Some(token) = context.meta.get_progress_token() else { return Progress(None) };
    let peer = context.peer.clone();
    Progress(Some(Arc::new(move |step, message| {
        let (peer, token) = (peer.clone(), token.clone());
        async move {
            #[expect(clippy::cast_precision_loss, reason = "nobody takes that many steps")]
            let told = ProgressNotificationParam::new(token, step as f64).with_message(message);
            if let Err(error) = peer.notify_progress(told).await {
                tracing::debug!("a caller was not told of progress: {error}");
            }
        }
        .boxed()
    })))
}

fn described(tool: &Tool, known: &[Name]) -> model::Tool {
    let mut annotations = ToolAnnotations::with_title(tool.title);
    annotations.read_only_hint = Some(tool.hints.read_only);
    annotations.destructive_hint = Some(tool.hints.destructive);
    annotations.idempotent_hint = Some(tool.hints.idempotent);
    annotations.open_world_hint = Some(tool.hints.open_world);
    let about = Some(Cow::Borrowed(tool.about));
    let described = model::Tool::new_with_raw(tool.name, about, Arc::new(tool.input_schema(known)));
    let described = described.with_title(tool.title).with_annotations(annotations);
    match tool.output_schema() {
        Some(schema) => described.with_raw_output_schema(Arc::new(schema)),
        None => described,
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}
