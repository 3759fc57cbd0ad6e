// Forge's own tools in the hands of a model: by a CLI that a person runs beside Forge, and by one that Forge runs. Which
// CLIs play these is written with each CLI.

import assert from "node:assert/strict";

/** What the scripted agent does that the model starts. */
const WORK = { title: "Greet the customers", description: "edit greeting.txt good morning\nsay the greeting is written" };

/** What tools answer is JSON; some clients put words around it, or wrap it once more. */
const meaning = (text) => {
  const told = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1) || "{}");
  return typeof told.output === "string" ? meaning(told.output) : told;
};

/** What the last of the answers says that have a key. */
const found = (heard, key) => {
  const answer = heard.map(meaning).findLast((one) => key in one);
  if (!answer) throw new Error(`no tool has answered with ${key}:\n${heard.join("\n").slice(0, 4000)}`);
  return answer[key];
};

const changed = ({ diffs }) => diffs.map(({ newPath, newContent }) => [newPath, newContent]);

/** The replies by which a model has a task done and waits for it, with what it must look up first. */
function delegating({ lookUp, tool }, { names, create }) {
  const wanted = names.map((name) => ({ call: (_cwd, _tools, heard) => tool(name, create(name, heard)) }));
  return [...lookUp(names), ...wanted];
}

/** A person's own CLI, set up as the documentation says, has a task done by an agent of Forge and tells what came of it. */
export const person = {
  name: "tools",
  title: "a person's CLI works with forge mcp",
  async play(cell) {
    const { cli, forge, model, world } = cell;
    const names = ["list_projects", "create_task", "start_task_attempt", "wait_for_attempt", "read_transcript", "read_diff"];
    const create = (name, heard) =>
      ({
        list_projects: () => ({}),
        create_task: () => ({ ...WORK, project_id: found(heard, "projects").find((one) => one.name === "shop").id }),
        start_task_attempt: () => ({ task_id: found(heard, "task_id"), executor: "SCRIPTED", base_branch: "main" }),
        wait_for_attempt: () => ({ attempt_id: found(heard, "attempt_id"), timeout_seconds: 50 }),
        read_transcript: () => ({ attempt_id: found(heard, "attempt_id") }),
        read_diff: () => ({ attempt_id: found(heard, "attempt_id") }),
      })[name]();
    const script = cell.script([
      ...delegating(cli.forgeTools, { names, create }),
      { text: (heard) => `The agent is ${found(heard, "state")} and wrote ${changed(meaning(heard.at(-1)))}` },
    ]);
    script.runsIn(world.repository);
    const before = await forge.get(`/api/tasks?project_id=${world.project}`);
    await world.run(cli.program, cli.forgeTools.setUp(world));
    const said = await world.run(cli.program, cli.forgeTools.ask(`Have the customers greeted. ${script.marker}`));

    const after = await forge.get(`/api/tasks?project_id=${world.project}`);
    assert.equal(after.length, before.length + 1, "one task was made");
    const task = after.find(({ id }) => !before.some((one) => one.id === id));
    assert.equal(task.title, WORK.title);
    const attempts = await forge.get(`/api/task-attempts?task_id=${task.id}`);
    assert.equal(attempts.length, 1, "and one attempt at it");
    const [attempt] = attempts;
    cell.attempts.push(attempt.id);
    assert.equal(attempt.executor, "SCRIPTED");
    assert.equal((await cell.attempt(attempt)).state, "finished");
    assert.equal(cell.read(attempt, "greeting.txt"), "good morning\n");
    assert.equal(world.git("show", `${attempt.branch}:greeting.txt`), "good morning\n");

    const heard = model.turns(script.id).at(-1).talk.filter((part) => part.who === "result").map(({ text }) => text);
    assert.equal(found(heard, "task_id"), task.id, "the model was told the task's own id");
    assert.equal(found(heard, "attempt_id"), attempt.id);
    assert.equal(found(heard, "state"), "finished");
    assert.equal(found(heard, "last_message"), "the greeting is written");
    assert.match(heard.at(-2), /the greeting is written/, "the transcript reached the model");
    assert.deepEqual(changed(meaning(heard.at(-1))), [["greeting.txt", "good morning\n"]], "the diff reached the model");
    assert.match(said, /The agent is finished and wrote greeting\.txt,good morning/, "and what it made of them the person");
  },
};

/** An agent that Forge runs has a subtask of its own done by another, with the attempt's token. */
export const subtask = {
  name: "subtask",
  title: "an agent has a subtask done by another",
  async play(cell) {
    const { cli, forge, model, world } = cell;
    const names = ["create_task", "start_task_attempt", "wait_for_attempt"];
    const create = (name, heard) =>
      ({
        // The project is the agent's own, whether it is named or not.
        create_task: () => WORK,
        start_task_attempt: () => ({ task_id: found(heard, "task_id"), executor: "SCRIPTED", base_branch: "main" }),
        wait_for_attempt: () => ({ attempt_id: found(heard, "attempt_id") }),
      })[name]();
    const script = cell.script([
      ...delegating(cli.forgeTools, { names, create }),
      { text: (heard) => `My subtask is ${found(heard, "state")}: ${found(heard, "last_message")}.` },
    ]);
    const attempt = await cell.start(script, { variant: "TOOLS" });
    const { run } = await cell.ended(attempt);
    assert.equal(run.status, "completed");
    await cell.shows(attempt, { type: "assistant_message", content: /My subtask is finished: the greeting is written\./ });

    const { children } = await forge.get(`/api/task-attempts/${attempt.id}/children`);
    assert.deepEqual(children.map(({ title }) => title), [WORK.title], "the task is a subtask of the attempt");
    assert.equal(children[0].parent_task_attempt, attempt.id);
    const [work, ...more] = await forge.get(`/api/task-attempts?task_id=${children[0].id}`);
    assert.deepEqual(more, []);
    cell.attempts.push(work.id);
    assert.equal((await cell.attempt(work)).state, "finished");
    assert.equal(world.git("show", `${work.branch}:greeting.txt`), "good morning\n");
    const offered = model.turns(script.id).flatMap(({ tools }) => tools).filter((name) => name.includes("delete_task"));
    assert.deepEqual(offered, [], "what is the person's alone is not offered");
  },
};
