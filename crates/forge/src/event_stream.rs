//! Listens to the server's events and tells when to look again. It reads no state out of an event: after the
//! server was away, or events were skipped, looking again is right all the same.

use std::io::BufRead;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use crate::client::{Client, Trouble};
use crate::follow::Happened;

/// How long to wait before another try; short, because a restart takes a fraction of a second.
const PAUSE: Duration = Duration::from_millis(100);

/// Listens until nobody wants to know any more. The first thing it tells is [`Happened::Look`], once nothing
/// that changes can be missed.
pub(crate) fn listen(mut client: Client, attempt: &str, tell: &SyncSender<Happened>) {
    let mut away = false;
    loop {
        let opened = client.events();
        if let Err(Trouble::Refused(failure)) = opened {
            // Nobody listens once the command has ended.
            let _ = tell.send(Happened::Failed(failure));
            return;
        }
        if away != opened.is_err() {
            away = !away;
            if tell.send(if away { Happened::Away } else { Happened::Back }).is_err() {
                return;
            }
        }
        if let Ok(events) = opened
            && (tell.send(Happened::Look).is_err() || read(events, attempt, tell).is_none())
        {
            return;
        }
        std::thread::sleep(PAUSE);
        client.relocate();
    }
}

/// Reads events until the connection ends; none when nobody wants to know any more.
fn read(events: impl BufRead, attempt: &str, tell: &SyncSender<Happened>) -> Option<()> {
    let mut concerns_us = false;
    for line in events.split(b'\n') {
        let Ok(line) = line else { break };
        let line = String::from_utf8_lossy(&line);
        // An event ends with a blank line. Everything the server tells about an attempt, its runs and its asks
        // holds the attempt's id; looking once too often is harmless.
        match line.trim_end() {
            "" if std::mem::take(&mut concerns_us) => tell.send(Happened::Look).ok()?,
            "event: resync" | "event:resync" => concerns_us = true,
            line => concerns_us |= line.starts_with("data") && line.contains(attempt),
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_about_the_attempt_call_for_a_look() {
        let (tell, told) = std::sync::mpsc::sync_channel(16);
        let stream = ": hello\n\nid: 1\nevent: json_patch\ndata: [{\"path\":\"/tasks/b\"}]\n\n\
                      id: 2\ndata: [{\"path\":\"/task_attempts/a1\"}]\n\nid: 3\nevent: resync\ndata: {}\n\n";
        read(stream.as_bytes(), "a1", &tell).unwrap();
        drop(tell);
        assert_eq!(told.iter().count(), 2);
    }
}
