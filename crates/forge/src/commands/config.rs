//! `forge config`: the person's settings.

use clap::Subcommand;
use serde_json::{Map, Value};

use crate::cli::Globals;
use crate::client::Client;
use crate::edited::edited;
use crate::exit::{Exit, Failure, Result};
use crate::output::{Output, printable};
use crate::{autostart, home};

/// Show and change the settings
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A key has dots between its parts. A value is read as JSON where it is JSON, and as text where not.\n\n\
                  Example:\n  forge config get limits.max_running\n  forge config set limits.max_running 4\n  \
                  forge config set editor.editor_type ZED"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Show all settings, a line each; secrets are masked
    List,
    /// Show a setting, or all that are below a key
    Get { key: String },
    /// Change a setting
    Set { key: String, value: String },
    /// Change the settings in your editor
    Edit,
    /// Print where the settings are kept
    Path,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    if let Some(Act::Path) = &args.act {
        let path = home::locate(globals.data.as_deref())?.join("config.json");
        match output.json {
            true => output.value(&serde_json::json!({"path": path}))?,
            false => output.line(path.display())?,
        }
        return Ok(Exit::Ok);
    }
    let client = autostart::connect(globals, output)?;
    let config = client.get("/api/config")?;
    match &args.act {
        None | Some(Act::List | Act::Path) => show(output, "", &config),
        Some(Act::Get { key }) => show(output, key, find(&config, key)?),
        Some(Act::Set { key, value }) => set(&client, output, &config, key, value),
        Some(Act::Edit) => edit(&client, output, &config),
    }
}

fn find<'a>(config: &'a Value, key: &str) -> Result<&'a Value> {
    key.split('.').try_fold(config, |value, part| value.get(part)).ok_or_else(|| {
        let known: Vec<&str> =
            config.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
        Failure::not_found(format!("there is no setting {key}; there are: {}", known.join(" ")))
    })
}

fn set(client: &Client, output: &Output, config: &Value, key: &str, value: &str) -> Result<Exit> {
    find(config, key)?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_string()));
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    // The server lays whole keys of the first level over the settings, so what is beside the value goes along.
    let mut whole = config[first].clone();
    match rest {
        None => whole = value,
        Some(rest) => {
            let place = rest.split('.').try_fold(&mut whole, |value, part| value.get_mut(part));
            if let Some(place) = place {
                *place = value;
            }
        }
    }
    let mut body = Map::new();
    body.insert(first.to_string(), whole);
    let changed = client.put("/api/config", &Value::Object(body))?;
    show(output, key, find(&changed, key)?)
}

fn edit(client: &Client, output: &Output, config: &Value) -> Result<Exit> {
    let Some(text) = edited("config.json", &format!("{config:#}\n"))? else {
        output.remark("nothing is changed");
        return Ok(Exit::Ok);
    };
    let changed: Value = serde_json::from_str(&text).map_err(|error| {
        Failure::invalid(format!("what you wrote is no JSON, so nothing is changed: {error}"))
    })?;
    let changed = changed.as_object().ok_or_else(|| Failure::invalid("the settings must be an object"))?;
    let body: Map<String, Value> = changed
        .iter()
        .filter(|(key, value)| config.get(*key) != Some(value))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    let keys: Vec<String> = body.keys().cloned().collect();
    let saved = client.put("/api/config", &Value::Object(body))?;
    match output.json {
        true => output.value(&saved)?,
        false => output.line(format_args!("changed: {}", keys.join(" ")))?,
    }
    Ok(Exit::Ok)
}

/// Prints a setting, or all below it, a line each with its whole key.
fn show(output: &Output, key: &str, value: &Value) -> Result<Exit> {
    if output.json {
        output.value(value)?;
        return Ok(Exit::Ok);
    }
    match value {
        Value::Object(below) => {
            for (name, value) in below {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                match value {
                    Value::Object(inner) if !inner.is_empty() => {
                        show(output, &key, value)?;
                    }
                    value => output.line(format_args!("{key} = {}", plain(value)))?,
                }
            }
        }
        value => output.line(plain(value))?,
    }
    Ok(Exit::Ok)
}

fn plain(value: &Value) -> String {
    printable(&value.as_str().map_or_else(|| value.to_string(), str::to_string))
}
