//! Server-sent events, read as they come. Comments and what is not understood are passed over.

use std::io::BufRead;

/// An event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its position, where it has one.
    pub(crate) id: Option<u64>,
    pub(crate) name: String,
    pub(crate) data: String,
}

/// The events of a stream, until it ends or breaks.
#[derive(Debug)]
pub(crate) struct Events<R>(R);

impl<R: BufRead> Events<R> {
    pub(crate) fn new(stream: R) -> Self {
        Self(stream)
    }
}

impl<R: BufRead> Iterator for Events<R> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let (mut id, mut name, mut data) = (None, String::new(), None::<String>);
        let mut line = Vec::new();
        loop {
            line.clear();
            if !matches!(self.0.read_until(b'\n', &mut line), Ok(count) if count > 0) {
                return None;
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches(['\n', '\r']);
            let (field, value) = text.split_once(':').unwrap_or((text, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                // A comment has nothing before its colon; a blank line ends an event.
                "" if text.is_empty() => {
                    if let Some(data) = data.take() {
                        return Some(Event { id, name, data });
                    }
                }
                "id" => id = value.parse().ok(),
                "event" => name = value.to_string(),
                "data" => {
                    data = Some(match data.take() {
                        Some(before) => format!("{before}\n{value}"),
                        None => value.to_string(),
                    });
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_with_their_positions_and_comments_are_passed_over() {
        let stream =
            ": hello\n\nid: 7\nevent: json_patch\ndata: [1,\ndata: 2]\n\n:\n\ndata:x\n\nid: 9\ndata: half";
        let events: Vec<Event> = Events::new(stream.as_bytes()).collect();
        let event = |id, name: &str, data: &str| Event { id, name: name.into(), data: data.into() };
        assert_eq!(events, [event(Some(7), "json_patch", "[1,\n2]"), event(None, "", "x")]);
    }
}
