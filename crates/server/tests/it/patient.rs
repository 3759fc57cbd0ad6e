//! A connection that signals do not disturb: agents that end near a test interrupt its reads.

use std::io::{Read, Write};
use std::net::TcpStream;

use tungstenite::WebSocket;

/// A WebSocket on a connection that signals do not disturb.
pub(crate) type Socket = WebSocket<Patient>;

/// A connection whose reads go on after a signal: the kernel does not resume one that has a time limit.
pub(crate) struct Patient(pub(crate) TcpStream);

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}
