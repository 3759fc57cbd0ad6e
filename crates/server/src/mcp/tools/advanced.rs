//! What older clients find among the advanced tools: drafts, processes, images, settings and notices.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use forge_engine::NewImage;
use forge_model::{DraftKind, ImageId, RunId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::super::call::Call;
use super::super::names::{
    ATTEMPT_ID, CONFIG, CONTENT, DATA, DRAFT_TYPE, IMAGE_ID, MIME_TYPE, PROCESS, SETTINGS,
};
use super::super::tool::{Raw, Tool, changes, destroys, encoded, may, need, reads};
use super::landing::Done;
use crate::decode::names::{
    API_KEY, DRAFT_PROMPT, EXPECTED_QUEUED, EXPECTED_VERSION, OMNI_HOST, PROJECT_ID, QUEUED,
    RETRY_PROCESS_ID, SHOW_SOFT_DELETED, VARIANT, VERSION,
};
use crate::error::Problem;
use crate::wire::{
    self, DraftResponse, ExecutionProcess, ForgeProjectSettings, OmniInstances, OmniNotifications,
    OmniStatus, OmniValidation,
};

const KIND: &str = "follow_up or retry; follow_up unless said.";

pub(super) fn tools() -> Vec<Tool> {
    let families = [drafts(), processes(), images(), settings(), notices()];
    families.into_iter().flatten().map(Tool::advanced).collect()
}

fn drafts() -> Vec<Tool> {
    vec![
        reads("get_draft", "Get draft", "Returns what somebody has begun to write to an attempt's agent.")
            .takes(&[need(ATTEMPT_ID, "The attempt."), may(DRAFT_TYPE, KIND)])
            .does(get_draft),
        changes("save_draft", "Save draft", "Writes a draft to an attempt's agent, without sending it.")
            .takes(&[
                need(ATTEMPT_ID, "The attempt."),
                need(CONTENT, "The text."),
                may(DRAFT_TYPE, KIND),
                may(VARIANT, "A variant of the agent's settings."),
                may(RETRY_PROCESS_ID, "For a retry, the process that is to be run again."),
                may(VERSION, "Refused when the draft has another version by now."),
            ])
            .idempotent()
            .does(save_draft),
        destroys(
            "delete_draft",
            "Delete draft",
            "Drops a retry that was begun; a follow-up is emptied by saving.",
        )
        .takes(&[need(ATTEMPT_ID, "The attempt."), may(DRAFT_TYPE, KIND)])
        .does(delete_draft),
        changes(
            "set_draft_queue",
            "Set draft queue",
            "Sends a follow-up draft when the agent is done, at once if it is; or takes it back.",
        )
        .takes(&[
            need(ATTEMPT_ID, "The attempt."),
            need(QUEUED, "True sends it, false takes it back."),
            may(EXPECTED_QUEUED, "Refused when it is otherwise by now."),
            may(EXPECTED_VERSION, "Refused when the draft has another version by now."),
            may(DRAFT_PROMPT, "The text, in place of what is there."),
        ])
        .does(set_draft_queue),
    ]
}

fn processes() -> Vec<Tool> {
    vec![
        reads(
            "list_processes",
            "List processes",
            "Lists the runs of an attempt, oldest first: its agent's and its scripts'.",
        )
        .takes(&[
            need(ATTEMPT_ID, "The attempt."),
            may(SHOW_SOFT_DELETED, "Also those that a retry left out of the history."),
        ])
        .does(list_processes),
        reads("get_process", "Get process", "Returns one run.")
            .takes(&[need(PROCESS, "The run.")])
            .does(get_process),
        destroys(
            "stop_process",
            "Stop process",
            "Stops one run, and answers when none of its processes is left.",
        )
        .takes(&[need(PROCESS, "The run.")])
        .idempotent()
        .does(stop_process),
    ]
}

fn images() -> Vec<Tool> {
    vec![
        changes("upload_image", "Upload image", "Keeps a picture; the same bytes are the same image.")
            .takes(&[
                need(DATA, "The picture's bytes in base64."),
                need(MIME_TYPE, "What it is, as image/png."),
            ])
            .idempotent()
            .does(upload_image),
        reads("get_image", "Get image", "Returns a picture's bytes in base64.")
            .takes(&[need(IMAGE_ID, "The image.")])
            .does(get_image),
    ]
}

fn settings() -> Vec<Tool> {
    vec![
        reads("get_config", "Get config", "Returns the settings of Forge, secrets masked.").tells(get_config),
        changes(
            "update_config",
            "Update config",
            "Lays keys over the settings of Forge; what is absent stays as it is.",
        )
        .takes(&[need(CONFIG, "The keys to change.")])
        .idempotent()
        .tells(update_config),
        reads(
            "get_forge_config",
            "Get Forge config",
            "Returns the settings that hold for every project, secrets masked.",
        )
        .does(get_forge_config),
        changes(
            "update_forge_config",
            "Update Forge config",
            "Lays keys over the settings that hold for every project.",
        )
        .takes(&[need(CONFIG, "The keys to change.")])
        .idempotent()
        .does(update_forge_config),
        reads(
            "get_project_settings",
            "Get project settings",
            "Returns the settings that hold in a project, secrets masked.",
        )
        .takes(&[need(PROJECT_ID, "The project.")])
        .does(get_project_settings),
        changes(
            "update_project_settings",
            "Update project settings",
            "Lays keys over a project's own settings.",
        )
        .takes(&[need(PROJECT_ID, "The project."), need(SETTINGS, "The keys to change.")])
        .idempotent()
        .does(update_project_settings),
    ]
}

fn notices() -> Vec<Tool> {
    vec![
        reads("get_omni_status", "Get Omni status", "Says whether notices are sent, and by what settings.")
            .does(omni_status),
        reads(
            "list_omni_instances",
            "List Omni instances",
            "Lists the instances of the gateway for notices.",
        )
        .open_world()
        .does(omni_instances),
        reads("list_omni_notifications", "List Omni notifications", "Lists the newest notices.")
            .does(omni_notices),
        reads("validate_omni_config", "Validate Omni config", "Tries a gateway for notices and a key.")
            .takes(&[need(OMNI_HOST, "The gateway's address."), need(API_KEY, "The key.")])
            .open_world()
            .does(validate_omni),
    ]
}

#[derive(Debug, Serialize, JsonSchema)]
struct Processes {
    processes: Vec<ExecutionProcess>,
    count: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct StoppedProcess {
    success: bool,
    process_id: RunId,
    message: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct UploadedImage {
    image_id: ImageId,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ImageBytes {
    image_id: ImageId,
    name: String,
    mime_type: Option<String>,
    /// In base64.
    data: String,
}

fn kind(call: &Call) -> Result<DraftKind, Problem> {
    match call.fields.filled_text(DRAFT_TYPE)?.as_deref() {
        None | Some("follow_up") => Ok(DraftKind::FollowUp),
        Some("retry") => Ok(DraftKind::Retry),
        Some(_) => Err(call.fields.refuse(DRAFT_TYPE, "must be `follow_up` or `retry`")),
    }
}

async fn get_draft(call: Call) -> Result<DraftResponse, Problem> {
    Ok(call.app.engine.draft(call.attempt()?, kind(&call)?).await?.into())
}

async fn save_draft(call: Call) -> Result<DraftResponse, Problem> {
    let (id, kind) = (call.attempt()?, kind(&call)?);
    let content = call.fields.optional_text(CONTENT)?;
    let content = content.ok_or_else(|| call.fields.refuse(CONTENT, "must be a text"))?;
    let change = wire::draft_change(&call.fields, kind)?;
    let change = forge_engine::DraftChange { prompt: Some(content), ..change };
    Ok(call.app.engine.save_draft(id, kind, change).await?.into())
}

async fn delete_draft(call: Call) -> Result<Done, Problem> {
    let id = call.attempt()?;
    call.app.engine.delete_draft(id, kind(&call)?).await?;
    Ok(Done::new(id, "deleted"))
}

async fn set_draft_queue(call: Call) -> Result<DraftResponse, Problem> {
    let id = call.attempt()?;
    Ok(call.app.engine.queue_draft(id, call.fields.try_into()?, None).await?.into())
}

async fn list_processes(call: Call) -> Result<Processes, Problem> {
    let with_dropped = call.fields.flag(SHOW_SOFT_DELETED)?.unwrap_or(false);
    let runs = call.app.engine.runs(call.attempt()?, with_dropped).await?;
    let processes: Vec<ExecutionProcess> = wire::list(runs);
    Ok(Processes { count: processes.len(), processes })
}

async fn get_process(call: Call) -> Result<ExecutionProcess, Problem> {
    Ok(call.app.engine.run(call.id(PROCESS)?).await?.into())
}

async fn stop_process(call: Call) -> Result<StoppedProcess, Problem> {
    let process_id = call.id(PROCESS)?;
    call.app.engine.stop_run(process_id).await?;
    Ok(StoppedProcess { success: true, process_id, message: "stopped" })
}

async fn upload_image(call: Call) -> Result<UploadedImage, Problem> {
    let bytes = BASE64.decode(call.fields.text(DATA)?.trim());
    let bytes = bytes.map_err(|_| call.fields.refuse(DATA, "must be base64"))?;
    let mime = call.fields.line(MIME_TYPE)?;
    let kind = mime.strip_prefix("image/").and_then(|kind| kind.split(['+', ';']).next());
    let kind =
        kind.ok_or_else(|| call.fields.refuse(MIME_TYPE, "must be that of a picture, as image/png"))?;
    let new = NewImage { name: format!("image.{kind}"), bytes, task: None };
    Ok(UploadedImage { image_id: call.app.engine.add_image(new).await?.id })
}

async fn get_image(call: Call) -> Result<ImageBytes, Problem> {
    let (image, bytes) = call.app.engine.image(call.id(IMAGE_ID)?).await?;
    let data = BASE64.encode(bytes);
    Ok(ImageBytes { image_id: image.id, name: image.original_name, mime_type: image.mime_type, data })
}

async fn get_config(call: Call) -> Result<Raw, Problem> {
    Ok(Raw(call.app.engine.config().await?))
}

async fn update_config(call: Call) -> Result<Raw, Problem> {
    let change = call.fields.object(CONFIG)?.try_into()?;
    let config = encoded(&call.app.engine.change_config(change).await?)?;
    Ok(Raw(json!({ "success": true, "message": "saved", "config": config })))
}

async fn get_forge_config(call: Call) -> Result<ForgeProjectSettings, Problem> {
    call.app.engine.general_settings().await?.try_into()
}

async fn update_forge_config(call: Call) -> Result<ForgeProjectSettings, Problem> {
    let change = call.fields.object(CONFIG)?.try_into()?;
    call.app.engine.change_general_settings(change).await?.try_into()
}

async fn get_project_settings(call: Call) -> Result<ForgeProjectSettings, Problem> {
    call.app.engine.project_settings(call.id(PROJECT_ID)?).await?.try_into()
}

async fn update_project_settings(call: Call) -> Result<ForgeProjectSettings, Problem> {
    let change = call.fields.object(SETTINGS)?.try_into()?;
    call.app.engine.change_project_settings(call.id(PROJECT_ID)?, change).await?.try_into()
}

async fn omni_status(call: Call) -> Result<OmniStatus, Problem> {
    call.app.engine.omni_status().await?.try_into()
}

async fn omni_instances(call: Call) -> Result<OmniInstances, Problem> {
    OmniInstances::told(call.app.engine.omni_instances().await)
}

async fn omni_notices(call: Call) -> Result<OmniNotifications, Problem> {
    Ok(call.app.engine.notices().await?.into())
}

async fn validate_omni(call: Call) -> Result<OmniValidation, Problem> {
    OmniValidation::told(call.app.engine.try_omni(call.fields.try_into()?).await)
}
