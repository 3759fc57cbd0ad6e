//! Finds the server a client command is for, and starts one when nobody said which.
//!
//! A server is started only when no address was named and `CI` is not set: whoever names an address, or runs
//! without a person, wants to know that the server is missing.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::Globals;
use crate::client::{Client, Target, Trouble};
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::{address, environment, home, server_file, server_log};

/// How long a new server may take until it answers.
const START: Duration = Duration::from_secs(10);

/// Returns a client of a server that answers.
pub(crate) fn connect(globals: &Globals, output: &Output) -> Result<Client> {
    let home = home::locate(globals.data.as_deref())?;
    if let Some(url) = address::to_call(globals)? {
        let client = Client::new(Target::Url(url.clone()), home, url);
        client.health()?;
        return Ok(client);
    }
    if let Some(client) = running(&home) {
        client.health()?;
        return Ok(client);
    }
    let data = home.display();
    if address::is_named(globals) {
        return Err(Failure::away(format!("no Forge server runs on {data}; start one with `forge serve`")));
    }
    if environment::text(environment::CI).is_some() {
        return Err(Failure::away(format!(
            "no Forge server runs on {data}, and none is started because {} is set; start one with `forge serve`",
            environment::CI
        )));
    }
    start(&home, output)
}

/// Returns a client of the server that serves a data directory right now, without calling it.
pub(crate) fn running(home: &Path) -> Option<Client> {
    let found = server_file::find(home)?;
    Some(Client::new(Target::Home, home.to_path_buf(), found.url))
}

fn start(home: &Path, output: &Output) -> Result<Client> {
    home::create(home)?;
    let log_path = server_log::path(home);
    let (child, log_start) = spawn(home, &log_path).map_err(|error| {
        Failure::away(format!("could not start a server for {}: {error}", home.display()))
    })?;
    let client = wait(home, child, &log_path, log_start)?;
    output.remark(format_args!("started a Forge server on {} (log in {})", client.url(), log_path.display()));
    Ok(client)
}

fn spawn(home: &Path, log_path: &Path) -> std::io::Result<(Child, u64)> {
    server_log::put_aside(log_path)?;
    let mut log = server_log::open(log_path)?;
    let log_start = log.seek(SeekFrom::End(0))?;
    let child = Command::new(std::env::current_exe()?)
        .args(["serve", "--background", "--data"])
        .arg(home)
        // The server outlives the directory this command happens to be in.
        .current_dir(home)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()?;
    Ok((child, log_start))
}

fn wait(home: &Path, mut child: Child, log_path: &Path, log_start: u64) -> Result<Client> {
    let deadline = Instant::now() + START;
    let mut ended = None;
    loop {
        if let Some(client) = running(home) {
            match client.health() {
                Ok(_) => break reap_later(child, client),
                Err(Trouble::Refused(failure)) => break Err(failure),
                Err(Trouble::Away(_)) => {}
            }
        }
        if ended.is_none() {
            ended = child.try_wait().ok().flatten();
        }
        // A server that found the data in use leaves the field to the one that a command beside us started.
        let hopeless = ended.is_some_and(|status| status.code() != Some(Exit::Conflict as i32));
        if hopeless || Instant::now() > deadline {
            break Err(not_started(ended, log_path, log_start));
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Keeps a server that ends before this command does from staying behind as a dead process.
fn reap_later(mut child: Child, client: Client) -> Result<Client> {
    thread::spawn(move || child.wait());
    Ok(client)
}

fn not_started(ended: Option<ExitStatus>, log_path: &Path, log_start: u64) -> Failure {
    let what = match ended {
        Some(status) => format!("the server ended at once ({status})"),
        None => format!("the server did not answer within {} seconds", START.as_secs()),
    };
    let lines = last_lines(log_path, log_start).unwrap_or_default();
    let log_path = log_path.display();
    match lines.is_empty() {
        true => Failure::away(format!("{what}; its log is {log_path}")),
        false => Failure::away(format!("{what}; the end of its log, {log_path}:\n{lines}")),
    }
}

fn last_lines(log_path: &Path, from: u64) -> std::io::Result<String> {
    let mut log = File::open(log_path)?;
    let end = log.seek(SeekFrom::End(0))?;
    log.seek(SeekFrom::Start(from.max(end.saturating_sub(8 * 1024))))?;
    let mut bytes = Vec::new();
    log.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(10)..];
    Ok(last.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n"))
}
