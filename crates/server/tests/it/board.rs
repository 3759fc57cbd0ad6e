//! A client of the map streams. It keeps its document twice: by the letter of RFC 6902, and as the older board
//! does, which keeps the last operation for each path of a frame and ignores what does not fit.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Error, Message};

use crate::patient::{Patient, Socket};

/// How long to wait for something that should come at once, on a machine that is busy.
const SOON: Duration = Duration::from_secs(120);

/// What a connection has been told, by both rules.
#[derive(Debug, Clone)]
pub(crate) struct Board {
    pub(crate) exact: Value,
    pub(crate) lenient: Value,
    /// The first frame of a connection is the whole map.
    has_whole: bool,
    /// What was against the rules.
    problem: Option<String>,
}

impl Board {
    pub(crate) fn new(map: &str) -> Self {
        let empty = json!({ map: {} });
        Self { exact: empty.clone(), lenient: empty, has_whole: false, problem: None }
    }

    /// Applies a frame by both rules.
    pub(crate) fn apply(&mut self, frame: &Value) {
        let Some(patch) = frame["JsonPatch"].as_array() else {
            self.problem.get_or_insert(format!("no patch: {frame}"));
            return;
        };
        let path = |operation: &Value| operation["path"].as_str().unwrap_or_default().to_string();
        let mut paths: Vec<String> = patch.iter().map(path).collect();
        paths.sort();
        paths.dedup();
        if paths.len() != patch.len() {
            self.problem.get_or_insert(format!("two operations for one path: {frame}"));
        }
        let is_whole =
            patch.len() == 1 && patch[0]["op"] == "replace" && path(&patch[0])[1..].find('/').is_none();
        if !self.has_whole && !is_whole {
            self.problem.get_or_insert(format!("the first frame is not the whole map: {frame}"));
        }
        self.has_whole = true;
        for operation in patch {
            if let Err(problem) = apply(&mut self.exact, operation) {
                self.problem.get_or_insert(problem);
            }
            // What does not fit is ignored.
            let _ = apply(&mut self.lenient, operation);
        }
    }

    /// Returns the document, which must be the same by both rules.
    pub(crate) fn document(&self) -> &Value {
        assert_eq!(self.problem, None, "the stream broke its rules");
        assert_eq!(self.exact, self.lenient, "the two rules give different documents");
        &self.exact
    }
}

fn apply(document: &mut Value, operation: &Value) -> Result<(), String> {
    let refused = |why: &str| format!("{why}: {operation}");
    let path = operation["path"].as_str().ok_or_else(|| refused("no path"))?;
    let mut steps: Vec<String> =
        path.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    let last = steps.pop().ok_or_else(|| refused("an empty path"))?;
    let mut parent = document;
    for step in steps {
        parent = parent.get_mut(&step).ok_or_else(|| refused("no parent"))?;
    }
    let parent = parent.as_object_mut().ok_or_else(|| refused("the parent is no object"))?;
    let had = parent.contains_key(&last);
    match operation["op"].as_str() {
        Some("add") => parent.insert(last, operation["value"].clone()),
        Some("replace") if had => parent.insert(last, operation["value"].clone()),
        Some("remove") if had => parent.remove(&last),
        _ => return Err(refused("nothing is there")),
    };
    Ok(())
}

/// Keeps a board up to date by a stream, in a thread; connects again whenever the connection ends.
pub(crate) struct Follower {
    board: Arc<Mutex<Board>>,
    paused: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    /// Follows a path of the server at whatever address it has now.
    pub(crate) fn start(
        map: &str,
        path: &str,
        address: impl Fn() -> Option<SocketAddr> + Send + 'static,
    ) -> Self {
        let board = Arc::new(Mutex::new(Board::new(map)));
        let (paused, over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let thread = std::thread::spawn({
            let (board, paused, over, path) = (board.clone(), paused.clone(), over.clone(), path.to_string());
            move || {
                while !over.load(Ordering::SeqCst) {
                    if let Some(mut socket) = address().and_then(|address| connect(address, &path)) {
                        board.lock().unwrap().has_whole = false;
                        follow(&mut socket, &board, &paused, &over);
                    }
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
        });
        Self { board, paused, over, thread: Some(thread) }
    }

    pub(crate) fn board(&self) -> Board {
        self.board.lock().unwrap().clone()
    }

    /// Stops reading; the connection stays.
    pub(crate) fn pause(&self) {
        self.paused.store(true, Ordering::SeqCst);
    }

    pub(crate) fn go_on(&self) {
        self.paused.store(false, Ordering::SeqCst);
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Opens a stream; none when the server is not there.
pub(crate) fn connect(address: SocketAddr, path: &str) -> Option<Socket> {
    try_connect(address, path).ok()
}

fn try_connect(address: SocketAddr, path: &str) -> Result<Socket, Box<dyn std::error::Error>> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(SOON))?;
    let request = format!("ws://{address}{path}").into_client_request()?;
    let (socket, _) = tungstenite::client(request, Patient(stream)).map_err(|error| error.to_string())?;
    socket.get_ref().0.set_read_timeout(Some(Duration::from_millis(50)))?;
    Ok(socket)
}

/// Reads one frame; none when nothing came within a moment.
pub(crate) fn frame(socket: &mut Socket) -> Result<Option<Value>, Error> {
    match socket.read() {
        Ok(Message::Text(text)) => Ok(Some(serde_json::from_str(&text).unwrap_or(Value::Null))),
        Ok(Message::Close(_)) => Err(Error::ConnectionClosed),
        Ok(_) => Ok(None),
        Err(Error::Io(error)) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Reads what a new connection is told first: the whole document.
pub(crate) fn whole(map: &str, address: SocketAddr, path: &str) -> Value {
    let begun = Instant::now();
    let mut socket =
        try_connect(address, path).unwrap_or_else(|error| panic!("no WebSocket at {path}: {error}"));
    loop {
        if let Some(frame) = frame(&mut socket).unwrap() {
            let mut board = Board::new(map);
            board.apply(&frame);
            return board.document().clone();
        }
        assert!(begun.elapsed() < SOON, "no snapshot came from {path}");
    }
}

fn follow(socket: &mut Socket, board: &Mutex<Board>, paused: &AtomicBool, over: &AtomicBool) {
    while !over.load(Ordering::SeqCst) {
        if paused.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
            continue;
        }
        match frame(socket) {
            Ok(Some(frame)) => board.lock().unwrap().apply(&frame),
            Ok(None) => {}
            Err(_) => return,
        }
    }
}

/// The seed of a random walk: the same in every run, so that what passed passes again. `FORGE_TEST_SEED` gives another one,
/// and `FORGE_TEST_SEED=random` one that no run had before.
pub(crate) fn seed() -> u64 {
    let seed = match std::env::var("FORGE_TEST_SEED").as_deref() {
        Err(_) => 20_261_116,
        Ok("random") => std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64,
        Ok(given) => given.parse().expect("FORGE_TEST_SEED is a number or `random`"),
    };
    println!("the walk's seed: FORGE_TEST_SEED={seed}");
    seed
}

/// Numbers that look random and are the same for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// Draws a number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides.max(1)
    }
}
