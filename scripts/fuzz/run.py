"""Fuzzes a server of its own by its OpenAPI document, and says what came of it.

It wants to be run by `scripts/fuzz.sh`: as a user without any privilege, where there is no network but loopback, in a
directory of its own. It refuses to run anywhere else.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path

import github
from seed import Forge, eventually, seed

# How many random requests an operation is called with, a good and a bad one each. A count and not a time, so that a
# faster machine asks nothing that nobody has asked before: a run that passed passes again.
EXAMPLES = 60
# For how long more and more of them are made instead, where somebody looks for what is not known yet.
SECONDS = int(os.environ.get("FUZZ_SECONDS", "0"))
# After how long a run that hangs is ended.
MOST = SECONDS + 300
# At least this share of operations must see an answer that is good.
SHARE = 60

# Not among them: `positive_data_acceptance`, for no schema says which branches, files and states there are, and
# `ignored_auth`, for the server's own user needs no token here. What tokens reach is tested in access and matrix.
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "missing_required_header",
    "negative_data_rejection",
]


def main():
    forge, place = Path(sys.argv[1]), Path(sys.argv[2])
    alone()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("the time is up"))
    number = int(os.environ.get("FUZZ_SEED", "20261116"))
    home = place / "home"
    home.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "FORGE_HOME": str(place / "data"),
        "TMPDIR": str(place / "tmp"),
        "GITHUB_CLIENT_ID": "fuzz",
        "GITHUB_BASE_URL": github.start(),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    (place / "tmp").mkdir()
    log = place / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen([forge, "serve", "--port", "0"], env=environment, stdin=subprocess.DEVNULL,
                                  stdout=out, stderr=out)
    try:
        url = eventually("the server answers", lambda: address(place / "data" / "server.json", server, log))
        print(f"the server is at {url}, as user {os.getuid()}; seed {number}", flush=True)
        pool, _ = seed(Forge(url), home)
        pool["token"] = [(place / "data" / "token").read_text().strip()]
        with urllib.request.urlopen(f"{url}/api/openapi.json", timeout=30) as answer:
            (place / "openapi.json").write_bytes(answer.read())
        profiles = json.loads(Forge(url).call("GET", "/api/profiles")["content"])
        world = {"profiles": profiles, "url": url, "home": str(home), "seed": number, "pool": pool}
        (place / "world.json").write_text(json.dumps(world))
        ended = fuzz(url, place, number, environment)
        healthy = server.poll() is None and is_healthy(url)
    finally:
        # Agents outlive their server by design, so all are ended.
        subprocess.run([forge, "serve", "--stop", "--all"], env=environment, stdout=subprocess.DEVNULL, timeout=60)
        server.wait(timeout=60)
        end_rest(place / "data" / "bin")
    good, bad = report(place, ended)
    panics = [line for line in log.read_text(errors="replace").splitlines() if "panicked" in line]
    for line in panics:
        print(f"FAILED: the server's log tells of a panic: {line}")
    if not healthy:
        print("FAILED: the server is not healthy at the end")
    bad += len(panics) + (not healthy)
    print(f"{good} passed, {bad} failed")
    sys.exit(bad > 0)


def end_rest(programs):
    """Ends what still runs of this server's own copies of its program, and tells of it."""
    left = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "exe").readlink().parent == programs:
                left.append(int(process.name))
                os.kill(left[-1], signal.SIGKILL)
        except OSError:
            # It is another's, or has ended by itself.
            continue
    if left:
        print(f"{len(left)} processes of agents outlived `forge serve --stop --all` and were killed")


def alone():
    """Refuses to go on with a privilege, or where anything but loopback can be reached."""
    networks = {line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]}
    status = Path("/proc/self/status").read_text()
    capable = int(re.search(r"^CapEff:\s*(\w+)$", status, re.MULTILINE)[1], 16)
    if networks != {"lo"} or os.getuid() == 0 or capable:
        sys.exit(f"run scripts/fuzz.sh: there are networks {sorted(networks)}, user {os.getuid()}, rights {capable:x}")


def address(file, server, log):
    if server.poll() is not None:
        raise RuntimeError(f"the server ended: {log.read_text(errors='replace')}")
    if not file.exists():
        return None
    url = json.loads(file.read_text())["url"]
    return url if is_healthy(url) else None


def is_healthy(url):
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=10) as answer:
            return answer.status == 200
    except OSError:
        return False


def fuzz(url, place, number, environment):
    """Calls every operation with every kind of value, then with random ones; returns whether both came to their
    end."""
    ended = schemathesis(url, place, number, environment, "examples,coverage")
    long = [f"--max-time={SECONDS}"] if SECONDS else []
    return schemathesis(url, place, number, environment, "fuzzing", f"--max-examples={EXAMPLES}", *long) and ended


def schemathesis(url, place, number, environment, phases, *more):
    environment = {
        **environment,
        "SCHEMATHESIS_HOOKS": "hooks",
        "PYTHONPATH": str(Path(__file__).parent),
        "FUZZ_WORLD": str(place / "world.json"),
        "FUZZ_RECORD": str(place / "record.jsonl"),
    }
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", str(place / "openapi.json"), f"--url={url}",
        f"--phases={phases}", f"--checks={','.join(CHECKS)}", f"--seed={number}",
        "--continue-on-failure", "--no-shrink", "--generation-database=none", "--workers=1",
        "--suppress-health-check=all", "--warnings=off", "--no-color", "--request-timeout=30", *more,
    ]
    begun = time.monotonic()
    with (place / "schemathesis.log").open("ab") as out:
        run = subprocess.Popen(command, env=environment, cwd=place, stdout=out, stderr=out)
        try:
            status = run.wait(timeout=MOST)
        except subprocess.TimeoutExpired:
            run.kill()
            run.wait()
            status = None
    print(f"schemathesis took {time.monotonic() - begun:.0f} s for {phases} and ended with {status}", flush=True)
    # 1 means that there are findings, which the record tells of as well.
    return status in (0, 1)


def report(place, ended):
    """Prints what each operation answered and each finding; returns how many operations have none and some."""
    document = json.loads((place / "openapi.json").read_text())
    wanted = [
        f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if "x-forge-stream" not in operation
    ]
    statuses, good, findings, refusals, tolerated = {}, set(), {}, {}, Counter()
    for line in (place / "record.jsonl").read_text().splitlines():
        call = json.loads(line)
        if "finding" in call:
            findings.setdefault(call["operation"], {}).setdefault((call["finding"], call["status"]), []).append(call)
        elif "tolerated" in call:
            tolerated[f"{call['operation']}: {call['tolerated']}"] += 1
        elif call["own"]:
            statuses.setdefault(call["operation"], Counter())[call["status"]] += 1
            if call["good"]:
                good.add(call["operation"])
            if call["why"]:
                refusals.setdefault(call["operation"], Counter())[call["why"]] += 1
    for operation in wanted:
        seen = ", ".join(f"{status} x {n}" for status, n in sorted(statuses.get(operation, {}).items()))
        print(f"  {'2xx' if operation in good else '   '} {operation}: {seen or 'never called'}")
        for why, n in refusals.get(operation, Counter()).most_common(2) if operation not in good else ():
            print(f"          {n} x {why}")
    for operation, kinds in findings.items():
        for (finding, status), calls in kinds.items():
            print(f"\nFINDING of {operation}, {len(calls)} times with {status}: {finding}")
            print(f"    {calls[0]['curl'][:1500]}\n    {calls[0]['answer'][:600]}")
    for what, n in sorted(tolerated.items()):
        print(f"  taken by a rule of leniency, {n} x {what}")
    calls = sum(sum(seen.values()) for seen in statuses.values())
    bad = len(findings)
    missing = [operation for operation in wanted if operation not in statuses]
    share = 100 * len(good & set(wanted)) / len(wanted)
    print(f"\n{calls} calls; {len(good & set(wanted))} of {len(wanted)} operations saw a 2xx: {share:.0f} %, at least {SHARE} %")
    if share < SHARE:
        print("FAILED: too few operations saw a 2xx")
        bad += 1
    if missing:
        print(f"FAILED: never called: {', '.join(missing)}")
        bad += len(missing)
    told = (place / "schemathesis.log").read_text(errors="replace")
    # An error is not a finding: a request could not be made, or a hook failed.
    if not ended or re.search(r"^Errors:$", told, re.MULTILINE):
        print(told[-6000:])
        print("FAILED: schemathesis did not come to its end, or met errors of its own")
        bad += 1
    return len(wanted) - len(findings) - len(missing), bad


if __name__ == "__main__":
    main()
