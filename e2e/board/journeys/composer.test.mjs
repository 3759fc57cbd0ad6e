// Telling an agent more: at once, after its turn, with pictures, by another profile.

import assert from 'node:assert/strict';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

const log = (tab) => tab.page.getByRole('log', { name: 'Conversation' });
const box = (tab) => tab.page.getByRole('textbox', { name: 'Reply' });
const waiting = (tab) => tab.page.getByRole('list', { name: 'Queued messages' });
const button = (tab, name) => tab.page.getByRole('button', { name, exact: true });
const queue = async (world, attempt) => (await world.get(`/task-attempts/${attempt.id}/queue`)).map((item) => item.prompt);

journey('a follow-up starts the agent again, and the conversation goes on in place', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Begin', 'say first');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}`);
  await log(tab).getByText('first', { exact: true }).waitFor();
  await tab.page.keyboard.press('r');
  await tab.page.keyboard.type('say second');
  await tab.page.keyboard.press('Enter');
  await tab.page.getByRole('article', { name: 'Turn 2' }).waitFor();
  await log(tab).getByText('second', { exact: true }).waitFor();
  assert.equal(await box(tab).inputValue(), '');
  await until('the attempt to be finished again', async () => (await world.attempt(attempt.id)).state === 'finished');
  const { entries } = await world.get(`/task-attempts/${attempt.id}/entries`);
  assert.equal(entries.filter(({ entry }) => entry.entry_type.type === 'user_message').length, 2);
});

journey('what is written while the agent works waits: it is edited, moved, removed, and sent in order', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Long work', 'say working\nask May I go on?\nsay turn over');
  const tab = await world.open(`/a/${attempt.id}`);
  await log(tab).getByText('working', { exact: true }).waitFor();
  for (const text of ['say one', 'say two', 'say three', 'say four']) {
    await box(tab).fill(text);
    await button(tab, 'Queue').click();
    await waiting(tab).getByText(text, { exact: true }).waitFor();
    await until('the box to be empty', async () => (await box(tab).inputValue()) === '');
  }
  assert.deepEqual(await queue(world, attempt), ['say one', 'say two', 'say three', 'say four']);
  await tab.accessible();
  await tab.named();
  await waiting(tab).getByRole('button', { name: 'Edit: say one' }).click();
  await tab.page.getByRole('textbox', { name: 'Queued message' }).fill('say uno');
  await button(tab, 'Save').click();
  await waiting(tab).getByText('say uno', { exact: true }).waitFor();
  await waiting(tab).getByRole('button', { name: 'Move up: say three' }).click();
  await until('the order to change', async () => (await queue(world, attempt))[1] === 'say three');
  await waiting(tab).getByRole('button', { name: 'Remove: say four' }).click();
  await waiting(tab).getByText('say four', { exact: true }).waitFor({ state: 'detached' });
  assert.deepEqual(await queue(world, attempt), ['say uno', 'say three', 'say two']);
  // Two tabs see the same.
  const other = await world.open(`/a/${attempt.id}`);
  await until('the other tab to show the queue', async () =>
    (await waiting(other).getByRole('listitem').allInnerTexts()).map((it) => it.trim().split('\n')[0]).join() === 'say uno,say three,say two');
  const [ask] = await world.get('/approvals/pending');
  await world.post(`/approvals/${ask.approval_id}/respond`, { approved: true, text: 'yes' });
  await log(tab).getByText('two', { exact: true }).waitFor();
  await world.settled(attempt.id, 'finished');
  const { entries } = await world.get(`/task-attempts/${attempt.id}/entries`);
  const said = entries.filter(({ entry }) => entry.entry_type.type === 'assistant_message').map(({ entry }) => entry.content);
  assert.deepEqual(said.slice(-4), ['turn over', 'uno', 'three', 'two']);
});

journey('send now reaches the agent before its turn ends', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Steer', 'say working\nask Go on?\nsay over');
  const tab = await world.open(`/a/${attempt.id}`);
  await log(tab).getByText('working', { exact: true }).waitFor();
  await box(tab).fill('say hurry');
  await button(tab, 'Send now').click();
  // The agent has it: it stands in the conversation although the turn is not over.
  await tab.page.getByRole('article', { name: 'Turn 2' }).getByText('say hurry').waitFor();
  assert.deepEqual(await queue(world, attempt), []);
  assert.equal((await world.attempt(attempt.id)).open_asks, 1);
});

journey('a running agent is stopped, and what waits is sent when the person says so', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Endless', 'say working\nhang');
  const tab = await world.open(`/a/${attempt.id}`);
  await log(tab).getByText('working', { exact: true }).waitFor();
  await box(tab).fill('say after all');
  await button(tab, 'Queue').click();
  await waiting(tab).getByText('say after all').waitFor();
  await tab.page.getByRole('button', { name: 'Stop' }).first().click();
  await world.settled(attempt.id, 'stopped');
  await button(tab, 'Send anyway').click();
  await log(tab).getByText('after all', { exact: true }).waitFor();
  await world.settled(attempt.id, 'finished');
  assert.deepEqual(await queue(world, attempt), []);
});

journey('a draft is kept by the server and shown again; a picture goes along', async (world) => {
  const project = await world.project();
  const { attempt, task } = await world.start(project, 'Draw', 'say hello');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}`);
  await box(tab).fill('say look at this');
  await until('the draft to be kept', async () => (await world.get(`/task-attempts/${attempt.id}/draft?type=follow_up`)).prompt === 'say look at this');
  await tab.page.reload();
  await until('the draft to be shown', async () => (await box(tab).inputValue()) === 'say look at this');
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
  await tab.page.locator('input[type=file]').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: png });
  await tab.page.getByRole('list', { name: 'Pictures' }).getByRole('img', { name: 'dot.png' }).waitFor();
  await box(tab).press('Control+Enter');
  await log(tab).getByText('look at this', { exact: true }).waitFor();
  const images = await world.get(`/images/task/${task.id}`);
  assert.deepEqual(images.map((image) => image.original_name), ['dot.png']);
  await world.settled(attempt.id, 'finished');
  const { entries } = await world.get(`/task-attempts/${attempt.id}/entries`);
  assert.ok(entries.some(({ entry }) => entry.content.includes('![dot.png](')), 'the prompt names the picture');
});

journey('an at sign offers snippets and files', async (world) => {
  const project = await world.project();
  await world.post('/tags', { tag_name: 'zebra', content: 'Run the tests first.' });
  const { attempt } = await world.start(project, 'Snip', 'say hello');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}`);
  await box(tab).click();
  await tab.page.keyboard.type('Please: @zeb');
  await tab.page.getByRole('option', { name: /@zebra/ }).waitFor();
  await tab.page.keyboard.press('Enter');
  await until('the snippet to be put in', async () => (await box(tab).inputValue()).startsWith('Please: Run the tests first.'));
  await tab.page.keyboard.type('See @serv');
  await tab.page.getByRole('option', { name: /src\/server.js/ }).click();
  await until('the file to be put in', async () => (await box(tab).inputValue()).includes('See `src/server.js`'));
  // Esc leaves the box and keeps the text.
  await box(tab).press('Escape');
  assert.match(await box(tab).inputValue(), /src\/server\.js/);
  await until('the draft to be kept', async () => (await world.get(`/task-attempts/${attempt.id}/draft?type=follow_up`)).prompt.includes('src/server.js'));
});

journey('a turn is interrupted by its button and by its key, and the agent can be told more', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Long way', 'say working\nsleep 600000');
  const tab = await world.open(`/a/${attempt.id}`);
  await log(tab).getByText('working', { exact: true }).waitFor();
  await button(tab, 'Interrupt').click();
  await world.settled(attempt.id, 'stopped');
  await button(tab, 'Interrupt').waitFor({ state: 'detached' });
  await box(tab).fill('say another way\nsleep 600000');
  await button(tab, 'Send').click();
  await log(tab).getByText('another way', { exact: true }).waitFor();
  await button(tab, 'Interrupt').waitFor();
  await tab.page.keyboard.press('Escape');
  await tab.page.keyboard.press('i');
  await world.settled(attempt.id, 'stopped');
  const runs = await world.get(`/execution-processes?task_attempt_id=${attempt.id}`);
  assert.deepEqual(runs.map(({ status }) => status), ['killed', 'killed']);
});
