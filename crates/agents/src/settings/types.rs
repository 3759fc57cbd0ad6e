//! The settings of every agent's profiles as types: what they are checked by, and what their schemas are made of.
//!
//! A key that is not here is somebody else's: it is kept, and nobody looks at it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A program with its first arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Command {
    /// As a shell would read it.
    Line(String),
    /// Word by word.
    Words(Vec<String>),
}

/// What the profiles of every agent may say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Shared {
    /// Text that is added to every prompt.
    pub append_prompt: Option<String>,
    /// The command to run in place of the agent's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_command_override: Option<Command>,
    /// More arguments for the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_params: Option<Vec<String>>,
    /// More variables for the agent's environment. Their values are secrets: they are never shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// `npx` runs a pinned version that need not be installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
    /// Give the agent Forge's own tools: it may read its task, make subtasks, start them and wait for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forge_mcp: Option<bool>,
}

/// Defines the settings of an agent: what is shared, and what only it has.
macro_rules! settings {
    ($(#[doc = $doc:expr])* $name:ident { $($(#[doc = $field_doc:expr])* $field:ident: $type:ty,)* }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct $name {
            #[serde(flatten)]
            pub shared: Shared,
            $(
                $(#[doc = $field_doc])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )*
        }
    };
}

/// Defines words that a setting may be.
macro_rules! words {
    ($(#[doc = $doc:expr])* $name:ident, $case:literal, $($word:ident)*) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = $case)]
        pub enum $name { $($word,)* }
    };
}

settings! {
    /// Claude Code.
    ClaudeCode {
        /// Call it through the Claude Code router.
        claude_code_router: bool,
        /// Plan first: the agent shows a plan and waits until it is approved.
        plan: bool,
        /// Ask the person before a tool is used.
        approvals: bool,
        /// The model to use.
        model: String,
        /// How hard the model thinks.
        effort: String,
        /// The subagent to use.
        agent: String,
        /// Use every tool without asking.
        dangerously_skip_permissions: bool,
        /// Keep the key in `ANTHROPIC_API_KEY` from the agent, so that it uses its login.
        disable_api_key: bool,
    }
}

settings! {
    /// Amp.
    Amp {
        /// Use every tool without asking.
        dangerously_allow_all: bool,
    }
}

words! {
    /// A model of Gemini.
    GeminiModel, "lowercase", Default Flash
}

settings! {
    /// Gemini CLI.
    Gemini {
        /// The model to use.
        model: GeminiModel,
        /// Use every tool without asking.
        yolo: bool,
        /// Plan first: the agent shows a plan and waits until it is approved.
        plan: bool,
        /// Ask the person before a tool is used.
        approvals: bool,
        /// The mode of the agent to use, by its own name for it.
        mode: String,
        /// How to log in when the agent wants that, by its own name for it.
        auth_method: String,
    }
}

words! {
    /// What commands may reach.
    CodexSandbox, "kebab-case", Auto ReadOnly WorkspaceWrite DangerFullAccess
}
words! {
    /// When the person is asked.
    CodexApproval, "kebab-case", UnlessTrusted OnFailure OnRequest Never
}
words! {
    /// How hard the model thinks.
    CodexEffort, "lowercase", Low Medium High
}
words! {
    /// How much it tells of its thoughts.
    CodexSummary, "lowercase", Auto Concise Detailed None
}
words! {
    /// How the summary of its thoughts is written.
    CodexSummaryFormat, "lowercase", None Experimental
}

settings! {
    /// Codex.
    Codex {
        /// Plan: the agent shows a plan and changes nothing.
        plan: bool,
        /// What commands may reach.
        sandbox: CodexSandbox,
        /// When the person is asked.
        ask_for_approval: CodexApproval,
        /// Use an open model on this machine.
        oss: bool,
        /// The model to use.
        model: String,
        /// How hard the model thinks.
        model_reasoning_effort: CodexEffort,
        /// How much it tells of its thoughts.
        model_reasoning_summary: CodexSummary,
        /// How the summary of its thoughts is written.
        model_reasoning_summary_format: CodexSummaryFormat,
        /// The profile in Codex's own settings.
        profile: String,
        /// Instructions in place of its own.
        base_instructions: String,
        /// Give it a tool to keep a plan with.
        include_plan_tool: bool,
        /// Give it a tool to apply patches with.
        include_apply_patch_tool: bool,
    }
}

settings! {
    /// OpenCode.
    Opencode {
        /// The model to use.
        model: String,
        /// The agent to use.
        agent: String,
        /// Use every tool without asking.
        auto_approve: bool,
        /// Plan first: the agent shows a plan and waits until it is approved.
        plan: bool,
        /// Ask the person before a tool is used.
        approvals: bool,
    }
}

settings! {
    /// Cursor's command line agent.
    CursorAgent {
        /// Run commands without asking.
        force: bool,
        /// Speak the Agent Client Protocol with it, so that it can ask.
        acp: bool,
        /// The model to use.
        model: String,
    }
}

settings! {
    /// Qwen Code.
    QwenCode {
        /// Use every tool without asking.
        yolo: bool,
        /// The model to use.
        model: String,
        /// Plan first: the agent shows a plan and waits until it is approved.
        plan: bool,
        /// Ask the person before a tool is used.
        approvals: bool,
        /// The mode of the agent to use, by its own name for it.
        mode: String,
        /// How to log in when the agent wants that, by its own name for it.
        auth_method: String,
    }
}

settings! {
    /// GitHub Copilot's command line agent.
    Copilot {
        /// The model to use.
        model: String,
        /// Use every tool without asking.
        allow_all_tools: bool,
        /// A tool that is used without asking.
        allow_tool: String,
        /// A tool that is never used.
        deny_tool: String,
        /// More directories it may reach.
        add_dir: Vec<String>,
        /// MCP servers it does not use.
        disable_mcp_server: Vec<String>,
        /// Plan first: the agent shows a plan and waits until it is approved.
        plan: bool,
        /// Ask the person before a tool is used.
        approvals: bool,
        /// The mode of the agent to use, by its own name for it.
        mode: String,
    }
}

settings! {
    /// Kimi Code.
    Kimi {
        /// The model to use.
        model: String,
        /// Use every tool without asking.
        yolo: bool,
        /// Plan first: the agent shows a plan and waits until it is approved.
        plan: bool,
        /// Ask the person before a tool is used.
        approvals: bool,
        /// The mode of the agent to use, by its own name for it.
        mode: String,
    }
}

settings! {
    /// Droid, the agent of Factory.
    Droid {
        /// The model to use.
        model: String,
        /// How far it goes without asking: `normal`, `low`, `medium` or `high`.
        autonomy: String,
        /// Plan first: the agent shows a plan and waits until it is approved.
        plan: bool,
        /// Ask the person before a tool is used.
        approvals: bool,
        /// The mode of the agent to use, by its own name for it.
        mode: String,
        /// How to log in when the agent wants that, by its own name for it.
        auth_method: String,
    }
}

settings! {
    /// Cline.
    Cline {
        /// The model to use.
        model: String,
        /// Use every tool without asking.
        yolo: bool,
        /// Plan first: the agent shows a plan and waits until it is approved.
        plan: bool,
        /// Ask the person before a tool is used.
        approvals: bool,
        /// The mode of the agent to use, by its own name for it.
        mode: String,
        /// How to log in when the agent wants that, by its own name for it.
        auth_method: String,
    }
}

settings! {
    /// goose.
    Goose {
        /// The model to use.
        model: String,
        /// Use every tool without asking.
        yolo: bool,
        /// Plan first: the agent shows a plan and waits until it is approved.
        plan: bool,
        /// Ask the person before a tool is used.
        approvals: bool,
        /// The mode of the agent to use, by its own name for it.
        mode: String,
        /// How to log in when the agent wants that, by its own name for it.
        auth_method: String,
    }
}

settings! {
    /// Any command that speaks the Agent Client Protocol: `base_command_override` names it.
    Acp {
        /// The model to use.
        model: String,
        /// Use every tool without asking.
        yolo: bool,
        /// Plan first: the agent shows a plan and waits until it is approved.
        plan: bool,
        /// Ask the person before a tool is used.
        approvals: bool,
        /// The mode of the agent to use, by its own name for it.
        mode: String,
        /// How to log in when the agent wants that, by its own name for it.
        auth_method: String,
        /// Tell it that Forge reads and writes files of the worktree for it.
        fs: bool,
    }
}

settings! {
    /// Any other command.
    RawCommand {
        /// The command: what it prints is what it says. `{prompt}` in a word stands for the prompt, which otherwise is
        /// its standard input.
        command: Command,
    }
}

settings! {
    /// The agent that plays a script and needs no account.
    Scripted {}
}
