//! The sessions of MCP clients: how many there may be, and which one goes when there are too many.
//!
//! Few clients end their sessions, and an agent may open one after the other. So a new session takes the place of the one
//! that was used least recently; one with an open stream is in use and stays. A client whose session went is told 404,
//! and says hello again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};

use crate::access::Caller;

/// How many sessions there may be.
const MOST: usize = 256;

/// How many of them the token of one attempt may have: its agent's own, and those of its helpers.
const MOST_OF_ATTEMPT: usize = 4;

/// How long a session that nobody uses is kept.
const IDLE: Duration = Duration::from_secs(2 * 60 * 60);

/// How long the end of an answer is kept for a client whose connection broke while it was sent.
const KEPT_ANSWERS: Duration = Duration::from_secs(5);

tokio::task_local! {
    /// Whose request is being served: the library does not say when it opens a session.
    pub(in crate::mcp) static CALLER: Caller;
}

/// All sessions.
#[derive(Debug)]
pub(crate) struct Sessions {
    local: LocalSessionManager,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    sessions: HashMap<SessionId, Session>,
    /// Counts uses, so that it is known which was longest ago.
    uses: u64,
}

#[derive(Debug)]
struct Session {
    caller: Caller,
    used: u64,
    /// How many streams of answers are open.
    streams: Arc<AtomicUsize>,
}

/// Why a session is not opened or not served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("all {MOST} sessions are in use; end one, or try again later")]
    Full,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(super) fn new() -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(IDLE);
        local.session_config.completed_cache_ttl = KEPT_ANSWERS;
        local.session_config.sse_retry = None;
        Self { local, known: Mutex::default() }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the sessions that must go for a new one.
    async fn make_room(&self, new: &SessionId, caller: Caller) -> Result<(), Error> {
        let (going, has_room) = self.known().take_in(new, caller);
        for id in going {
            self.local.close_session(&id).await?;
        }
        if has_room {
            return Ok(());
        }
        self.local.close_session(new).await?;
        Err(Error::Full)
    }

    /// Notes that a session is used, and returns the count of its open streams.
    fn used(&self, id: &SessionId) -> Arc<AtomicUsize> {
        self.known().used(id)
    }
}

impl Known {
    /// Takes a new session in. Returns the sessions that go for it, and whether it may stay itself.
    fn take_in(&mut self, new: &SessionId, caller: Caller) -> (Vec<SessionId>, bool) {
        let mut going = Vec::new();
        let of_caller = self.sessions.values().filter(|session| session.caller == caller).count();
        let mut has_room = true;
        if matches!(caller, Caller::Attempt(_)) && of_caller >= MOST_OF_ATTEMPT {
            has_room &= self.let_go(|session| session.caller == caller, &mut going);
        }
        if has_room && self.sessions.len() >= MOST {
            has_room &= self.let_go(|_| true, &mut going);
        }
        if has_room {
            self.uses += 1;
            let session = Session { caller, used: self.uses, streams: Arc::default() };
            self.sessions.insert(new.clone(), session);
        }
        (going, has_room)
    }

    /// Forgets the session that was used least recently among some; false when all of them are in use.
    fn let_go(&mut self, among: impl Fn(&Session) -> bool, going: &mut Vec<SessionId>) -> bool {
        let idle = self
            .sessions
            .iter()
            .filter(|(_, session)| among(session) && session.streams.load(Ordering::SeqCst) == 0);
        let Some(id) = idle.min_by_key(|(_, session)| session.used).map(|(id, _)| id.clone()) else {
            return false;
        };
        self.sessions.remove(&id);
        going.push(id);
        true
    }

    fn used(&mut self, id: &SessionId) -> Arc<AtomicUsize> {
        self.uses += 1;
        let uses = self.uses;
        let session = self.sessions.get_mut(id);
        session
            .map(|session| {
                session.used = uses;
                session.streams.clone()
            })
            .unwrap_or_default()
    }
}

/// An open stream of answers.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn of(streams: Arc<AtomicUsize>) -> Self {
        streams.fetch_add(1, Ordering::SeqCst);
        Self(streams)
    }

    /// Counts a stream as open until it is dropped.
    fn counted<S: Stream<Item = ServerSseMessage> + Send + Sync + 'static>(
        self,
        stream: S,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
        stream.map(move |message| {
            let _open = &self;
            message
        })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl SessionManager for Sessions {
    type Error = Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Error> {
        let (id, transport) = self.local.create_session().await?;
        // Without a caller it was no request that came by the server's rules; then it is bounded as the user's are.
        let caller = CALLER.try_with(|caller| *caller).unwrap_or(Caller::Owner);
        self.make_room(&id, caller).await?;
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Error> {
        // Until it is answered the session must not go.
        let _open = Open::of(self.used(id));
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Error> {
        self.used(id);
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Error> {
        self.known().sessions.remove(id);
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        let open = Open::of(self.used(id));
        Ok(open.counted(self.local.create_stream(id, message).await?))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Error> {
        self.used(id);
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        let open = Open::of(self.used(id));
        Ok(open.counted(self.local.create_standalone_stream(id).await?))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        let open = Open::of(self.used(id));
        Ok(open.counted(self.local.resume(id, last_event_id).await?))
    }
}

#[cfg(test)]
mod tests {
    use forge_model::AttemptId;

    use super::*;

    fn id(number: usize) -> SessionId {
        number.to_string().into()
    }

    #[test]
    fn the_session_that_was_used_least_recently_goes_and_one_in_use_stays() {
        let mut known = Known::default();
        for number in 0..MOST {
            assert_eq!(known.take_in(&id(number), Caller::Owner), (Vec::new(), true));
        }
        let _open = Open::of(known.used(&id(1)));
        for number in 0..MOST {
            if number != 2 && number != 1 {
                known.used(&id(number));
            }
        }
        known.sessions.get_mut(&id(1)).unwrap().used = 0;
        assert_eq!(known.take_in(&id(MOST), Caller::Owner), (vec![id(2)], true));
        let open: Vec<Open> =
            known.sessions.values().map(|session| Open::of(session.streams.clone())).collect();
        assert_eq!(known.take_in(&id(MOST + 1), Caller::Owner), (Vec::new(), false));
        drop(open);
        assert_eq!(known.sessions.len(), MOST);
    }

    #[test]
    fn the_token_of_an_attempt_has_few_sessions_and_takes_nobody_elses() {
        let mut known = Known::default();
        known.take_in(&id(0), Caller::Owner);
        let attempt = Caller::Attempt(AttemptId::random());
        for number in 1..=MOST_OF_ATTEMPT {
            assert_eq!(known.take_in(&id(number), attempt), (Vec::new(), true));
        }
        assert_eq!(known.take_in(&id(100), attempt), (vec![id(1)], true));
        assert_eq!(known.sessions.len(), 1 + MOST_OF_ATTEMPT);
    }
}
