//! The agents that speak the Agent Client Protocol, a row each. What is told here was tried with the version that
//! `npx` names, unless `tried` says otherwise; then it is what the program's documentation tells.

use super::fold::Quirks;
use super::{Acp, Row};
use crate::{About, Login};

const NONE: Quirks = Quirks { notices_in_text: false, usage_in_total: false, titles_are_commands: false };

const PLAIN: Row = Row { args: &[], model: None, env: &[], env_asking: &[], quirks: NONE };

pub(crate) static GEMINI: Acp = Acp {
    name: "GEMINI",
    about: About {
        title: "Gemini CLI",
        program: Some("gemini"),
        install: "npm install -g @google/gemini-cli",
        npx: Some("@google/gemini-cli@0.61.0"),
        login: &[
            Login::File(".gemini/oauth_creds.json"),
            Login::Variable("GEMINI_API_KEY"),
            Login::Variable("GOOGLE_API_KEY"),
        ],
        tried: true,
    },
    row: Row {
        args: &["--acp"],
        model: Some("-m"),
        // It would start itself again as a child, which outlives it.
        env: &[("GEMINI_CLI_NO_RELAUNCH", "true")],
        quirks: Quirks { titles_are_commands: true, ..NONE },
        ..PLAIN
    },
};

pub(crate) static QWEN_CODE: Acp = Acp {
    name: "QWEN_CODE",
    about: About {
        title: "Qwen Code",
        program: Some("qwen"),
        install: "npm install -g @qwen-code/qwen-code",
        npx: Some("@qwen-code/qwen-code@0.24.4"),
        login: &[
            Login::File(".qwen/oauth_creds.json"),
            Login::Variable("OPENAI_API_KEY"),
            Login::Variable("DASHSCOPE_API_KEY"),
        ],
        tried: true,
    },
    row: Row {
        args: &["--acp"],
        model: Some("-m"),
        env: &[("QWEN_CODE_NO_RELAUNCH", "true")],
        quirks: Quirks { titles_are_commands: true, ..NONE },
        ..PLAIN
    },
};

pub(crate) static OPENCODE: Acp = Acp {
    name: "OPENCODE",
    about: About {
        title: "OpenCode",
        program: Some("opencode"),
        install: "npm install -g opencode-ai",
        npx: Some("opencode-ai@1.18.33"),
        login: &[
            Login::FileBelow { variable: "XDG_DATA_HOME", file: "opencode/auth.json" },
            Login::File(".local/share/opencode/auth.json"),
            Login::Variable("OPENCODE_API_KEY"),
        ],
        tried: true,
    },
    row: Row {
        args: &["acp"],
        // It asks nobody by itself, whatever its mode.
        env_asking: &[("OPENCODE_PERMISSION", r#"{"edit":"ask","bash":"ask","webfetch":"ask"}"#)],
        ..PLAIN
    },
};

pub(crate) static COPILOT: Acp = Acp {
    name: "COPILOT",
    about: About {
        title: "GitHub Copilot CLI",
        program: Some("copilot"),
        install: "npm install -g @github/copilot",
        npx: Some("@github/copilot@1.0.102"),
        login: &[
            Login::FileBelow { variable: "COPILOT_HOME", file: "config.json" },
            Login::File(".copilot/config.json"),
            Login::Variable("COPILOT_GITHUB_TOKEN"),
            Login::Variable("GH_TOKEN"),
            Login::Variable("GITHUB_TOKEN"),
            Login::Variable("COPILOT_PROVIDER_API_KEY"),
        ],
        tried: true,
    },
    row: Row {
        args: &["--acp"],
        model: Some("--model"),
        quirks: Quirks { notices_in_text: true, usage_in_total: true, ..NONE },
        ..PLAIN
    },
};

/// Cursor where its profile says `acp: true`; otherwise it is called without the protocol.
pub(crate) static CURSOR: Acp =
    Acp { name: "CURSOR_AGENT", about: crate::headless::CURSOR, row: Row { args: &["acp"], ..PLAIN } };

pub(crate) static KIMI: Acp = Acp {
    name: "KIMI",
    about: About {
        title: "Kimi Code",
        program: Some("kimi"),
        install: "npm install -g @moonshot-ai/kimi-code",
        npx: Some("@moonshot-ai/kimi-code@2.1.0"),
        login: &[
            Login::File(".kimi-code/credentials.json"),
            Login::File(".kimi-code/config.toml"),
            Login::Variable("KIMI_API_KEY"),
        ],
        tried: true,
    },
    row: Row { args: &["acp"], ..PLAIN },
};

pub(crate) static DROID: Acp = Acp {
    name: "DROID",
    about: About {
        title: "Droid",
        program: Some("droid"),
        install: "npm install -g @factory/cli droid",
        npx: None,
        login: &[
            Login::File(".factory/auth.json"),
            Login::File(".factory/auth.encrypted"),
            Login::Variable("FACTORY_API_KEY"),
        ],
        tried: true,
    },
    row: Row { args: &["exec", "--output-format", "acp"], model: Some("-m"), ..PLAIN },
};

pub(crate) static CLINE: Acp = Acp {
    name: "CLINE",
    about: About {
        title: "Cline",
        program: Some("cline"),
        install: "npm install -g cline",
        npx: Some("cline@3.0.65"),
        login: &[Login::File(".cline/data/secrets.json"), Login::Variable("CLINE_API_KEY")],
        // The program was run, but not by this protocol.
        tried: false,
    },
    row: Row { args: &["--acp"], ..PLAIN },
};

pub(crate) static GOOSE: Acp = Acp {
    name: "GOOSE",
    about: About {
        title: "goose",
        program: Some("goose"),
        install: "curl -fsSL https://github.com/block/goose/releases/download/stable/download_cli.sh | bash",
        npx: None,
        login: &[
            Login::FileBelow { variable: "XDG_CONFIG_HOME", file: "goose/config.yaml" },
            Login::File(".config/goose/config.yaml"),
        ],
        tried: false,
    },
    row: Row { args: &["acp"], ..PLAIN },
};

/// Any other program that speaks the protocol: the profile says which.
pub(crate) static ANY: Acp = Acp {
    name: "ACP",
    about: About {
        title: "ACP agent",
        program: None,
        install: "name the command as `base_command_override` in the profile",
        npx: None,
        login: &[],
        tried: true,
    },
    row: PLAIN,
};
