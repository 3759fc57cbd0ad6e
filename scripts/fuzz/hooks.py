"""How schemathesis calls this server: with ids that exist, and a record of every call.

Most requests draw their ids and names from what `seed` made; the rest stay as schemathesis made them. A value is only
put in place of one that the schema allows as well, so a request that is meant to be wrong stays wrong.
"""

import json
import os
import random
import re
from itertools import product

import schemathesis

from seed import DOT, Forge, Fresh

WORLD = json.load(open(os.environ["FUZZ_WORLD"], encoding="utf-8"))
POOL = WORLD["pool"]
FRESH = Fresh(Forge(WORLD["url"]), POOL["project_id"][0], WORLD["home"])
RECORD = open(os.environ["FUZZ_RECORD"], "a", encoding="utf-8", buffering=1)
CHANCE = random.Random(WORLD["seed"])

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

# What uses up the thing it names: its id is a new one. A project and an ask take long to make, so they are rare.
USED_UP = {"respondToApproval": ("ask_id", 0.5), "stopExecutionProcess": ("run_id", 0.1)}
DELETED = {"project_id": 0.3}

# Bodies of which the document cannot say enough to make a good one up.
BODIES = {"respondToApproval": {"approved": True}, "updateProfiles": WORLD["profiles"]}

# What is taken though the document does not offer it, by operation and key.
LENIENT = {
    # Clients have sent other words for a follow-up, so every other word is one.
    *product(["getDraft", "saveDraft", "saveDraftByPost", "queueDraft"], ["type"]),
    # Older clients name a way of searching that never was; every other word means the usual one.
    ("searchProjectFiles", "mode"),
}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """A stream does not end, so it is tested elsewhere."""
    for methods in raw_schema["paths"].values():
        for method in [method for method, operation in methods.items() if "x-forge-stream" in operation]:
            del methods[method]


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.method.upper() != case.operation.method.upper() or CHANCE.random() < 0.2:
        return
    meant_right = case.meta is None or case.meta.generation.mode.is_positive
    for place in (case.path_parameters, case.query):
        for name, value in list(place.items()) if isinstance(place, dict) else ():
            place[name] = drawn(name, value, meant_right)
    if meant_right and "Idempotency-Key" in case.headers and CHANCE.random() < 0.8:
        case.headers["Idempotency-Key"] = FRESH.name("call")
    if meant_right and operation_id(case) in BODIES and CHANCE.random() < 0.5:
        case.body = BODIES[operation_id(case)]
    elif case.media_type == "multipart/form-data" and isinstance(case.body, dict) and meant_right:
        case.body = {name: DOT for name in case.body}
    elif isinstance(case.body, dict):
        case.body = filled(case.body, meant_right)
    if meant_right and "{item}" in case.path and CHANCE.random() < 0.3:
        case.path_parameters.update(attempt_id=POOL["busy"][0], item=FRESH.queued(POOL["busy"][0]))
    use_up(case)


def drawn(name, value, meant_right):
    """Returns a value of the pool in place of another of its kind."""
    pool = POOL.get(name)
    if not pool:
        return value
    if name == "image_ids" and meant_right and value:
        # An image that no task has any more is gone, so the pool's would not last.
        return [FRESH.image_id()]
    if name.endswith("_id") and name != "session_id" and isinstance(value, str):
        return CHANCE.choice(pool) if UUID.fullmatch(value) else value
    return CHANCE.choice(pool) if meant_right and value is not None else value


def filled(body, meant_right):
    filled_in = {}
    for name, value in body.items():
        if name == "git_repo_path" and meant_right and isinstance(value, str) and CHANCE.random() < 0.3:
            filled_in[name] = FRESH.repository()
        elif name in POOL:
            filled_in[name] = drawn(name, value, meant_right)
        else:
            filled_in[name] = filled(value, meant_right) if isinstance(value, dict) else value
    return filled_in


def use_up(case):
    names = re.findall(r"{(\w+)}", case.path)
    if case.method.upper() == "DELETE" and names:
        name, chance = names[-1], DELETED.get(names[-1], 1.0)
    else:
        name, chance = USED_UP.get(operation_id(case), (None, 0))
    if name is None or case.path_parameters.get(name) not in POOL.get(name, ()):
        return
    make = getattr(FRESH, name, None)
    if make is not None and CHANCE.random() < chance:
        case.path_parameters[name] = make()
    elif case.method.upper() == "DELETE":
        # What others need is not deleted; an id that nothing has is as good a request.
        case.path_parameters[name] = "00000000-0000-4000-8000-000000000000"


@schemathesis.hook
def after_call(context, case, response):
    good = 200 <= response.status_code < 300 and not refuses(response)
    meant_right = case.meta is None or case.meta.generation.mode.is_positive
    why = response.text[:300] if meant_right and not good else None
    tell(case, status=response.status_code, good=good, why=why)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    if is_tolerated(failure, case, response):
        tell(case, tolerated=failure.message.splitlines()[-1])
        return False
    told = f"{failure.title}: {failure.message}"
    tell(case, status=response.status_code, finding=told, curl=case.as_curl_command(), answer=response.text[:2000])
    return True


def is_tolerated(failure, case, response):
    """Says whether a wrong request was taken by a rule: older clients rely on these, and no schema can say them."""
    if failure.title != "Schema-violating request accepted":
        return False
    if refuses(response):
        return True
    # A body of nothing is one that is absent.
    if isinstance(case.body, bytes) and not case.body.strip():
        return True
    # Put there above: bytes are no JSON, so no schema has them.
    if isinstance(case.body, dict) and DOT in case.body.values():
        return True
    wrong = wrong_parts(failure.message)
    return bool(wrong) and all(is_taken(case, place, name) for place, name in wrong)


def is_taken(case, place, name):
    """Says whether a key may have a wrong value."""
    if (operation_id(case), name) in LENIENT:
        return True
    # A value of nothing is a key that is absent.
    holds = case.query if place == "query" else case.body
    return isinstance(holds, dict) and is_blank(holds.get(name))


def wrong_parts(message):
    """Finds in a finding's words which parameters or keys are wrong; how they are told depends on how they were made."""
    if told := re.search(r"parameters? (`.+`) in query", message):
        return [("query", name) for name in re.findall(r"`([\w-]+)`", told[1])]
    named = re.findall(r"in body - (\w+):|at /properties/(\w+)", message)
    return [("body", one or other) for one, other in named]


def is_blank(value):
    if isinstance(value, list):
        return all(is_blank(one) for one in value)
    return value is None or isinstance(value, str) and value.strip() in ("", "null")


def operation_id(case):
    return case.operation.definition.raw.get("operationId")


def refuses(response):
    """Some refusals come with 200, where older clients look for the message."""
    return response.status_code == 200 and response.content.startswith(b'{"success":false')


def tell(case, **what):
    # A method that the operation does not have is a call of no operation.
    own = case.method.upper() == case.operation.method.upper()
    RECORD.write(json.dumps({"operation": case.operation.label, "own": own, **what}) + "\n")
