// Tasks: made, started, changed, copied, divided, removed and brought back.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

async function board(world) {
  const project = await world.project('shop-api');
  const { config } = await world.get('/info');
  await world.put('/config', { ...config, executor_profile: { executor: 'SCRIPTED' } });
  return { project, tab: await world.open(`/p/${project.id}`) };
}

const tasksOf = (world, project) => world.get(`/tasks?project_id=${project.id}`);
const onBoard = (tab, title) => tab.page.getByRole('listitem').getByRole('link', { name: title, exact: true });
const act = async (tab, title, words) => {
  await tab.page.getByRole('button', { name: `Actions for ${title}`, exact: true }).first().click();
  await tab.page.getByRole('menuitem', { name: words, exact: true }).click();
};
const PICTURE = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

journey('a task is created and started from the board with two keys', async (world) => {
  const { project, tab } = await board(world);
  const { page } = tab;
  await page.getByText('No tasks yet. Write down the first wish.').waitFor();
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: 'New task' });
  await dialog.getByRole('combobox', { name: 'Agent' }).waitFor();
  await until('the focus on the title', () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') === 'Title'));
  await page.keyboard.type('Say hello');
  await page.keyboard.press('Enter');
  await page.keyboard.type('say hello to everybody');
  assert.equal(await dialog.getByRole('combobox', { name: 'Agent' }).inputValue(), 'SCRIPTED');
  await until('the branch', async () => (await dialog.getByRole('combobox', { name: 'Base branch' }).inputValue()) === 'main');
  await dialog.getByText('Agents run commands as you. This profile does not ask first.').waitFor();
  await tab.accessible();
  await page.keyboard.press('Control+Enter');
  await onBoard(tab, 'Say hello').waitFor();
  const [task] = await tasksOf(world, project);
  assert.equal(task.description, 'say hello to everybody');
  const [attempt] = await world.get(`/task-attempts?task_id=${task.id}`);
  assert.equal(attempt.executor, 'SCRIPTED');
  assert.equal(attempt.target_branch, 'main');
  await world.settled(attempt.id, 'finished');
});

journey('a whole prompt that is pasted becomes a title and a prompt, with images, and is saved as a wish', async (world) => {
  const { project, tab } = await board(world);
  const { page } = tab;
  await page.getByRole('button', { name: 'New task', exact: true }).first().click();
  const dialog = page.getByRole('dialog', { name: 'New task' });
  const prompt = 'Make the import faster\nIt reads every order twice.';
  await dialog.getByRole('textbox', { name: 'Title' }).evaluate((box, text) => {
    const data = new DataTransfer();
    data.setData('text/plain', text);
    box.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  }, prompt);
  assert.equal(await dialog.getByRole('textbox', { name: 'Title' }).inputValue(), 'Make the import faster');
  await dialog.getByRole('textbox', { name: 'What should be done' }).evaluate((box, bytes) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(bytes)], 'screen.png', { type: 'image/png' }));
    box.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  }, [...PICTURE]);
  await dialog.getByRole('img', { name: 'screen.png' }).waitFor();
  // One that is dropped is there, too; taken away again it leaves nothing behind.
  const words = dialog.getByRole('textbox', { name: 'What should be done' });
  await words.evaluate((box, bytes) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(bytes)], 'dropped.png', { type: 'image/png' }));
    box.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [...PICTURE, 1]);
  await dialog.getByRole('img', { name: 'dropped.png' }).waitFor();
  assert.match(await words.inputValue(), /!\[dropped\.png\]\(\.forge-images\//);
  await dialog.getByRole('button', { name: 'Remove dropped.png' }).click();
  await until('its words to be gone', async () => !(await words.inputValue()).includes('dropped.png'));
  await dialog.getByRole('button', { name: 'Save as wish' }).click();
  await onBoard(tab, 'Make the import faster').waitFor();
  const [task] = await tasksOf(world, project);
  assert.equal(task.status, 'todo');
  assert.ok(task.description.startsWith(prompt));
  assert.match(task.description, /!\[screen\.png\]\(\.forge-images\//);
  const images = await world.get(`/images/task/${task.id}`);
  assert.equal(images.length, 1);
  // Its page shows both.
  await onBoard(tab, 'Make the import faster').click();
  await page.getByRole('heading', { name: 'Make the import faster' }).first().waitFor();
  await page.getByRole('img', { name: 'screen.png' }).waitFor();
  await tab.accessible();
});

journey('a task is edited, duplicated and divided', async (world) => {
  const { project, tab } = await board(world);
  const { page } = tab;
  const { task, attempt } = await world.start(project, 'The whole thing', 'say hello');
  await world.settled(attempt.id, 'finished');
  await onBoard(tab, 'The whole thing').waitFor();

  await act(tab, 'The whole thing', 'Edit');
  const edit = page.getByRole('dialog', { name: 'Edit task' });
  const title = edit.getByRole('textbox', { name: 'Title' });
  await title.fill('Not meant');
  await edit.getByRole('button', { name: 'Cancel' }).click();
  await act(tab, 'The whole thing', 'Edit');
  assert.equal(await title.inputValue(), 'The whole thing');
  // What was begun and left is there again, and says when the task has got other words meanwhile.
  await title.fill('Half a change');
  await page.keyboard.press('Escape');
  await edit.waitFor({ state: 'detached' });
  await world.put(`/tasks/${task.id}`, { description: 'say newer' });
  await act(tab, 'The whole thing', 'Edit');
  assert.equal(await title.inputValue(), 'Half a change');
  await edit.getByRole('status').filter({ hasText: 'The task was changed since you began.' }).waitFor();
  await tab.accessible();
  await edit.getByRole('button', { name: 'Take the newer words' }).click();
  await until('the newer words', async () => (await edit.getByRole('textbox', { name: 'What should be done' }).inputValue()) === 'say newer');
  assert.equal(await title.inputValue(), 'The whole thing');
  await title.fill('The better thing');
  await edit.getByRole('button', { name: 'Save' }).click();
  await onBoard(tab, 'The better thing').waitFor();
  const changed = await world.get(`/tasks/${task.id}`);
  assert.deepEqual([changed.title, changed.description], ['The better thing', 'say newer']);

  await act(tab, 'The better thing', 'Duplicate');
  const copy = page.getByRole('dialog', { name: 'New task' });
  await until('the words of the other', async () => (await copy.getByRole('textbox', { name: 'What should be done' }).inputValue()) === 'say newer');
  await copy.getByRole('textbox', { name: 'Title' }).fill('The copy');
  await copy.getByRole('button', { name: 'Save as wish' }).click();
  await onBoard(tab, 'The copy').waitFor();

  await act(tab, 'The better thing', 'Subtask');
  const part = page.getByRole('dialog', { name: 'New subtask' });
  await part.getByText('part of The better thing').waitFor();
  await part.getByRole('textbox', { name: 'Title' }).fill('A part');
  await part.getByRole('button', { name: 'Save as wish' }).click();
  const card = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'A part', exact: true }) });
  await card.getByText('part of The better thing').waitFor();
  await page.getByText('0/1 parts').waitFor();

  const tasks = await tasksOf(world, project);
  assert.deepEqual(tasks.map((it) => it.title).sort(), ['A part', 'The better thing', 'The copy']);
  assert.equal(tasks.find((it) => it.title === 'A part').parent_task_attempt, attempt.id);
  assert.equal(tasks.find((it) => it.title === 'The copy').description, 'say newer');
});

journey('a part of a task begins with what the agent of the whole knows', async (world) => {
  const { project, tab } = await board(world);
  const { page } = tab;
  const { attempt } = await world.start(project, 'The whole thing', 'edit made.txt hello');
  await world.settled(attempt.id, 'finished');
  await onBoard(tab, 'The whole thing').waitFor();
  await act(tab, 'The whole thing', 'Subtask');
  const part = page.getByRole('dialog', { name: 'New subtask' });
  const base = part.getByRole('combobox', { name: 'Base branch' });
  const agent = part.getByRole('combobox', { name: 'Agent' });
  await part.getByRole('textbox', { name: 'Title' }).fill('A part');
  await part.getByRole('textbox', { name: 'What should be done' }).fill('say I remember');
  await part.getByRole('checkbox', { name: 'Begin with what Scripted knows from that attempt' }).check();
  assert.equal(await base.inputValue(), attempt.branch);
  await agent.selectOption('CODEX');
  await part.getByRole('status').filter({ hasText: 'Only Scripted knows that conversation.' }).waitFor();
  await tab.accessible();
  await agent.selectOption('SCRIPTED');
  await part.getByRole('button', { name: 'Start', exact: true }).click();
  await part.waitFor({ state: 'detached' });

  const task = (await tasksOf(world, project)).find((it) => it.title === 'A part');
  const [made] = await world.get(`/task-attempts?task_id=${task.id}`);
  assert.deepEqual([made.forked_from, made.target_branch], [attempt.id, attempt.branch]);
  await world.settled(made.id, 'finished');
  assert.equal(readFileSync(join(made.container_ref, 'made.txt'), 'utf8'), 'hello\n');
  await page.goto(`/a/${made.id}`);
  await page.getByRole('link', { name: 'branched off' }).click();
  await page.waitForURL(`**/a/${attempt.id}`);
  // The branch of an attempt is nothing that the project's next task is offered.
  await page.goto(`/p/${project.id}`);
  await page.getByRole('button', { name: 'New task in Wish' }).click();
  await until('the usual branch', async () => (await page.getByRole('combobox', { name: 'Base branch' }).inputValue()) === 'main');
});

journey('a deleted task comes back with its undo', async (world) => {
  const { project, tab } = await board(world);
  const { page } = tab;
  const { task, attempt } = await world.start(project, 'Do not lose me', 'edit a.txt b');
  await world.settled(attempt.id, 'finished');
  await onBoard(tab, 'Do not lose me').focus();
  await page.keyboard.press('Delete');
  const notice = page.getByRole('status').filter({ hasText: 'Task moved to the trash.' });
  await notice.waitFor();
  await onBoard(tab, 'Do not lose me').waitFor({ state: 'detached' });
  assert.deepEqual(await tasksOf(world, project), []);
  await notice.getByRole('button', { name: 'Undo' }).click();
  await onBoard(tab, 'Do not lose me').waitFor();
  assert.equal((await world.get(`/tasks/${task.id}`)).title, 'Do not lose me');
  assert.equal((await world.attempt(attempt.id)).branch, attempt.branch);
});

journey('what was typed is there again after the dialog was closed', async (world) => {
  const { project, tab } = await board(world);
  const { page } = tab;
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: 'New task' });
  await dialog.getByRole('textbox', { name: 'Title' }).fill('Half a thought');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('button', { name: 'New task', exact: true }).first().click();
  assert.equal(await dialog.getByRole('textbox', { name: 'Title' }).inputValue(), 'Half a thought');
  await page.keyboard.press('Control+Shift+Enter');
  await onBoard(tab, 'Half a thought').waitFor();
  assert.equal((await tasksOf(world, project)).length, 1);
  await page.keyboard.press('c');
  assert.equal(await dialog.getByRole('textbox', { name: 'Title' }).inputValue(), '');
});

journey('an at sign inserts a snippet and a file', async (world) => {
  const { project, tab } = await board(world);
  const { page } = tab;
  await world.post('/tags', { tag_name: 'careful', content: 'Change nothing else.' });
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: 'New task' });
  await dialog.getByRole('textbox', { name: 'Title' }).fill('With a snippet');
  const prompt = dialog.getByRole('textbox', { name: 'What should be done' });
  await prompt.click();
  await page.keyboard.type('Look at @server');
  await dialog.getByRole('option', { name: /src\/server\.js/ }).waitFor();
  // Who is quick types on before the page is drawn again.
  await prompt.evaluate(async (area) => {
    area.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    document.execCommand('insertText', false, '@ca');
    await new Promise((drawn) => { requestAnimationFrame(() => requestAnimationFrame(drawn)); });
  });
  await page.keyboard.type('re');
  await dialog.getByRole('option', { name: /@careful/ }).click();
  await until('the words', async () => (await prompt.inputValue()) === 'Look at `src/server.js` Change nothing else. ');
  await dialog.getByRole('button', { name: 'Save as wish' }).click();
  await onBoard(tab, 'With a snippet').waitFor();
  assert.equal((await tasksOf(world, project))[0].description.trimEnd(), 'Look at `src/server.js` Change nothing else.');
});

journey('several agents start on the same task, with the profile and on the branch that was chosen, and another one later', async (world) => {
  const { executors } = JSON.parse((await world.get('/profiles')).content);
  executors.SCRIPTED.LOUD = { SCRIPTED: { append_prompt: '\nsay LOUD' } };
  await world.put('/profiles', { executors });
  const { project, tab } = await board(world);
  const { page } = tab;
  project.git('branch', 'release');
  const dialog = page.getByRole('dialog', { name: 'New task' });
  const write = async (title) => {
    await page.keyboard.press('c');
    await dialog.getByRole('textbox', { name: 'Title' }).fill(title);
    await dialog.getByRole('textbox', { name: 'What should be done' }).fill('say hello');
    await dialog.getByRole('button', { name: 'Another agent' }).click();
    await dialog.getByRole('combobox', { name: 'Agent 2' }).waitFor();
  };
  const attemptsOf = async (title) => {
    const tasks = (await tasksOf(world, project)).filter((task) => task.title === title);
    assert.equal(tasks.length, 1);
    return world.get(`/task-attempts?task_id=${tasks[0].id}`);
  };
  await write('Twice');
  await dialog.getByRole('combobox', { name: 'Agent', exact: true }).selectOption('SCRIPTED:LOUD');
  await dialog.getByRole('combobox', { name: 'Base branch' }).selectOption('release');
  await dialog.getByRole('button', { name: 'Start 2 attempts' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('2 attempts', { exact: true }).waitFor();
  const attempts = await attemptsOf('Twice');
  assert.deepEqual(attempts.map((it) => it.executor_profile_id.variant ?? '').sort(), ['', 'LOUD']);
  assert.deepEqual(attempts.map((it) => it.target_branch), ['release', 'release']);
  for (const { id } of attempts) await world.settled(id, 'finished');

  await act(tab, 'Twice', 'Another attempt…');
  const start = page.getByRole('dialog', { name: 'Another attempt' });
  await start.getByRole('combobox', { name: 'Agent' }).waitFor();
  await start.getByRole('button', { name: 'Start', exact: true }).click();
  await until('the third attempt', async () => (await attemptsOf('Twice')).length === 3);
  await start.waitFor({ state: 'detached' });

  // When the second cannot be started the task is there all the same, once, and nothing asks to make it again.
  await page.route('**/api/task-attempts', (route) => route.request().method() === 'POST'
    ? route.fulfill({ status: 409, json: { success: false, message: 'The disk is full.' } })
    : route.continue());
  await write('Once');
  await dialog.getByRole('button', { name: 'Start 2 attempts' }).click();
  await page.getByRole('alert').filter({ hasText: 'Started 1 of 2 attempts. Scripted / loud was not started: The disk is full.' }).waitFor();
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await attemptsOf('Once')).length, 1);
});

journey('a wish is started with the agent and on the branch that it was saved with, and the notice leads there', async (world) => {
  const { executors } = JSON.parse((await world.get('/profiles')).content);
  executors.SCRIPTED.LOUD = { SCRIPTED: { append_prompt: '\nsay LOUD' } };
  await world.put('/profiles', { executors });
  const { project, tab } = await board(world);
  const { page } = tab;
  project.git('branch', 'release');
  const save = async (title) => {
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'New task' });
    await dialog.getByRole('textbox', { name: 'Title' }).fill(title);
    await dialog.getByRole('textbox', { name: 'What should be done' }).fill('say hello');
    await dialog.getByRole('combobox', { name: 'Agent' }).selectOption('SCRIPTED:LOUD');
    await dialog.getByRole('combobox', { name: 'Base branch' }).selectOption('release');
    await dialog.getByRole('button', { name: 'Save as wish' }).click();
    await onBoard(tab, title).waitFor();
    await dialog.waitFor({ state: 'detached' });
  };
  const started = async (title) => {
    const task = (await tasksOf(world, project)).find((it) => it.title === title);
    const [attempt] = await until(`an attempt of ${title}`, async () => {
      const all = await world.get(`/task-attempts?task_id=${task.id}`);
      return all.length > 0 && all;
    });
    assert.deepEqual([attempt.executor_profile_id.variant, attempt.target_branch], ['LOUD', 'release']);
    return attempt;
  };
  await save('Asked first');
  await save('At once');
  await page.reload();
  await act(tab, 'Asked first', 'Start with…');
  const start = page.getByRole('dialog', { name: 'Start' });
  await until('the agent of the wish', async () => (await start.getByRole('combobox', { name: 'Agent' }).inputValue()) === 'SCRIPTED:LOUD');
  await until('its branch', async () => (await start.getByRole('combobox', { name: 'Base branch' }).inputValue()) === 'release');
  await page.keyboard.press('Escape');
  await start.waitFor({ state: 'detached' });
  await act(tab, 'At once', 'Start');
  await started('At once');
  await act(tab, 'Asked first', 'Start with…');
  await start.getByRole('button', { name: 'Start', exact: true }).click();
  await start.waitFor({ state: 'detached' });
  const attempt = await started('Asked first');
  // The newest notice is the last one.
  await page.getByRole('status').filter({ hasText: 'Started with Scripted / loud.' }).last().getByRole('button', { name: 'Open' }).click();
  await page.waitForURL(`**/a/${attempt.id}`);
});

journey('on the page of its attempt a task is moved, archived, duplicated and deleted', async (world) => {
  const { project, tab } = await board(world);
  const { page } = tab;
  const { task, attempt } = await world.start(project, 'The whole thing', 'edit a.txt b');
  await world.settled(attempt.id, 'finished');
  const becomes = (wanted) => until(`the task to be ${wanted}`, async () => (await world.get(`/tasks/${task.id}`)).status === wanted);
  const more = async (words) => {
    await page.getByRole('button', { name: 'More about this attempt' }).click();
    await page.getByRole('menuitem', { name: words, exact: true }).click();
  };
  await page.goto(`/a/${attempt.id}`);
  await more('Move the task to…');
  await page.getByRole('menu', { name: 'Move The whole thing to' }).getByRole('menuitemradio', { name: 'Done' }).click();
  const question = page.getByRole('alertdialog', { name: 'Mark done without merging?' });
  await question.waitFor();
  await tab.accessible();
  await question.getByRole('button', { name: 'Mark done and keep the branch' }).click();
  await becomes('done');
  await more('Archive the task');
  await becomes('archived');
  await more('Bring the task back');
  await becomes('done');
  await more('Duplicate the task');
  const copy = page.getByRole('dialog', { name: 'New task' });
  await until('the words of the other', async () => (await copy.getByRole('textbox', { name: 'Title' }).inputValue()) === 'The whole thing');
  await page.keyboard.press('Escape');
  await copy.waitFor({ state: 'detached' });
  // What the page asks for while its attempt goes may be gone already.
  tab.expects(404);
  await more('Delete the task');
  await page.waitForURL(`**/p/${project.id}`);
  assert.deepEqual(await tasksOf(world, project), []);
  await page.getByRole('status').filter({ hasText: 'Task moved to the trash.' }).getByRole('button', { name: 'Undo' }).click();
  await onBoard(tab, 'The whole thing').waitFor();
});

journey('an agent that is not ready says so where it is chosen', async (world) => {
  const { project, tab } = await board(world);
  const { page } = tab;
  const info = await world.get('/info');
  const missing = info.agents.find((agent) => !agent.installed && agent.found === 'missing');
  assert.ok(missing, 'there is an agent that is not installed');
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: 'New task' });
  await dialog.getByRole('combobox', { name: 'Agent' }).selectOption(missing.executor);
  await dialog.getByRole('status').filter({ hasText: `${missing.title} is not installed.` }).waitFor();
  await dialog.getByRole('button', { name: 'Check again' }).waitFor();
  const start = dialog.getByRole('button', { name: 'Start' });
  assert.equal(await start.getAttribute('aria-disabled'), 'true');
  await dialog.getByRole('textbox', { name: 'Title' }).fill('Too early');
  await page.keyboard.press('Control+Enter');
  await dialog.getByRole('alert').filter({ hasText: `${missing.title} is not installed.` }).waitFor();
  assert.deepEqual(await tasksOf(world, project), []);
});
