"""What the fuzzer's requests are about: a repository, a project and one of everything, and more when it is used up.

`Forge` speaks to a server over loopback and nothing else. `seed` makes the things whose ids the requests name;
`Fresh` makes one to delete, answer or take, each time a request wants to.
"""

import json
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path

SCRIPTED = {"executor": "SCRIPTED"}

# A picture of one dot.
DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6364f8cf500f00"
    "0386018034f7f46b0000000049454e44ae426082"
)

# Nothing here takes long, but the machine may be busy.
PATIENCE = 60


class Forge:
    """The server, as its own user's scripts see it."""

    def __init__(self, url):
        self.url = url

    def call(self, method, path, body=None, content_type="application/json"):
        """Calls a route and returns the `data` of its answer; a refusal is an error."""
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        if data is not None:
            request.add_header("Content-Type", content_type)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer).get("data")
        except urllib.error.HTTPError as refused:
            raise RuntimeError(f"{method} {path}: {refused.code} {refused.read()[:300]!r}") from refused

    def upload(self, path, content, file_name="dot.png"):
        mark = uuid.uuid4().hex
        head = f'--{mark}\r\nContent-Disposition: form-data; name="image"; filename="{file_name}"\r\n'
        head += "Content-Type: image/png\r\n\r\n"
        body = head.encode() + content + f"\r\n--{mark}--\r\n".encode()
        return self.call("POST", path, body, f"multipart/form-data; boundary={mark}")


def eventually(what, condition):
    """Waits until a condition gives something."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        met = condition()
        if met:
            return met
        time.sleep(0.05)
    raise RuntimeError(f"not within {PATIENCE} s: {what}")


def make_repository(path):
    """Makes a repository with one commit and returns its path."""
    path = Path(path)
    path.mkdir(parents=True)

    def git(*args):
        subprocess.run(["git", "-C", path, *args], check=True, capture_output=True)

    git("init", "--quiet", "--initial-branch=main")
    git("config", "user.name", "Ada")
    git("config", "user.email", "ada@example.org")
    (path / "README.md").write_text("hello\n")
    git("add", "README.md")
    git("commit", "--quiet", "--message=first")
    return str(path)


class Fresh:
    """Makes things that a request may use up, so that nothing else misses them."""

    def __init__(self, forge, project, home):
        self.forge, self.project, self.home = forge, project, Path(home)
        self.made = 0

    def name(self, what):
        self.made += 1
        return f"{what}-{self.made}-{uuid.uuid4().hex[:6]}"

    def repository(self):
        return make_repository(self.home / "made" / self.name("repository"))

    def project_id(self):
        new = {"name": self.name("project"), "git_repo_path": self.repository(), "use_existing_repo": True}
        return self.forge.call("POST", "/api/projects", new)["id"]

    def task_id(self):
        return self.forge.call("POST", "/api/tasks", {"project_id": self.project, "title": self.name("task")})["id"]

    def tag_id(self):
        return self.forge.call("POST", "/api/tags", {"tag_name": self.name("tag"), "content": "x"})["id"]

    def template_id(self):
        return self.forge.call("POST", "/api/templates", {"template_name": self.name("template"), "title": "x"})["id"]

    def image_id(self):
        # Images of the same bytes are one image, so each gets bytes of its own after the picture's end.
        return self.forge.upload("/api/images/upload", DOT + self.name("image").encode())["id"]

    def started(self, script):
        task = {"project_id": self.project, "title": self.name("started"), "description": script}
        new = {"task": task, "executor_profile_id": SCRIPTED, "base_branch": "main"}
        # A request of the fuzzer may have set a limit that makes it wait, or a script that goes before it.
        limits = {"max_running": None, "max_running_per_project": None, "min_free_mb": 1024}
        self.forge.call("PUT", "/api/config", {"limits": limits})
        scripts = {"setup_script": None, "cleanup_script": None, "copy_files": None}
        self.forge.call("PUT", f"/api/projects/{task['project_id']}", scripts)
        return self.forge.call("POST", "/api/tasks/create-and-start", new)

    def removed_id(self):
        task = self.task_id()
        self.forge.call("DELETE", f"/api/tasks/{task}")
        return task

    def attempt_id(self):
        return self.started("say hello")["attempt_id"]

    def run_id(self):
        return self.runs(self.started("hang")["attempt_id"])[0]["id"]

    def ask_id(self):
        attempt = self.started("ask May I?")["attempt_id"]

        def asked():
            runs = {run["id"] for run in self.runs(attempt)}
            pending = self.forge.call("GET", "/api/approvals/pending")
            return [ask["approval_id"] for ask in pending if ask["execution_process_id"] in runs]

        return eventually("the scripted agent asks", asked)[0]

    def follow_up(self, attempt, prompt):
        return self.forge.call("POST", f"/api/task-attempts/{attempt}/follow-up", {"prompt": prompt})

    def queued(self, busy):
        """Returns the id of a follow-up that waits for an agent that goes on."""
        place = f"/api/task-attempts/{busy}"
        waiting = self.forge.call("GET", f"{place}/queue")
        if not waiting:
            self.forge.call("PUT", f"{place}/draft?type=follow_up", {"prompt": "say more"})
            self.forge.call("POST", f"{place}/draft/queue?type=follow_up", {"queued": True})
            waiting = self.forge.call("GET", f"{place}/queue")
        return waiting[-1]["id"]

    def runs(self, attempt):
        return eventually(
            "the attempt has a run",
            lambda: self.forge.call("GET", f"/api/execution-processes?task_attempt_id={attempt}"),
        )


def seed(forge, home):
    """Makes one of everything; returns the values that requests draw from, by the names of parameters and keys."""
    repository = make_repository(Path(home) / "repository")
    new = {"name": "fuzzed", "git_repo_path": repository, "use_existing_repo": True}
    project = forge.call("POST", "/api/projects", new)["id"]
    fresh = Fresh(forge, project, home)

    finished = [fresh.started("edit spoken.txt hello\nsay hello") for _ in range(2)]
    for task in finished:
        eventually("a scripted attempt ends", lambda: over(forge, task["attempt_id"]))
    going = fresh.started("say hello\nhang")
    ask = fresh.ask_id()
    tasks = [*finished, going]
    attempts = [task["attempt_id"] for task in tasks]
    runs = [run["id"] for attempt in attempts for run in fresh.runs(attempt)]
    first = forge.call("GET", f"/api/task-attempts/{attempts[0]}")
    # An agent that goes on, which no request stops: follow-ups wait for it, and programs ask beside it.
    busy = fresh.started("say hello")["attempt_id"]
    eventually("a scripted attempt ends", lambda: over(forge, busy))
    session = fresh.follow_up(busy, "hang")["executor_action"]["typ"]["session_id"]
    pool = {
        "project_id": [project],
        "task_id": [task["id"] for task in tasks] + [fresh.task_id()],
        "attempt_id": attempts,
        "run_id": runs,
        "ask_id": [ask],
        "session_id": [session],
        "busy": [busy],
        "tag_id": [fresh.tag_id()],
        "template_id": [fresh.template_id()],
        "image_id": [fresh.image_id()],
        "snapshot_id": [one["id"] for one in forge.call("GET", f"/api/task-attempts/{attempts[0]}/snapshots")],
        "removed_id": [fresh.removed_id()],
        "comment_id": [forge.call("POST", f"/api/task-attempts/{attempts[0]}/comments",
                                  {"path": "spoken.txt", "line": 1, "text": "Why?"})["id"]],
        "base_branch": ["main"],
        "new_target_branch": ["main"],
        "executor_profile_id": [SCRIPTED],
        "executor": ["CLAUDE_CODE"],
        "path": [str(home), repository],
        "sound": ["GENIE_NOTIFY1"],
        "ref": [first.get("container_ref")],
        "file_path": ["spoken.txt"],
        "agent_type": ["master"],
        "host": ["http://127.0.0.1:1"],
    }
    forge.upload(f"/api/images/task/{pool['task_id'][0]}/upload", DOT)
    # Other names of the same things.
    pool["task_attempt_id"] = pool["parent_task_attempt"] = pool["attempt_id"]
    pool["process_id"] = pool["execution_process_id"] = pool["run_id"]
    pool["before"] = [f"{run}:{index}" for run in pool["run_id"] for index in (0, 1)]
    pool["after"] = pool["around"] = pool["before"]
    pool["image_ids"] = [pool["image_id"]]
    return pool, fresh


def over(forge, attempt):
    return forge.call("GET", f"/api/task-attempts/{attempt}")["state"] in ("finished", "failed", "stopped")
