//! Nothing connects outward: every address that any process of Forge speaks to is this machine's loopback.

use std::fs;
use std::net::{IpAddr, Ipv6Addr};

use crate::world::{Running, World};

/// Serves, runs an attempt that edits, runs a command and asks, answers it, follows up, and stops.
const STORY: &str = r#"
set -eu
ip link set lo up
test "$(ip -brief link | wc -l)" = 1
"$FORGE" serve --port 0 &
server=$!
until "$FORGE" status >/dev/null 2>&1; do sleep 0.05; done
id=$("$FORGE" run --agent SCRIPTED --detach "say hello
edit file.txt text
run ls
ask go on?")
until "$FORGE" answer "$id" yes 2>/dev/null; do sleep 0.05; done
"$FORGE" wait "$id"
"$FORGE" follow-up "$id" "say once more"
"$FORGE" wait "$id"
"$FORGE" logs "$id"
"$FORGE" serve --stop --all
wait "$server" || true
echo the story is told
"#;

#[test]
fn a_server_and_an_attempt_speak_to_nobody_but_this_machine() {
    let world = World::new();
    let trace = world.path("trace");
    let mut command = world.program("unshare");
    command.args(["--net", "strace", "--follow-forks", "--trace=%network", "--output"]);
    command.arg(&trace).args(["sh", "-c", STORY]);
    command.env("FORGE", env!("CARGO_BIN_EXE_forge"));
    let told = Running::start(command).end();
    assert!(
        told.stdout.contains("the story is told"),
        "this test needs root, unshare, strace and ip: {told:?}"
    );

    let trace = fs::read_to_string(&trace).unwrap();
    let spoken: Vec<(&str, IpAddr)> = trace.lines().filter_map(|line| Some((line, address(line)?))).collect();
    assert!(spoken.iter().any(|(line, _)| line.contains("connect(")), "the trace shows no client at all");
    for (line, address) in spoken {
        assert!(is_loopback(address), "somebody spoke to {address}: {line}");
    }
}

/// The address of a call that reaches out: one that connects, or sends to an address of its own.
fn address(line: &str) -> Option<IpAddr> {
    let reaches_out = ["connect(", "sendto(", "sendmsg(", "sendmmsg("].iter().any(|call| line.contains(call));
    if !reaches_out {
        return None;
    }
    let after = |mark: &str| Some(line.split_once(mark)?.1.split_once('"')?.0.to_string());
    let text = after("inet_addr(\"").or_else(|| after("inet_pton(AF_INET6, \""))?;
    Some(text.parse().unwrap_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED)))
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

#[test]
fn the_trace_is_read_rightly() {
    let out =
        r#"7 connect(3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("8.8.8.8")}, 16) = 0"#;
    assert!(!is_loopback(address(out).unwrap()));
    let six = r#"7 connect(3, {sa_family=AF_INET6, inet_pton(AF_INET6, "::1", &sin6_addr)}, 28) = 0"#;
    assert!(is_loopback(address(six).unwrap()));
    let unix = r#"7 connect(3, {sa_family=AF_UNIX, sun_path="/proc/self/fd/5/ctl"}, 110) = 0"#;
    assert!(address(unix).is_none());
}
