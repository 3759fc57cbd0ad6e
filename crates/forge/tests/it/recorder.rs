//! Stands between a command and the server, and writes down which routes were called. It changes nothing on the way.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A place to call the server at.
pub(crate) struct Recorder {
    listener: Option<TcpListener>,
    pub(crate) port: u16,
    calls: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    /// Takes a port. Nothing is passed on before [`Recorder::pass_to`].
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        Self { listener: Some(listener), port, calls: Arc::default() }
    }

    /// Passes everything on to a server.
    pub(crate) fn pass_to(&mut self, server: &str) {
        let (listener, calls) = (self.listener.take().unwrap(), self.calls.clone());
        let server = server.strip_prefix("http://").unwrap().trim_end_matches('/').to_string();
        // The threads end with their connections, and this one with the process.
        thread::spawn(move || {
            for caller in listener.incoming().flatten() {
                let (server, calls) = (server.clone(), calls.clone());
                thread::spawn(move || pass(caller, &server, &calls));
            }
        });
    }

    /// Returns what was called: the method and the path without its query.
    pub(crate) fn calls(&self) -> BTreeSet<String> {
        self.all().into_iter().collect()
    }

    /// Returns every call, in order.
    pub(crate) fn all(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

/// A command keeps no connection, so the first line of each is its only call.
fn pass(mut caller: TcpStream, server: &str, calls: &Mutex<Vec<String>>) {
    let Ok(mut server) = TcpStream::connect(server) else { return };
    let mut first = vec![0; 64 * 1024];
    let Ok(count) = caller.read(&mut first) else { return };
    let text = String::from_utf8_lossy(&first[..count]);
    let mut words = text.split(' ');
    if let (Some(method), Some(path)) = (words.next(), words.next()) {
        calls.lock().unwrap().push(format!("{method} {}", path.split('?').next().unwrap()));
    }
    if server.write_all(&first[..count]).is_err() {
        return;
    }
    let (mut from_caller, mut to_server) = (caller.try_clone().unwrap(), server.try_clone().unwrap());
    thread::spawn(move || {
        // Either side may go away at any time, and then so does the other.
        let _ = io::copy(&mut from_caller, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    });
    let _ = io::copy(&mut server, &mut caller);
    let _ = caller.shutdown(Shutdown::Both);
}
