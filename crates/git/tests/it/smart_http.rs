//! A server on loopback that serves real bare repositories by `git http-backend`, and asks for a login if it is told
//! to.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Whom it lets in: by the header that they must send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Door {
    Open,
    /// The value of `Authorization`.
    Locked(String),
}

/// A request as it came.
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path with its query.
    pub(crate) target: String,
    /// The headers, their names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// Answers what is no business of git: with a head, without the protocol's name, and a body.
pub(crate) type Besides = dyn Fn(&Request) -> Option<(String, String)> + Send + Sync;

pub(crate) struct SmartHttp {
    address: SocketAddr,
    door: Arc<Mutex<Door>>,
    /// What callers of git sent as `Authorization`, in order.
    seen: Arc<Mutex<Vec<Option<String>>>>,
    ended: Arc<AtomicBool>,
}

impl SmartHttp {
    /// Serves the repositories below a directory, and whatever else it is told to.
    pub(crate) fn start(
        root: &Path,
        door: Door,
        besides: impl Fn(&Request) -> Option<(String, String)> + Send + Sync + 'static,
    ) -> Self {
        let besides: Arc<Besides> = Arc::new(besides);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (door, seen) = (Arc::new(Mutex::new(door)), Arc::new(Mutex::new(Vec::new())));
        let ended = Arc::new(AtomicBool::new(false));
        let (at, kept, over, root) = (door.clone(), seen.clone(), ended.clone(), root.to_path_buf());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let (stream, root, at, kept) = (stream.unwrap(), root.clone(), at.clone(), kept.clone());
                let besides = besides.clone();
                // A caller who breaks off is nobody's fault here.
                std::thread::spawn(move || drop(serve(stream, &root, &at, &kept, besides.as_ref())));
            }
        });
        Self { address, door, seen, ended }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn set(&self, door: Door) {
        *self.door.lock().unwrap() = door;
    }

    pub(crate) fn seen(&self) -> Vec<Option<String>> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for SmartHttp {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(
    stream: TcpStream,
    root: &Path,
    door: &Mutex<Door>,
    seen: &Mutex<Vec<Option<String>>>,
    besides: &Besides,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_string);
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(()) };
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_string());
    }
    if headers.contains_key("expect") {
        reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let body = body(&mut reader, &headers)?;
    let request = Request { method, target, headers, body };
    if let Some((head, told)) = besides(&request) {
        let length = told.len();
        let head = format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
        return reader.get_mut().write_all(format!("{head}{told}").as_bytes());
    }
    let Request { method, target, headers, body } = request;
    let sent = headers.get("authorization").cloned();
    seen.lock().unwrap().push(sent.clone());
    let door = door.lock().unwrap().clone();
    let welcome = match &door {
        Door::Open => true,
        Door::Locked(wanted) => sent.as_ref() == Some(wanted),
    };
    if !welcome {
        let refused = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"here\"\r\n\
            Content-Length: 0\r\nConnection: close\r\n\r\n";
        return reader.get_mut().write_all(refused.as_bytes());
    }
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut command = Command::new("git");
    command
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", &method)
        .env("REMOTE_USER", "person")
        .env("REMOTE_ADDR", "127.0.0.1")
        .env("CONTENT_LENGTH", body.len().to_string());
    for (header, variable) in [
        ("content-type", "CONTENT_TYPE"),
        ("content-encoding", "HTTP_CONTENT_ENCODING"),
        ("git-protocol", "GIT_PROTOCOL"),
    ] {
        if let Some(value) = headers.get(header) {
            command.env(variable, value);
        }
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut pipe = child.stdin.take().unwrap();
    let writing = std::thread::spawn(move || drop(pipe.write_all(&body)));
    let output = child.wait_with_output()?;
    writing.join().unwrap();
    let split = output.stdout.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(output.stdout.len());
    let head = String::from_utf8_lossy(&output.stdout[..split]).into_owned();
    let told = output.stdout.get(split + 4..).unwrap_or_default();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let kept: Vec<&str> = head.lines().filter(|line| !line.starts_with("Status: ")).collect();
    let stream = reader.get_mut();
    write!(stream, "HTTP/1.1 {status}\r\n{}\r\n", kept.join("\r\n"))?;
    write!(stream, "Content-Length: {}\r\nConnection: close\r\n\r\n", told.len())?;
    stream.write_all(told)
}

fn body(reader: &mut BufReader<TcpStream>, headers: &BTreeMap<String, String>) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if headers.get("transfer-encoding").is_some_and(|how| how == "chunked") {
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim(), 16).unwrap_or(0);
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk)?;
            if size == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    body.resize(length, 0);
    reader.read_exact(&mut body)?;
    Ok(body)
}
