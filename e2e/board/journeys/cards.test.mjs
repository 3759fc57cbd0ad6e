// What cards, columns and the head of a board tell, and what is done to several cards at once.

import assert from 'node:assert/strict';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

const column = (page, words) => page.getByRole('list', { name: new RegExp(`^${words}, `) });
const cardOf = (page, title) => page.getByRole('listitem').filter({ has: page.getByRole('link', { name: title, exact: true }) });
const inColumn = (page, words, title) => column(page, words).getByRole('link', { name: title, exact: true });
const statuses = async (world, project) =>
  Object.fromEntries((await world.get(`/tasks?project_id=${project.id}`)).map(({ title, status }) => [title, status]));
const become = (world, project, wanted) => until(`${JSON.stringify(wanted)}`, async () => {
  const now = await statuses(world, project);
  return Object.entries(wanted).every(([title, status]) => now[title] === status);
});

journey('a card says who is at it, how far, what changed and what it cost, and head and rail add it up', async (world) => {
  const project = await world.project('shop-api');
  const running = await world.start(project, 'Move the sessions', 'todos done Read | doing Write | open Test\nuse 1000 100 0 60000\nsleep 600000');
  const ready = await world.start(project, 'Rate limiter', 'edit limit.js one\nrun printf "two\\nthree\\n" >> limit.js\nuse 1000 100 0 180000');
  const asks = await world.start(project, 'Date library', 'ask Should I use date-fns?');
  await world.settled(ready.attempt.id, 'finished');
  await world.settled(asks.attempt.id, 'waiting');
  await until('the cost to be known', async () => (await world.attempt(running.attempt.id)).cost_micros > 0);
  const { page } = await world.open(`/p/${project.id}`);
  const tells = async (title, ...words) => {
    for (const text of words) await cardOf(page, title).getByText(text, { exact: true }).waitFor();
  };
  await tells('Move the sessions', 'Scripted', '1/3', '$0.06');
  await tells('Rate limiter', 'Scripted', '1 file', '+3', '−0', '$0.18');
  await tells('Date library', 'Should I use date-fns?');
  await cardOf(page, 'Date library').getByRole('link', { name: /^Answer/ }).or(cardOf(page, 'Date library').getByRole('button', { name: /^Answer/ })).waitFor();

  const head = page.getByRole('main');
  for (const sum of ['1 running', '1 needs you', '1 to review', '$0.24 today']) await head.getByText(sum, { exact: true }).waitFor();
  const rail = page.getByRole('navigation', { name: 'Main' });
  // One of those that run waits for a word.
  await rail.getByRole('link', { name: 'shop-api, 1 need you, 2 running' }).waitFor();
  await rail.getByRole('link', { name: /^Inbox, \d need you$/ }).waitFor();
  const { state, todos_done, todos_total } = await world.attempt(running.attempt.id);
  assert.deepEqual([state, todos_done, todos_total], ['running', 1, 3]);
});

journey('what is cancelled is hidden until it is asked for, and a card dropped on the folded column is archived', async (world) => {
  const project = await world.project('shop-api');
  for (const title of ['Beta', 'Alpha', 'Given up']) await world.task(project, title);
  const [given] = (await world.get(`/tasks?project_id=${project.id}`)).filter(({ title }) => title === 'Given up');
  await world.put(`/tasks/${given.id}`, { status: 'cancelled' });
  const tab = await world.open(`/p/${project.id}`);
  const { page } = tab;
  await inColumn(page, 'Wish', 'Alpha').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Given up' }).count(), 0);
  const more = async (item) => {
    await page.getByRole('button', { name: 'More of the board' }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await more('Show cancelled');
  await inColumn(page, 'Cancelled', 'Given up').waitFor();
  await tab.accessible();
  await more('Hide cancelled');
  await page.getByRole('link', { name: 'Given up' }).waitFor({ state: 'detached' });

  // The order that was chosen for a column stays.
  const order = (...wanted) => until(`the order ${wanted}`, async () => JSON.stringify(await column(page, 'Wish').getByRole('link').allTextContents()) === JSON.stringify(wanted));
  for (const [words, wanted] of [['Newest first', ['Alpha', 'Beta']], ['Oldest first', ['Beta', 'Alpha']], ['By title', ['Alpha', 'Beta']]]) {
    await page.getByRole('button', { name: 'Order of Wish' }).click();
    await page.getByRole('menuitemradio', { name: words }).click();
    await order(...wanted);
  }
  await page.reload();
  await order('Alpha', 'Beta');

  const strip = page.getByRole('button', { name: 'Show archived, 0' });
  await cardOf(page, 'Alpha').dragTo(strip);
  await become(world, project, { Alpha: 'archived', Beta: 'todo' });
  await page.getByRole('button', { name: 'Show archived, 1' }).click();
  await inColumn(page, 'Archived', 'Alpha').waitFor();
});

journey('several cards are selected, moved and deleted at once', async (world) => {
  const project = await world.project('shop-api');
  for (const title of ['One', 'Two', 'Three', 'Four']) await world.task(project, title);
  const tab = await world.open(`/p/${project.id}`);
  const { page } = tab;
  await inColumn(page, 'Wish', 'One').waitFor();
  const [first, second, third, fourth] = await column(page, 'Wish').getByRole('link').allTextContents();
  await inColumn(page, 'Wish', first).focus();
  await page.keyboard.press('x');
  await page.getByRole('toolbar', { name: '1 selected' }).waitFor();
  await inColumn(page, 'Wish', third).focus();
  await page.keyboard.press('Shift+X');
  const toolbar = page.getByRole('toolbar', { name: '3 selected' });
  await toolbar.waitFor();
  await tab.accessible();
  await toolbar.getByRole('button', { name: 'Move to: the selected tasks' }).click();
  await page.getByRole('menuitem', { name: 'Cancelled' }).click();
  await become(world, project, { [first]: 'cancelled', [second]: 'cancelled', [third]: 'cancelled', [fourth]: 'todo' });
  await page.getByRole('status').filter({ hasText: '3 moved to Cancelled.' }).getByRole('button', { name: 'Undo' }).click();
  await become(world, project, { [first]: 'todo', [second]: 'todo', [third]: 'todo' });

  // With the pointer: Shift and a click, each.
  for (const title of [second, fourth]) await inColumn(page, 'Wish', title).click({ modifiers: ['Shift'] });
  await page.getByRole('toolbar', { name: '2 selected' }).getByRole('button', { name: 'Delete' }).click();
  const gone = page.getByRole('status').filter({ hasText: '2 tasks are gone.' });
  await gone.waitFor();
  assert.deepEqual(Object.keys(await statuses(world, project)).sort(), [first, third].sort());
  await page.getByRole('toolbar').waitFor({ state: 'detached' });
  await gone.getByRole('button', { name: 'Undo' }).click();
  await become(world, project, { [first]: 'todo', [second]: 'todo', [third]: 'todo', [fourth]: 'todo' });
  for (const title of [second, fourth]) await inColumn(page, 'Wish', title).waitFor();
});

journey('of what is done the newest twenty are shown, and the older are archived together', async (world) => {
  const project = await world.project('shop-api');
  for (let at = 1; at <= 23; at += 1) {
    const { id } = await world.task(project, `Task ${at}`);
    await world.put(`/tasks/${id}`, { status: 'done' });
  }
  const { page } = await world.open(`/p/${project.id}`);
  await page.getByText('3 older').waitFor();
  await page.getByRole('button', { name: 'Archive 3 older' }).click();
  await become(world, project, { 'Task 1': 'archived', 'Task 2': 'archived', 'Task 3': 'archived', 'Task 4': 'done', 'Task 23': 'done' });
  await page.getByText('3 older').waitFor({ state: 'detached' });
  await page.getByRole('status').filter({ hasText: '3 moved to Archived.' }).getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'Show 3 older' }).click();
  await page.getByRole('button', { name: 'Archive 3 older' }).waitFor({ state: 'detached' });
  await become(world, project, { 'Task 1': 'done', 'Task 2': 'done', 'Task 3': 'done' });
  assert.deepEqual(new Set(Object.values(await statuses(world, project))), new Set(['done']));
});

journey('an agent that stands still is sent on or stopped from its card', async (world) => {
  const project = await world.project('shop-api');
  const { config } = await world.get('/info');
  await world.put('/config', { ...config, agents: { ...config.agents, stalled_after_seconds: 1 } });
  const [failed, limited, stopped, silent] = await Promise.all([
    world.start(project, 'Failed', 'say hm\nexit 3'),
    world.start(project, 'Limited', 'say hm\nlimit 3600000'),
    world.start(project, 'Stopped', 'say hm\nlines 100000 50'),
    world.start(project, 'Silent', 'say hm\nsleep 600000'),
  ]);
  await world.settled(failed.attempt.id, 'failed');
  const { limited_until } = await world.settled(limited.attempt.id, 'limited');
  await world.settled(stopped.attempt.id, 'running');
  await world.post(`/task-attempts/${stopped.attempt.id}/stop`);
  await world.settled(stopped.attempt.id, 'stopped');
  await until('the agent to be silent', async () => (await world.attempt(silent.attempt.id)).stalled);
  const { page } = await world.open(`/p/${project.id}`);
  const button = (title, words) => cardOf(page, title).getByRole('button', { name: `${words}: ${title}` });
  await cardOf(page, 'Limited').getByText(/^Usage limit until \d/).waitFor();
  assert.ok(Date.parse(limited_until) > Date.now());
  for (const [{ task, attempt }, words] of [[failed, 'Retry'], [limited, 'Resume now'], [stopped, 'Continue']]) {
    await button(task.title, words).click();
    // The agent plays what it is told, which is to say it.
    await world.settled(attempt.id, 'finished');
    // Entries are made beside the run, and may come a moment after its end.
    await until('the agent to have been told once', async () => {
      const { entries } = await world.get(`/task-attempts/${attempt.id}/entries?limit=100`);
      return entries.filter(({ entry }) => entry.content === 'Go on where you stopped.' && entry.entry_type.type === 'user_message').length === 1;
    });
    await inColumn(page, 'Review', task.title).waitFor();
  }
  const nudged = page.waitForResponse((answer) => answer.url().endsWith(`${silent.attempt.id}/follow-up`));
  await button('Silent', 'Nudge').click();
  assert.equal((await (await nudged).json()).data.delivered, 'injected');
  await button('Silent', 'Stop').click();
  await world.settled(silent.attempt.id, 'stopped');
});
