// Telling an agent more: at once, after its turn, with pictures, by another profile.

import assert from 'node:assert/strict';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

const log = (tab) => tab.page.getByRole('log', { name: 'Conversation' });
const box = (tab) => tab.page.getByRole('textbox', { name: 'Reply' });
const waiting = (tab) => tab.page.getByRole('list', { name: 'Queued messages' });
const button = (tab, name) => tab.page.getByRole('button', { name, exact: true });
const rowsAre = (tab, texts) => until(`the queue to show ${texts}`, async () =>
  String((await waiting(tab).getByRole('listitem').allInnerTexts()).map((it) => it.trim().split('\n')[0])) === String(texts));
const undo = (tab) => tab.page.getByRole('status').filter({ hasText: 'Taken out of the queue.' }).getByRole('button', { name: 'Undo' }).last();
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

journey('a message whose answer was lost is told once, though it is sent again', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Begin', 'say first');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}`);
  // The server hears each of them, and the page hears of none.
  let lost = 0;
  await tab.page.route('**/follow-up', async (route) => {
    await route.fetch();
    lost += 1;
    await route.abort();
  });
  await box(tab).fill('say second');
  await button(tab, 'Send').click();
  await tab.page.getByRole('region', { name: 'Composer' }).getByRole('alert').filter({ hasText: 'Not sent' }).waitFor();
  assert.ok(lost > 1);
  assert.equal(await box(tab).inputValue(), 'say second');
  await tab.page.unroute('**/follow-up');
  await until('the turn to be over', async () => (await world.attempt(attempt.id)).state === 'finished');
  await button(tab, 'Send').click();
  await until('the box to be empty', async () => (await box(tab).inputValue()) === '');
  await log(tab).getByText('second', { exact: true }).waitFor();
  const { entries } = await world.get(`/task-attempts/${attempt.id}/entries`);
  assert.equal(entries.filter(({ entry }) => entry.entry_type.type === 'user_message').length, 2);
  assert.equal((await world.attempt(attempt.id)).state, 'finished');
});

journey('what is written while a message is on its way stays in the box', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Begin', 'say first');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}`);
  let go;
  const held = new Promise((done) => { go = done; });
  await tab.page.route('**/follow-up', async (route) => {
    await held;
    await route.continue();
  });
  // The draft with both is slow: it is kept neither too late nor for good.
  let arrive;
  const slow = new Promise((done) => { arrive = done; });
  const isBoth = (request) => request.method() === 'PUT' && /second.*third/.test(request.postData() ?? '');
  await tab.page.route(/\/draft\?/, async (route) => {
    if (isBoth(route.request())) await slow;
    await route.continue();
  });
  const begun = tab.page.waitForRequest(isBoth);
  await box(tab).fill('say second');
  await tab.page.keyboard.press('Enter');
  await tab.page.getByRole('button', { name: 'Sending' }).waitFor();
  await tab.page.keyboard.press('Shift+Enter');
  await tab.page.keyboard.type('say third');
  await begun;
  go();
  await log(tab).getByText('second', { exact: true }).waitFor();
  await until('what was sent to be gone from the box', async () => (await box(tab).inputValue()) === 'say third');
  const kept = tab.page.waitForResponse((response) => isBoth(response.request()));
  arrive();
  await kept;
  await until('the rest to be kept', async () => (await world.get(`/task-attempts/${attempt.id}/draft?type=follow_up`)).prompt === 'say third');
  assert.equal(await box(tab).inputValue(), 'say third');
  await world.settled(attempt.id, 'finished');
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
  const before = ['say uno', 'say three', 'say two', 'say four'];
  await rowsAre(tab, before);
  // By key and without dragging, too: whoever moves one stays with it.
  const mover = (name) => waiting(tab).getByRole('button', { name });
  for (const [name, order] of [['Move down: say three', ['say uno', 'say two', 'say three', 'say four']], ['Move up: say three', before]]) {
    const moved = tab.page.waitForResponse((response) => response.request().method() === 'PUT' && response.url().includes('/queue/'));
    await mover(name).press('Enter');
    await moved;
    await rowsAre(tab, order);
    assert.deepEqual(await queue(world, attempt), order);
    await until('the focus to be kept', () => mover(name).evaluate((it) => it === document.activeElement));
  }
  for (const [name, why] of [['Move up: say uno', 'It is the first already.'], ['Move down: say four', 'It is the last already.']]) {
    assert.equal(await mover(name).getAttribute('aria-disabled'), 'true');
    assert.equal(await mover(name).getAttribute('title'), why);
  }
  // What was removed comes back to its place, and the agent is not told meanwhile.
  for (const text of ['say uno', 'say three']) {
    await waiting(tab).getByRole('button', { name: `Remove: ${text}` }).click();
    await waiting(tab).getByText(text, { exact: true }).waitFor({ state: 'detached' });
    await box(tab).fill('not to be lost');
    await undo(tab).click();
    await until('the queue as it was', async () => String(await queue(world, attempt)) === String(before));
    await rowsAre(tab, before);
    assert.equal(await box(tab).inputValue(), 'not to be lost');
  }
  await box(tab).fill('');
  // The newest is edited from the empty box, and is dragged by hand.
  await box(tab).press('ArrowUp');
  const edited = tab.page.getByRole('textbox', { name: 'Queued message' });
  assert.equal(await edited.inputValue(), 'say four');
  await edited.fill('say vier');
  await edited.press('Control+Enter');
  await waiting(tab).getByText('say vier', { exact: true }).waitFor();
  await waiting(tab).getByRole('listitem').nth(3).dragTo(waiting(tab).getByRole('listitem').nth(0));
  await until('the order to change', async () => String(await queue(world, attempt)) === 'say vier,say uno,say three,say two');
  await waiting(tab).getByRole('button', { name: 'Remove: say vier' }).click();
  await waiting(tab).getByText('say vier', { exact: true }).waitFor({ state: 'detached' });
  assert.deepEqual(await queue(world, attempt), ['say uno', 'say three', 'say two']);
  // Two tabs see the same.
  const other = await world.open(`/a/${attempt.id}`);
  await rowsAre(other, ['say uno', 'say three', 'say two']);
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

  // What waits already is sent the same way. One that is refused waits again, and what is being written stays.
  await box(tab).fill('say faster');
  await button(tab, 'Queue').click();
  await waiting(tab).getByText('say faster').waitFor();
  await until('the box to be empty', async () => (await box(tab).inputValue()) === '');
  await box(tab).fill('half a thought');
  await tab.page.route('**/follow-up', (route) => route.fulfill({ status: 409, json: { success: false, message: 'The disk is full.' } }));
  const sendIt = waiting(tab).getByRole('button', { name: 'Send now' });
  await sendIt.click();
  await tab.page.getByRole('alert').filter({ hasText: 'The disk is full.' }).waitFor();
  await until('it to wait again', async () => String(await queue(world, attempt)) === 'say faster');
  await tab.page.unroute('**/follow-up');
  await sendIt.click();
  await log(tab).getByText('say faster').waitFor();
  await until('the queue to be empty', async () => (await queue(world, attempt)).length === 0);
  assert.equal(await box(tab).inputValue(), 'half a thought');
  await until('the draft to be kept', async () => (await world.get(`/task-attempts/${attempt.id}/draft?type=follow_up`)).prompt === 'half a thought');
});

journey('a running agent is stopped, and what waits is sent when the person says so, or cleared', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Endless', 'say working\nhang');
  const tab = await world.open(`/a/${attempt.id}`);
  await log(tab).getByText('working', { exact: true }).waitFor();
  const wait = async (text) => {
    await box(tab).fill(text);
    await button(tab, 'Queue').click();
    await waiting(tab).getByText(text, { exact: true }).waitFor();
    await until('the box to be empty', async () => (await box(tab).inputValue()) === '');
  };
  for (const text of ['say first of all', 'say after that', 'say never']) await wait(text);
  await tab.page.getByRole('button', { name: 'Stop' }).first().click();
  await world.settled(attempt.id, 'stopped');
  // A queue that stands still goes on with whatever is put in: what was removed comes back into the box.
  await waiting(tab).getByRole('button', { name: 'Remove: say never' }).click();
  await undo(tab).click();
  await until('it to stand in the box', async () => (await box(tab).inputValue()) === 'say never');
  assert.deepEqual(await queue(world, attempt), ['say first of all', 'say after that']);
  assert.equal((await world.attempt(attempt.id)).state, 'stopped');
  await button(tab, 'Send anyway').click();
  await log(tab).getByText('after that', { exact: true }).waitFor();
  await world.settled(attempt.id, 'finished');
  const { entries } = await world.get(`/task-attempts/${attempt.id}/entries`);
  const said = entries.filter(({ entry }) => entry.entry_type.type === 'assistant_message').map(({ entry }) => entry.content);
  assert.deepEqual(said.slice(-2), ['first of all', 'after that']);
  assert.deepEqual(await queue(world, attempt), []);
  assert.equal(await box(tab).inputValue(), 'say never');

  await box(tab).fill('say again\nhang');
  await button(tab, 'Send').click();
  await log(tab).getByText('again', { exact: true }).waitFor();
  for (const text of ['say one', 'say two']) await wait(text);
  await tab.page.getByRole('button', { name: 'Stop' }).first().click();
  await world.settled(attempt.id, 'stopped');
  await button(tab, 'Clear').click();
  await waiting(tab).waitFor({ state: 'detached' });
  assert.deepEqual(await queue(world, attempt), []);
  assert.equal((await world.attempt(attempt.id)).state, 'stopped');
});

/** Gives a file to an element as the clipboard or a dragging hand would. */
const give = (locator, kind, name) => locator.evaluate((element, { kind, name, bytes }) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], name, { type: 'image/png' }));
  const more = kind === 'paste' ? { clipboardData: data } : { dataTransfer: data };
  element.dispatchEvent(new (kind === 'paste' ? ClipboardEvent : DragEvent)(kind, { ...more, bubbles: true, cancelable: true }));
}, { kind, name, bytes: [...picture(name)] });
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** The same bytes are the same picture, so each has its name behind its end. */
const picture = (name) => Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.from(name)]);

journey('a draft is kept by the server with its pictures and shown again; they go along', async (world) => {
  const project = await world.project();
  const { attempt, task } = await world.start(project, 'Draw', 'say hello');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}`);
  const draft = () => world.get(`/task-attempts/${attempt.id}/draft?type=follow_up`);
  const pictures = tab.page.getByRole('list', { name: 'Pictures' });
  await box(tab).fill('say look at this');
  await until('the draft to be kept', async () => (await draft()).prompt === 'say look at this');
  await tab.page.locator('input[type=file]').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: picture('dot.png') });
  await pictures.getByRole('img', { name: 'dot.png' }).waitFor();
  await give(box(tab), 'paste', 'pasted.png');
  await pictures.getByRole('img', { name: 'pasted.png' }).waitFor();
  await give(box(tab), 'drop', 'dropped.png');
  await pictures.getByRole('img', { name: 'dropped.png' }).waitFor();
  await until('the pictures to be kept', async () => (await draft()).image_ids?.length === 3);
  await tab.page.reload();
  await until('the draft to be shown', async () => (await box(tab).inputValue()) === 'say look at this');
  await pictures.getByRole('img', { name: 'dropped.png' }).waitFor();
  await box(tab).press('End');
  await box(tab).pressSequentially(' here');
  await until('the draft to be kept', async () => (await draft()).prompt.startsWith('say look at this here'));
  assert.equal((await draft()).image_ids.length, 3);
  await pictures.getByRole('button', { name: 'Remove dot.png' }).click();
  await pictures.getByRole('img', { name: 'dot.png' }).waitFor({ state: 'detached' });
  await box(tab).press('Control+Enter');
  await log(tab).getByText('look at this here', { exact: true }).waitFor();
  const images = await world.get(`/images/task/${task.id}`);
  assert.deepEqual(images.map((image) => image.original_name).sort(), ['dropped.png', 'pasted.png']);
  await world.settled(attempt.id, 'finished');
  const { entries } = await world.get(`/task-attempts/${attempt.id}/entries`);
  const told = entries.findLast(({ entry }) => entry.entry_type.type === 'user_message').entry.content;
  for (const { original_name: name } of images) assert.equal(told.split(`![${name}](`).length, 2, `the prompt names ${name} once`);
  await until('the box to be empty', async () => (await draft()).prompt === '');
  // They stand below the words of the turn. The agent has repeated how they are written, which shows nothing.
  const turn = tab.page.getByRole('article', { name: 'Turn 2' });
  const sent = turn.getByRole('list', { name: 'Sent pictures' });
  await turn.getByText('say look at this here', { exact: true }).waitFor();
  await until('both pictures to be drawn', () => sent.getByRole('img').evaluateAll((all) =>
    all.length === 2 && all.every((it) => it.naturalWidth > 0)));
  assert.equal(await log(tab).getByRole('img', { name: 'dropped.png' }).count(), 1);
  await tab.accessible();
  const opens = tab.context.waitForEvent('page');
  await sent.getByRole('link', { name: 'dropped.png' }).click();
  const opened = await opens;
  await opened.waitForURL(/\/api\/images\/[^/]+\/file$/);
  await opened.close();
});

journey('another profile answers from the next message on, and what the agent set out to do stands above the box', async (world) => {
  const { executors } = JSON.parse((await world.get('/profiles')).content);
  executors.SCRIPTED.LOUD = { SCRIPTED: { append_prompt: '\nsay LOUD' } };
  await world.put('/profiles', { executors });
  const project = await world.project();
  const { attempt } = await world.start(project, 'Steps', 'todos done Read the code | doing Write a test | open Ship it\nsay ready');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}`);
  const todos = tab.page.getByRole('button', { name: /^Todos 1\/3/ });
  await todos.getByText('Write a test').waitFor();
  await todos.click();
  const list = tab.page.getByRole('list', { name: 'Todos' });
  assert.deepEqual((await list.getByRole('listitem').allInnerTexts()).map((it) => it.trim()), ['Read the code', 'Write a test', 'Ship it']);
  await list.getByRole('listitem').filter({ hasText: 'Write a test' }).getByRole('img', { name: 'in progress' }).waitFor();
  await tab.accessible();

  await tab.page.getByRole('combobox', { name: 'Profile' }).selectOption('LOUD');
  await tab.page.getByText('Scripted / loud from the next message').waitFor();
  await box(tab).fill('say quietly');
  await button(tab, 'Send').click();
  await log(tab).getByText('LOUD', { exact: true }).waitFor();
  await world.settled(attempt.id, 'finished');
  const runs = await world.get(`/execution-processes?task_attempt_id=${attempt.id}`);
  const variants = runs.map(({ executor_action: { typ } }) => typ.executor_profile_id.variant ?? null);
  assert.deepEqual(variants, [null, 'LOUD']);
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
