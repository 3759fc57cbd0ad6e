//! MCP servers that people may want, written as each agent wants them. This is data: nothing is installed by it.

use serde_json::{Map, Value, json};

/// How an agent writes a server.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// `command` and `args`, or `url`.
    Plain,
    /// As `Plain`, with the `type` of what is reached by URL.
    Typed,
    /// As `Plain`, with the URL under `httpUrl`.
    HttpUrl,
    /// The command as one list, and each server switched on.
    OpenCode,
    /// Every server with its type, and with the tools that may be used.
    Copilot,
}

enum Reach {
    Command(&'static [&'static str]),
    Url(&'static str),
}

struct Known {
    key: &'static str,
    name: &'static str,
    description: &'static str,
    url: &'static str,
    reach: Reach,
}

const KNOWN: &[Known] = &[
    Known {
        key: "forge",
        name: "Forge",
        description: "Projects, tasks and attempts of this Forge",
        url: "",
        reach: Reach::Command(&["forge", "mcp"]),
    },
    Known {
        key: "context7",
        name: "Context7",
        description: "Documentation of libraries, in their current version",
        url: "https://context7.com",
        reach: Reach::Url("https://mcp.context7.com/mcp"),
    },
    Known {
        key: "playwright",
        name: "Playwright",
        description: "A browser that the agent can use",
        url: "https://github.com/microsoft/playwright-mcp",
        reach: Reach::Command(&["npx", "-y", "@playwright/mcp@latest"]),
    },
];

/// Returns the servers under their keys, and under `meta` what they are.
pub(super) fn servers(shape: Shape) -> Value {
    let mut servers: Map<String, Value> =
        KNOWN.iter().map(|known| (known.key.to_string(), server(shape, &known.reach))).collect();
    let meta: Map<String, Value> = KNOWN
        .iter()
        .map(|known| {
            let Known { key, name, description, url, .. } = known;
            (key.to_string(), json!({"name": name, "description": description, "url": url, "icon": ""}))
        })
        .collect();
    servers.insert("meta".to_string(), Value::Object(meta));
    Value::Object(servers)
}

fn server(shape: Shape, reach: &Reach) -> Value {
    match (shape, reach) {
        (Shape::OpenCode, Reach::Command(argv)) => json!({"type": "local", "command": argv, "enabled": true}),
        (Shape::OpenCode, Reach::Url(url)) => json!({"type": "remote", "url": url, "enabled": true}),
        (Shape::Copilot, Reach::Command(argv)) => {
            json!({"type": "local", "command": argv[0], "args": argv[1..], "tools": ["*"]})
        }
        (Shape::Copilot, Reach::Url(url)) => json!({"type": "http", "url": url, "tools": ["*"]}),
        (_, Reach::Command(argv)) => json!({"command": argv[0], "args": argv[1..]}),
        (Shape::HttpUrl, Reach::Url(url)) => json!({"httpUrl": url}),
        (Shape::Typed, Reach::Url(url)) => json!({"type": "http", "url": url}),
        (Shape::Plain, Reach::Url(url)) => json!({"url": url}),
    }
}
