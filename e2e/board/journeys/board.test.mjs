// The board: its cards are seen, moved, filtered and answered.

import assert from 'node:assert/strict';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

/** A board of a project whose tasks the scripted agent is started on. */
async function board(world, options = {}) {
  const project = await world.project('shop-api');
  const { config } = await world.get('/info');
  await world.put('/config', { ...config, executor_profile: { executor: 'SCRIPTED' } });
  const open = () => world.open(`/p/${project.id}`, options);
  return { project, open };
}

const column = (tab, words) => tab.page.getByRole('list', { name: new RegExp(`^${words}, `) });
const cardOf = (tab, title) => tab.page.getByRole('listitem').filter({ has: tab.page.getByRole('link', { name: title, exact: true }) });
const inColumn = (tab, words, title) => column(tab, words).getByRole('link', { name: title, exact: true });
const status = (world, task) => world.get(`/tasks/${task.id}`).then((it) => it.status);
const becomes = (world, task, wanted) => until(`the task to be ${wanted}`, async () => (await status(world, task)) === wanted);

journey('a card that is dragged from Wish to Forge is started', async (world) => {
  const { project, open } = await board(world);
  const task = await world.task(project, 'Log out everywhere', 'say hello\nsleep 60000');
  await world.start(project, 'Something that runs', 'sleep 60000');
  const tab = await open();
  await cardOf(tab, 'Log out everywhere').dragTo(tab.page.getByRole('region', { name: 'Forge' }), { targetPosition: { x: 120, y: 400 } });
  const [attempt] = await until('an attempt', async () => {
    const attempts = await world.get(`/task-attempts?task_id=${task.id}`);
    return attempts.length > 0 && attempts;
  });
  assert.equal(attempt.executor, 'SCRIPTED');
  // Undo stops it and puts it back. The notice stays while the pointer is over it.
  const notice = tab.page.getByRole('status').filter({ hasText: 'Started with Scripted / default.' });
  await notice.getByRole('button', { name: 'Undo' }).click();
  await becomes(world, task, 'todo');
  await inColumn(tab, 'Wish', 'Log out everywhere').waitFor();
  assert.equal((await world.attempt(attempt.id)).state, 'stopped');
  await tab.accessible();
  await tab.named();
});

journey('marking done what is not merged is asked first, and the branch stays', async (world) => {
  const { project, open } = await board(world);
  const { task, attempt } = await world.start(project, 'Add a rate limiter', 'edit src/rate.js export const rate = 1;');
  await world.settled(attempt.id, 'finished');
  const tab = await open();
  const card = cardOf(tab, 'Add a rate limiter');
  const done = tab.page.getByRole('region', { name: 'Done' });
  await card.dragTo(done, { targetPosition: { x: 100, y: 300 } });
  const question = tab.page.getByRole('alertdialog', { name: 'Mark done without merging?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await status(world, task), 'inreview');

  await card.dragTo(done, { targetPosition: { x: 100, y: 300 } });
  await question.getByRole('button', { name: 'Mark done and keep the branch' }).click();
  await inColumn(tab, 'Done', 'Add a rate limiter').waitFor();
  await tab.page.getByRole('status').filter({ hasText: 'Moved to Done.' }).waitFor();
  await becomes(world, task, 'done');
  assert.match(project.git('branch', '--list', attempt.branch), new RegExp(attempt.branch));
});

journey('a card is moved by its menu, and the undo brings it back', async (world) => {
  const { project, open } = await board(world);
  const task = await world.task(project, 'Import orders');
  const tab = await open();
  await tab.page.getByRole('button', { name: 'Actions for Import orders' }).click();
  await tab.page.getByRole('menuitem', { name: 'Move to…' }).click();
  await tab.page.getByRole('menuitemradio', { name: 'Review' }).waitFor();
  await tab.page.getByRole('menuitemradio', { name: 'Archived' }).click();
  await becomes(world, task, 'archived');
  await tab.page.getByRole('button', { name: 'Show archived, 1' }).click();
  await inColumn(tab, 'Archived', 'Import orders').waitFor();
  await tab.page.getByRole('button', { name: 'Undo' }).click();
  await inColumn(tab, 'Wish', 'Import orders').waitFor();
  await becomes(world, task, 'todo');
});

journey('the board is worked with the keyboard alone', async (world) => {
  const { project, open } = await board(world);
  const first = await world.task(project, 'First wish', 'sleep 60000');
  const second = await world.task(project, 'Second wish', 'sleep 60000');
  const tab = await open();
  const { page } = tab;
  const focused = (title) => page.waitForFunction((title) => document.activeElement?.textContent === title, title);
  await inColumn(tab, 'Wish', 'First wish').waitFor();
  const [upper, lower] = await column(tab, 'Wish').getByRole('link').allTextContents();
  const taskOf = (title) => (title === 'First wish' ? first : second);

  await page.keyboard.press('ArrowDown');
  await focused(upper);
  await page.keyboard.press('j');
  await focused(lower);
  await page.keyboard.press('s');
  await inColumn(tab, 'Forge', lower).waitFor();
  await becomes(world, taskOf(lower), 'inprogress');
  // The focus has gone along with the card.
  await focused(lower);
  await page.keyboard.press('h');
  await focused(upper);
  await page.keyboard.press('m');
  // While a menu is open nobody else hears the keys: nothing is started, archived or selected behind it.
  await page.getByRole('menuitemradio', { name: 'Wish' }).waitFor();
  for (const key of ['s', 'e', 'x', 'c', 'Enter']) await page.keyboard.press(key);
  await becomes(world, taskOf(upper), 'cancelled');
  await page.getByRole('status').filter({ hasText: 'Moved to Cancelled.' }).waitFor();
  await page.keyboard.press('z');
  await becomes(world, taskOf(upper), 'todo');
  await inColumn(tab, 'Wish', upper).waitFor();
  assert.deepEqual(await world.get(`/task-attempts?task_id=${taskOf(upper).id}`), []);
  assert.equal(await page.getByRole('toolbar', { name: '1 selected' }).count(), 0);

  // A running one is not simply put away.
  await page.keyboard.press('l');
  await focused(lower);
  await page.keyboard.press('Shift+H');
  await page.getByRole('alertdialog', { name: 'Stop the agent?' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await becomes(world, taskOf(lower), 'todo');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
});

journey('who stops and moves a task that is being stopped already has it moved', async (world) => {
  const { project, open } = await board(world);
  const { task, attempt } = await world.start(project, 'Busy', 'sleep 600000');
  await world.settled(attempt.id, 'running');
  const tab = await open();
  const { page } = tab;
  const stops = [];
  await page.route('**/stop', (route) => { stops.push(route); });
  const choose = async (...items) => {
    await page.getByRole('button', { name: 'Actions for Busy' }).click();
    for (const [role, name] of items) await page.getByRole(role, { name, exact: true }).click();
  };
  await choose(['menuitem', 'Stop']);
  await until('the stop to be under way', () => stops.length === 1);
  await choose(['menuitem', 'Move to…'], ['menuitemradio', 'Wish']);
  await page.getByRole('alertdialog', { name: 'Stop the agent?' }).getByRole('button', { name: 'Stop and move to Wish' }).click();
  // Nothing else is done to it meanwhile, which is said.
  await inColumn(tab, 'Forge', 'Busy').waitFor();
  assert.equal(stops.length, 1);
  await stops[0].continue();
  await becomes(world, task, 'todo');
  await inColumn(tab, 'Wish', 'Busy').waitFor();
  assert.equal((await world.attempt(attempt.id)).state, 'stopped');
});

journey('the board keeps still while one of its cards has the focus', async (world) => {
  const { project, open } = await board(world);
  const [first, second] = [await world.task(project, 'First wish'), await world.task(project, 'Second wish')];
  const tab = await open();
  await inColumn(tab, 'Wish', 'First wish').focus();
  // The count changes at once. How many cards are there in the same moment tells whether their place has waited.
  const seen = await tab.page.evaluateHandle(() => ({
    then: new Promise((tell) => {
      const look = () => {
        const list = document.querySelector('[role=list][aria-label="Wish, 1 task"]');
        if (list) tell(list.querySelectorAll('[role=listitem]').length);
      };
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
    }),
  }));
  await world.put(`/tasks/${second.id}`, { status: 'cancelled' });
  assert.equal(await seen.evaluate(({ then }) => then), 2);
  await tab.page.evaluate(() => document.activeElement.blur());
  await cardOf(tab, 'Second wish').waitFor({ state: 'detached' });
  assert.deepEqual([await status(world, first), await status(world, second)], ['todo', 'cancelled']);
});

journey('to take work back to Forge is to reply to its agent, and the way back leads to the same card', async (world) => {
  const { project, open } = await board(world);
  const { task, attempt } = await world.start(project, 'Add a rate limiter', 'say done');
  await world.settled(attempt.id, 'finished');
  const tab = await open();
  await cardOf(tab, 'Add a rate limiter').dragTo(tab.page.getByRole('region', { name: 'Forge' }), { targetPosition: { x: 100, y: 400 } });
  await tab.page.waitForURL(new RegExp(`/a/${attempt.id}`));
  await tab.page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Reply');
  assert.equal(await status(world, task), 'inreview');
  await tab.page.goBack();
  await tab.page.waitForFunction(() => document.activeElement?.textContent === 'Add a rate limiter');
});

journey('an approval is allowed on its card', async (world) => {
  const { project, open } = await board(world);
  const { attempt } = await world.start(project, 'Drop old migrations', 'permit Bash {"command":"rm -rf ./migrations"}\nsay it is allowed');
  await world.settled(attempt.id, 'waiting');
  const tab = await open();
  const card = cardOf(tab, 'Drop old migrations');
  assert.equal(await card.getAttribute('data-state'), 'asks approval');
  await card.getByRole('img', { name: 'asks: approval' }).waitFor();
  await card.getByText('rm -rf ./migrations').waitFor();
  await tab.accessible();
  // What has only just come up takes no answer yet.
  await until('the answer to be taken', async () => {
    await card.getByRole('button', { name: 'Allow: Drop old migrations' }).click({ timeout: 1000 }).catch(() => {});
    return (await world.get(`/approvals?task_attempt_id=${attempt.id}`))[0].state === 'approved';
  });
  await world.settled(attempt.id, 'finished');
  await tab.page.waitForFunction(() => document.querySelector('[data-task]')?.dataset.state === 'review');
});

journey('a filter hides what is not wanted, says so, and is in the address', async (world) => {
  const { project, open } = await board(world);
  await world.task(project, 'Import orders as CSV');
  await world.task(project, 'Dark mode', 'for the orders page');
  await world.task(project, 'Log out everywhere');
  const { attempt } = await world.start(project, 'Upgrade the compiler', 'exit 3');
  await world.settled(attempt.id, 'failed');
  const tab = await open();
  const { page } = tab;
  const titles = async () => (await page.getByRole('main').getByRole('listitem').getByRole('link').allTextContents()).filter((text) => text !== 'Review').sort();
  const shows = (...wanted) => until(`only ${wanted}`, async () => JSON.stringify(await titles()) === JSON.stringify(wanted.toSorted()));

  await page.keyboard.press('/');
  await page.keyboard.type('orders');
  await shows('Dark mode', 'Import orders as CSV');
  assert.match(page.url(), /q=orders/);
  await page.getByRole('searchbox', { name: 'Filter tasks' }).fill('sta');
  await page.getByRole('button', { name: 'Filter by state:' }).click();
  await page.getByRole('button', { name: 'Filter by state:failed' }).click();
  await shows('Upgrade the compiler');
  await page.reload();
  await shows('Upgrade the compiler');
  await page.getByRole('searchbox', { name: 'Filter tasks' }).fill('agent:codex');
  await page.getByText('No task matches. 4 are hidden by the filter.').waitFor();
  await page.getByRole('button', { name: 'Clear filter' }).click();
  await column(tab, 'Wish').waitFor();
  assert.equal((await titles()).length, 4);
});

journey('two tabs stay in step', async (world) => {
  const { project, open } = await board(world);
  const task = await world.task(project, 'Rename the module');
  const one = await open();
  const two = await open();
  await one.page.getByRole('button', { name: 'Actions for Rename the module' }).click();
  await one.page.getByRole('menuitem', { name: 'Archive' }).click();
  await two.page.getByRole('button', { name: 'Show archived, 1' }).click();
  await inColumn(two, 'Archived', 'Rename the module').waitFor();
  await two.page.getByRole('button', { name: 'Actions for Rename the module' }).click();
  await two.page.getByRole('menuitem', { name: 'Delete' }).click();
  await one.page.getByText('No tasks yet. Write down the first wish.').waitFor();
  await assert.rejects(world.get(`/tasks/${task.id}`), { status: 404 });
  const made = await world.task(project, 'Made elsewhere');
  for (const tab of [one, two]) await inColumn(tab, 'Wish', 'Made elsewhere').waitFor();
  assert.equal(await status(world, made), 'todo');
});

journey('a wish is put above another one by hand, and stays there', async (world) => {
  const { project, open } = await board(world);
  for (const title of ['A', 'B', 'C']) await world.task(project, title);
  const tab = await open();
  const order = async () => column(tab, 'Wish').getByRole('link').allTextContents();
  await inColumn(tab, 'Wish', 'A').waitFor();
  const [top, middle, last] = await order();
  await cardOf(tab, last).dragTo(cardOf(tab, top), { targetPosition: { x: 60, y: 4 } });
  const isNow = (...wanted) => until(`the order ${wanted}`, async () => JSON.stringify(await order()) === JSON.stringify(wanted));
  await isNow(last, top, middle);
  await tab.page.reload();
  await isNow(last, top, middle);
  // The same by keys, on a page that is left before the browser could send anything: six streams that do not end are
  // all the connections it has.
  await inColumn(tab, 'Wish', last).focus();
  const address = tab.page.url();
  await tab.page.evaluate(() => Promise.all(Array.from({ length: 6 }, () => fetch('/api/events'))));
  await tab.page.keyboard.press('Shift+J');
  await isNow(top, last, middle);
  await tab.page.goto('about:blank');
  await tab.page.goto(address);
  await isNow(top, last, middle);
  const tasks = await world.get(`/tasks?project_id=${project.id}`);
  assert.deepEqual(tasks.toSorted((a, b) => a.position - b.position).map((task) => task.title), [top, last, middle]);
});

journey('three hundred tasks scroll, and only those in sight are there', async (world) => {
  const { project, open } = await board(world);
  for (let at = 0; at < 300; at += 20)
    await Promise.all(Array.from({ length: 20 }, (_, i) => world.task(project, `Task ${at + i + 1}`)));
  const tab = await open();
  const list = column(tab, 'Wish');
  await list.getByRole('listitem').first().waitFor();
  assert.equal(await list.getAttribute('aria-label'), 'Wish, 300 tasks');
  assert.ok((await list.getByRole('listitem').count()) < 60);
  await tab.page.keyboard.press('ArrowDown');
  await tab.page.keyboard.press('End');
  const last = list.locator('[aria-posinset="300"]');
  await last.waitFor();
  await tab.page.waitForFunction(() => document.activeElement?.closest('[aria-posinset]')?.getAttribute('aria-posinset') === '300');
  assert.ok((await list.getByRole('listitem').count()) < 60);
  const box = await last.boundingBox();
  assert.ok(box && box.y > 0 && box.y < 900, 'the last card is in sight');
  assert.equal((await world.get(`/tasks?project_id=${project.id}`)).length, 300);
});

journey('the list has one line for each task, in lanes when it is of all projects', async (world) => {
  const { project, open } = await board(world);
  const web = await world.project('web');
  await world.task(project, 'Of the shop');
  await world.task(web, 'Of the web');
  const tab = await open();
  await inColumn(tab, 'Wish', 'Of the shop').waitFor();
  await tab.page.keyboard.press('v');
  await tab.page.getByRole('list', { name: '1 task', exact: true }).getByRole('link', { name: 'Of the shop' }).waitFor();
  assert.match(tab.page.url(), /view=list/);
  await tab.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'All projects' }).click();
  await tab.page.getByRole('list', { name: '2 tasks', exact: true }).getByRole('heading', { name: 'web' }).waitFor();
  await tab.accessible();
  await tab.named();
  await tab.page.getByRole('radiogroup', { name: 'View' }).getByText('Board').click();
  await column(tab, 'Wish').getByText('shop-api').waitFor();
});

journey('on a phone the board is one column at a time', async (world) => {
  const { project, open } = await board(world, { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true });
  await world.task(project, 'A wish');
  const { task, attempt } = await world.start(project, 'Ready to read', 'edit a.txt b');
  await world.settled(attempt.id, 'finished');
  const tab = await open();
  const { page } = tab;
  await inColumn(tab, 'Review', 'Ready to read').waitFor();
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.equal(overflow, 0);
  const small = await page.getByRole('main').getByRole('button').evaluateAll((buttons) =>
    buttons.map((it) => [it.getAttribute('aria-label') ?? it.textContent, it.getBoundingClientRect()]).filter(([, box]) => box.height > 0 && box.height < 44).map(([name]) => name));
  assert.deepEqual(small, []);
  await tab.accessible();
  await page.getByRole('radiogroup', { name: 'Column' }).getByText('Wish').tap();
  await inColumn(tab, 'Wish', 'A wish').waitFor();
  await page.getByRole('radiogroup', { name: 'Column' }).getByText('Review').tap();
  // To merge first leads to the landing, and asks there.
  await page.getByRole('button', { name: 'Actions for Ready to read' }).tap();
  await page.getByRole('menuitem', { name: 'Move to…' }).tap();
  await page.getByRole('menuitemradio', { name: 'Done' }).tap();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Merge first' }).tap();
  const merge = page.getByRole('alertdialog', { name: 'Merge 1 commit into main?' });
  await merge.getByRole('button', { name: 'Cancel' }).tap();
  await page.getByRole('tab', { name: 'Land', selected: true }).waitFor();
  assert.equal((await world.attempt(attempt.id)).is_merged, false);
  await page.goBack();
  await page.getByRole('button', { name: 'Actions for Ready to read' }).tap();
  await page.getByRole('menuitem', { name: 'Archive' }).tap();
  await becomes(world, task, 'archived');
});

journey('a hostile title is text and nothing else', async (world) => {
  const { project, open } = await board(world);
  const title = '<img src=x onerror="document.title=1"><script>alert(1)</script>\u202e{{7*7}} [x](javascript:alert(1))';
  const task = await world.task(project, title, title);
  const tab = await open();
  await inColumn(tab, 'Wish', title).waitFor();
  assert.equal(await tab.page.getByRole('main').getByRole('img').count(), 0);
  await inColumn(tab, 'Wish', title).click();
  await tab.page.getByRole('heading', { name: title }).first().waitFor();
  assert.equal(await tab.page.getByRole('main').locator('a[href^="javascript"]').count(), 0);
  assert.equal((await world.get(`/tasks/${task.id}`)).title, title);
});

journey('with the server gone every card stays, and says why nothing can be done', async (world) => {
  const { project, open } = await board(world);
  await world.task(project, 'Stay here');
  const tab = await open();
  await inColumn(tab, 'Wish', 'Stay here').waitFor();
  await world.kill();
  await tab.page.getByRole('alert').filter({ hasText: 'The server is away since' }).waitFor();
  assert.equal(await tab.page.getByRole('alert').count(), 1);
  await inColumn(tab, 'Wish', 'Stay here').waitFor();
  const start = tab.page.getByRole('button', { name: 'Start: Stay here' });
  assert.equal(await start.getAttribute('aria-disabled'), 'true');
  await world.serve();
  await tab.page.getByRole('alert').filter({ hasText: 'away' }).waitFor({ state: 'detached' });
  const made = await world.task(project, 'After the return');
  await inColumn(tab, 'Wish', 'After the return').waitFor();
  assert.equal(await status(world, made), 'todo');
});

journey('the space bar peeks at a card, the look goes along with the focus, and ends with Esc', async (world) => {
  const { project, open } = await board(world);
  const { attempt } = await world.start(project, 'Rate limiter', 'say A bucket of tokens\nedit limit.js x');
  await world.settled(attempt.id, 'finished');
  await world.task(project, 'Log out everywhere', 'On every device, at once.');
  const tab = await open();
  const { page } = tab;
  await inColumn(tab, 'Wish', 'Log out everywhere').focus();
  await page.keyboard.press('Space');
  const peek = page.getByRole('region', { name: 'Peek' });
  await peek.getByText('On every device, at once.').waitFor();
  await tab.accessible();
  await page.keyboard.press('l');
  await peek.getByRole('heading', { name: 'Rate limiter' }).waitFor();
  await peek.getByText('A bucket of tokens').last().waitFor();
  await page.keyboard.press('Escape');
  await peek.waitFor({ state: 'detached' });
  await page.keyboard.press('Space');
  await peek.waitFor();
  await page.keyboard.press('Space');
  await peek.waitFor({ state: 'detached' });
  // A permission is shown to its last line.
  const asking = await world.start(project, 'Drop old migrations', 'permit Bash {"command":"cp -r migrations backup\\nrm -rf ./migrations"}');
  await inColumn(tab, 'Review', 'Drop old migrations').focus();
  await page.keyboard.press('Space');
  await peek.getByText('cp -r migrations backup rm -rf ./migrations', { exact: true }).waitFor();
  await tab.accessible();
  await world.post(`/task-attempts/${asking.attempt.id}/stop`);
  // A look is no visit: what was not opened is still new.
  assert.equal((await world.attempt(attempt.id)).seen_at, null);
});
