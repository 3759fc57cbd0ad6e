//! Who is at the other end of a connection, asked of the kernel once, when the connection is accepted.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Peer {
    /// A process on this machine, of the user who runs the server.
    SameUser,
    /// A process on this machine, of another user.
    OtherUser(u32),
    /// An address: another machine's, or ours where the kernel did not tell whose process it is.
    Address(IpAddr),
}

impl Peer {
    /// Finds out who connected from `remote` to our socket `local`.
    pub(crate) fn of(remote: SocketAddr, local: SocketAddr) -> Self {
        let address = remote.ip().to_canonical();
        if !address.is_loopback() {
            // Beyond loopback nobody is the owner without the token, but another user of this machine is told apart.
            let is_own = address == local.ip().to_canonical();
            return match is_own.then(|| os::user(remote, local)).flatten() {
                Some(os::User::Other(user)) => Peer::OtherUser(user),
                Some(os::User::Same) | None => Peer::Address(network(address)),
            };
        }
        match os::user(remote, local) {
            Some(os::User::Same) => Peer::SameUser,
            Some(os::User::Other(user)) => Peer::OtherUser(user),
            None => Peer::Address(address),
        }
    }

    /// Says whether it is on this machine.
    pub(crate) fn is_here(self) -> bool {
        match self {
            Peer::SameUser | Peer::OtherUser(_) => true,
            Peer::Address(address) => address.is_loopback(),
        }
    }

    /// Who it is when somebody else may stand behind it: a proxy's connection is the proxy's user's.
    pub(super) fn seen_through_a_proxy(self) -> Self {
        match self {
            Peer::SameUser => Peer::Address(Ipv6Addr::LOCALHOST.into()),
            other => other,
        }
    }
}

/// One machine has many addresses of the sixth version; what it is given is a network of them.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(target_os = "linux")]
mod os {
    //! One question to the kernel's socket diagnostics about one exact pair of addresses.

    use std::net::{IpAddr, SocketAddr};

    use rustix::io::Errno;
    use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
    use rustix::net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
    };

    /// nlmsghdr (16 bytes) and inet_diag_req_v2 (56 bytes).
    const QUESTION: usize = 72;
    /// nlmsghdr and inet_diag_msg (72 bytes); attributes may follow.
    const ANSWER: usize = 88;
    const SOCK_DIAG_BY_FAMILY: u16 = 20;
    const NLM_F_REQUEST: u16 = 1;
    const IPPROTO_TCP: u8 = 6;
    const ESTABLISHED: u8 = 1;
    /// What the kernel shows for users it cannot name here; it may be anyone.
    const OVERFLOW_UID: u32 = 65534;

    /// Whose process it is.
    pub(super) enum User {
        Same,
        Other(u32),
    }

    pub(super) fn user(remote: SocketAddr, local: SocketAddr) -> Option<User> {
        let ours = rustix::process::geteuid().as_raw();
        match owner(remote, local) {
            Ok(Some(OVERFLOW_UID) | None) => None,
            Ok(Some(uid)) if uid == ours => Some(User::Same),
            Ok(Some(uid)) => Some(User::Other(uid)),
            Err(errno) => {
                tracing::warn!(
                    "could not ask the kernel who connected ({errno}); the caller needs the token"
                );
                None
            }
        }
    }

    /// Returns the user who holds the client's end of a connection, when the connection stands.
    fn owner(remote: SocketAddr, local: SocketAddr) -> Result<Option<u32>, Errno> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(SOCK_DIAG))?;
        let question = question(remote, local);
        sendto(&socket, &question, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        let mut answer = [0u8; 1024];
        let (_, length) = recv(&socket, &mut answer[..], RecvFlags::DONTWAIT)?;
        Ok(read(answer.get(..length).unwrap_or_default(), local.port()))
    }

    fn question(remote: SocketAddr, local: SocketAddr) -> [u8; QUESTION] {
        // A client of a dual-stack listener is an IPv4 one under its mapped address.
        let (client, server) = (remote.ip().to_canonical(), local.ip().to_canonical());
        let family = if client.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let mut bytes = [0u8; QUESTION];
        bytes[0..4].copy_from_slice(&(QUESTION as u32).to_ne_bytes());
        bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        bytes[6..8].copy_from_slice(&NLM_F_REQUEST.to_ne_bytes());
        bytes[16] = family.as_raw() as u8;
        bytes[17] = IPPROTO_TCP;
        bytes[20..24].copy_from_slice(&u32::MAX.to_ne_bytes());
        bytes[24..26].copy_from_slice(&remote.port().to_be_bytes());
        bytes[26..28].copy_from_slice(&local.port().to_be_bytes());
        write_address(&mut bytes[28..44], client);
        write_address(&mut bytes[44..60], server);
        bytes[64..72].fill(0xff);
        bytes
    }

    fn write_address(bytes: &mut [u8], address: IpAddr) {
        match address {
            IpAddr::V4(address) => bytes[..4].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => bytes.copy_from_slice(&address.octets()),
        }
    }

    /// Each condition is needed: a closed or waiting connection is shown as user 0 without an inode, and
    /// where no connection is, the kernel answers with a listener on that port.
    fn read(answer: &[u8], port: u16) -> Option<u32> {
        if answer.len() < ANSWER {
            return None;
        }
        let word =
            |at: usize| u32::from_ne_bytes([answer[at], answer[at + 1], answer[at + 2], answer[at + 3]]);
        let kind = u16::from_ne_bytes([answer[4], answer[5]]);
        let state = answer[17];
        let to = u16::from_be_bytes([answer[22], answer[23]]);
        let (uid, inode) = (word(80), word(84));
        let stands = kind == SOCK_DIAG_BY_FAMILY && state == ESTABLISHED && to == port && inode != 0;
        stands.then_some(uid)
    }

    #[cfg(test)]
    mod tests {
        use std::net::{TcpListener, TcpStream};

        use super::*;

        fn connection(address: &str) -> (TcpStream, TcpStream) {
            let listener = TcpListener::bind((address, 0)).unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (client, listener.accept().unwrap().0)
        }

        #[test]
        fn a_connection_of_our_own_is_ours() {
            for address in ["127.0.0.1", "::1"] {
                let (client, server) = connection(address);
                let (remote, local) = (client.local_addr().unwrap(), server.local_addr().unwrap());
                assert_eq!(owner(remote, local).unwrap(), Some(rustix::process::geteuid().as_raw()));
            }
        }

        #[test]
        fn a_client_that_has_gone_is_nobody() {
            let (client, server) = connection("127.0.0.1");
            let (remote, local) = (client.local_addr().unwrap(), server.local_addr().unwrap());
            drop(client);
            assert_eq!(owner(remote, local).unwrap(), None);
        }

        #[test]
        fn a_listener_on_the_clients_port_is_not_taken_for_the_client() {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let other = TcpListener::bind("127.0.0.1:0").unwrap();
            let (remote, local) = (listener.local_addr().unwrap(), other.local_addr().unwrap());
            assert_eq!(owner(remote, local).unwrap(), None);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod os {
    //! Elsewhere the kernel does not tell without unsafe calls, so that the token is always needed.

    use std::net::SocketAddr;

    /// Whose process it is, which is never known here.
    pub(super) enum User {
        Same,
        Other(u32),
    }

    pub(super) fn user(_: SocketAddr, _: SocketAddr) -> Option<User> {
        None
    }
}
