//! A server on loopback that plays GitHub: it keeps every request and answers as the test says.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A request as it came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The headers, their names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

/// What the server does about a request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// Answers with a head, without the protocol's name, and a body.
    Told(String, String),
    /// Says nothing until the caller has gone.
    Silence,
}

/// Answers well.
pub(crate) fn good(body: &str) -> Reply {
    Reply::Told("200 OK".to_string(), body.to_string())
}

/// Answers with a status that is not good.
pub(crate) fn bad(status: u16) -> Reply {
    Reply::Told(format!("{status} No"), "{}".to_string())
}

pub(crate) struct PlayedGitHub {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    ended: Arc<AtomicBool>,
}

impl PlayedGitHub {
    pub(crate) fn start(play: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let ended = Arc::new(AtomicBool::new(false));
        let play = Arc::new(play);
        let (kept, over) = (requests.clone(), ended.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let (stream, kept, play) = (stream.unwrap(), kept.clone(), play.clone());
                std::thread::spawn(move || serve(stream, &kept, play.as_ref()));
            }
        });
        Self { address, requests, ended }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far, in the order they came.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for PlayedGitHub {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(stream: TcpStream, kept: &Mutex<Vec<Request>>, play: &dyn Fn(&Request) -> Reply) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        kept.lock().unwrap().push(request.clone());
        let (head, body) = match play(&request) {
            Reply::Told(head, body) => (head, body),
            Reply::Silence => {
                let _ = reader.read_to_end(&mut Vec::new());
                return;
            }
        };
        let length = body.len();
        let answer = format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\n\r\n{body}");
        if reader.get_mut().write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let mut words = line.split_whitespace().map(str::to_string);
    let mut request = Request { method: words.next()?, path: words.next()?, ..Request::default() };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        request.headers.insert(name.to_ascii_lowercase(), value.trim().to_string());
    }
    let length = request.headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    request.body = String::from_utf8(body).ok()?;
    Some(request)
}
