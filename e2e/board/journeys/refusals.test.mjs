// What does not work says so beside the button that was pressed: whatever the button, and whoever is to blame.

import assert from 'node:assert/strict';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

const cardOf = (page, title) => page.getByRole('listitem').filter({ has: page.getByRole('link', { name: title, exact: true }) });
const landing = (page) => page.getByRole('region', { name: 'Landing' });

/** Chooses something of a menu. */
async function choose(page, button, item) {
  await button.click();
  await page.getByRole('menuitem', typeof item === 'string' ? { name: item, exact: true } : { name: item }).click();
}

async function furnish(world) {
  const project = await world.project('shop-api');
  const { config } = await world.get('/info');
  await world.put('/config', { ...config, executor_profile: { executor: 'SCRIPTED' } });
  const wish = await world.task(project, 'A wish', 'say hello');
  const ready = await world.start(project, 'Ready', 'edit README.md # Shop of the agent');
  await world.settled(ready.attempt.id, 'finished');
  return { project, wish, ready };
}

journey('without its repository, start, merge, rebase, push and pull request each say why they did not happen', async (world) => {
  const { project, wish, ready } = await furnish(world);
  project.git('commit', '-q', '--allow-empty', '-m', 'moved on');
  const tab = await world.open(`/a/${ready.attempt.id}`);
  tab.expects(422);
  const { page } = tab;
  const strip = landing(page);
  const alert = strip.getByRole('alert');
  const others = strip.getByRole('button', { name: 'Other ways to land' });
  await strip.getByRole('button', { name: 'Rebase then merge' }).waitFor();
  await page.goto(`/p/${project.id}`);
  await cardOf(page, 'A wish').waitFor();
  renameSync(project.path, `${project.path}-elsewhere`);

  await cardOf(page, 'A wish').getByRole('button', { name: 'Start: A wish' }).click();
  await cardOf(page, 'A wish').getByRole('alert').getByText(/^Not started: .*shop-api does not exist/).waitFor();
  assert.deepEqual(await world.get(`/task-attempts?task_id=${wish.id}`), []);

  renameSync(`${project.path}-elsewhere`, project.path);
  await page.goto(`/a/${ready.attempt.id}`);
  await strip.getByRole('button', { name: 'Rebase then merge' }).click();
  const confirm = page.getByRole('alertdialog').getByRole('button', { name: 'Rebase then merge' });
  await confirm.waitFor();
  renameSync(project.path, `${project.path}-elsewhere`);
  await confirm.click();
  await alert.getByText(/^Not merged: /).waitFor();
  await alert.getByRole('button', { name: 'Close' }).click();
  for (const [verb, said] of [[/^Rebase onto main/, /^Not rebased: /], [/^Push the branch/, /^Not pushed: /]]) {
    await choose(page, others, verb);
    await alert.getByText(said).waitFor();
    await tab.accessible();
    await alert.getByRole('button', { name: 'Close' }).click();
  }
  await choose(page, others, /^Create pull request/);
  const dialog = page.getByRole('dialog', { name: 'Create pull request' });
  await dialog.getByRole('button', { name: 'Create pull request' }).click();
  await dialog.getByRole('alert').getByText(/^Pull request not created: /).waitFor();
  renameSync(`${project.path}-elsewhere`, project.path);
  assert.equal((await world.attempt(ready.attempt.id)).is_merged, false);
});

const NO = 'The disk of the server is full.';
const saying = (sentence) => (where) => where.getByRole('alert').filter({ hasText: sentence }).first().waitFor();

/** Answers as a server that refuses, to whatever changes something. */
const refuse = (page, sentence) => page.route('**/api/**', (route) =>
  (route.request().method() === 'GET' ? route.fallback() : route.fulfill({ status: 409, json: { success: false, data: null, error_data: null, message: sentence } })));

journey('a refusal of stop, delete, approve, reply, merge and comment stands beside its button', async (world) => {
  const { project, wish, ready } = await furnish(world);
  const busy = await world.start(project, 'Busy', 'sleep 600000');
  const asks = await world.start(project, 'Asks', 'permit Bash {"command":"ls"}');
  await world.settled(asks.attempt.id, 'waiting');
  await world.settled(busy.attempt.id, 'running');
  const tab = await world.open(`/p/${project.id}`);
  const { page } = tab;
  await refuse(page, NO);
  const says = saying(NO);

  await choose(page, page.getByRole('button', { name: 'Actions for Busy' }), 'Stop');
  await says(cardOf(page, 'Busy'));
  await choose(page, page.getByRole('button', { name: 'Actions for A wish' }), 'Delete');
  await says(cardOf(page, 'A wish'));
  await until('the answer to be refused', async () => {
    await cardOf(page, 'Asks').getByRole('button', { name: 'Allow: Asks' }).click({ timeout: 1000 }).catch(() => {});
    return cardOf(page, 'Asks').getByRole('alert').isVisible();
  });
  await says(cardOf(page, 'Asks'));
  await tab.accessible();

  await page.goto(`/a/${busy.attempt.id}`);
  const composer = page.getByRole('region', { name: 'Composer' });
  await composer.getByRole('button', { name: 'Stop' }).click();
  await says(composer);
  await composer.getByRole('button', { name: 'Interrupt' }).click();
  await says(composer);
  await page.goto(`/a/${ready.attempt.id}`);
  await composer.getByRole('textbox', { name: 'Reply' }).fill('say more');
  await composer.getByRole('button', { name: 'Send', exact: true }).click();
  await says(composer);
  await landing(page).getByRole('button', { name: 'Merge into main' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: /^Merge/ }).click();
  await says(landing(page));
  await page.getByRole('region', { name: 'README.md' }).getByRole('button', { name: 'Comment on line 1', exact: true }).last().click();
  await page.getByRole('textbox', { name: 'Comment on line 1' }).fill('Why?');
  await page.keyboard.press('Control+Enter');
  await says(page.getByRole('region', { name: 'README.md' }));

  // Nothing of it happened.
  assert.equal((await world.get(`/tasks/${wish.id}`)).title, 'A wish');
  assert.equal((await world.attempt(busy.attempt.id)).state, 'running');
  assert.equal((await world.attempt(asks.attempt.id)).state, 'waiting');
  assert.equal((await world.attempt(ready.attempt.id)).is_merged, false);
});

journey('a refusal of dismissing, of a setting and of removing a project stands beside its button', async (world) => {
  const { project } = await furnish(world);
  const { page } = await world.open('/inbox');
  await refuse(page, NO);
  const says = saying(NO);
  const row = page.getByRole('list', { name: 'Inbox' }).getByRole('listitem', { name: /^finished, Ready/ });
  await row.getByRole('link').click();
  await page.getByRole('region', { name: 'Preview' }).getByRole('button', { name: 'Dismiss' }).click();
  await says(row);

  await page.goto('/settings/git');
  await page.getByLabel('Branch prefix').fill('robots');
  await page.getByLabel('Branch prefix').press('Enter');
  await says(page.getByRole('main'));
  await page.goto(`/settings/project/${project.id}`);
  await page.getByRole('button', { name: /^Remove/ }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: /^Remove/ }).click();
  await says(page.getByRole('alertdialog'));

  assert.deepEqual((await world.get('/projects')).map(({ name }) => name), ['shop-api']);
  assert.notEqual((await world.get('/config')).git_branch_prefix, 'robots');
});

journey('a refusal of a move, a changed task, a queued message, a restore and another target stands beside its button', async (world) => {
  const { project, wish, ready } = await furnish(world);
  project.git('branch', 'release');
  const busy = await world.start(project, 'Busy', 'sleep 600000');
  await world.settled(busy.attempt.id, 'running');
  await world.put(`/task-attempts/${busy.attempt.id}/draft?type=follow_up`, { prompt: 'say more' });
  await world.post(`/task-attempts/${busy.attempt.id}/draft/queue?type=follow_up`, { queued: true });
  const tab = await world.open(`/p/${project.id}`);
  const { page } = tab;
  await refuse(page, NO);
  const says = saying(NO);

  // The card is back where it was, with the reason.
  for (const verb of ['Archive', 'Move to…']) {
    await choose(page, page.getByRole('button', { name: 'Actions for A wish' }), verb);
    if (verb === 'Move to…') await page.getByRole('menuitemradio', { name: 'Cancelled' }).click();
    await says(cardOf(page, 'A wish'));
    await page.getByRole('list', { name: /^Wish/ }).getByRole('link', { name: 'A wish' }).waitFor();
    await cardOf(page, 'A wish').getByRole('button', { name: 'Close' }).click();
  }
  await choose(page, page.getByRole('button', { name: 'Actions for A wish' }), 'Edit');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Title' }).fill('Another wish');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await says(dialog);
  await tab.accessible();

  await page.goto(`/a/${busy.attempt.id}`);
  await page.getByRole('button', { name: 'Edit: say more' }).click();
  await page.getByRole('textbox', { name: 'Queued message' }).fill('say less');
  await page.getByRole('list', { name: 'Queued messages' }).getByRole('button', { name: 'Save' }).click();
  await says(page.getByRole('list', { name: 'Queued messages' }));

  await page.goto(`/a/${ready.attempt.id}?tab=snapshots`);
  await page.getByRole('button', { name: 'Restore after turn 1' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Put the files back' }).click();
  await says(page.getByRole('alertdialog'));
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  await choose(page, landing(page).getByRole('button', { name: 'Other ways to land' }), /^Change target branch/);
  await page.getByRole('dialog').getByLabel('Branch').selectOption('release');
  await page.getByRole('dialog').getByRole('button', { name: 'Change target' }).click();
  await says(page.getByRole('dialog'));

  const { title, status } = await world.get(`/tasks/${wish.id}`);
  assert.deepEqual([title, status], ['A wish', 'todo']);
  assert.deepEqual((await world.get(`/task-attempts/${busy.attempt.id}/queue`)).map(({ prompt }) => prompt), ['say more']);
  assert.equal((await world.attempt(ready.attempt.id)).target_branch, 'main');
});

journey('a refusal of a snippet, of MCP servers and of a new project stands beside its button', async (world) => {
  const tab = await world.open('/settings/snippets');
  const { page } = tab;
  await refuse(page, NO);
  const says = saying(NO);
  const before = (await world.get('/tags')).length;
  const form = page.getByRole('form', { name: 'New snippet' });
  await form.getByLabel('Name').fill('careful');
  await form.getByLabel('Text').fill('Run the tests first.');
  await form.getByRole('button', { name: 'Add snippet' }).click();
  await says(form);
  await page.goto('/settings/mcp');
  await page.getByRole('textbox', { name: 'MCP servers as JSON' }).fill('{"own": {"command": "my-server"}}');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await says(page.getByRole('main'));

  mkdirSync(join(world.directory, 'fresh'));
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Add a project' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a project' });
  await dialog.getByRole('textbox', { name: 'Folder' }).fill(join(world.directory, 'fresh'));
  await dialog.getByRole('textbox', { name: 'Folder' }).press('Enter');
  await dialog.getByRole('button', { name: 'Create it here' }).click();
  await says(dialog);
  await tab.accessible();
  assert.equal((await world.get('/tags')).length, before);
  assert.deepEqual(await world.get('/projects'), []);
});

journey('what could not be asked for says so in its own place, and is there after another try', async (world) => {
  await world.project('shop-api');
  const tab = await world.open('/settings/git');
  const { page } = tab;
  await page.route('**/api/disk', (route) => route.fulfill({ status: 500, json: { success: false, data: null, error_data: null, message: NO } }));
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Disk' }).click();
  const failed = page.getByRole('alert').filter({ hasText: `The disk usage is not shown: ${NO}` });
  await failed.waitFor();
  // Everything else is there.
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Trash' }).waitFor();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^shop-api/ }).waitFor();
  await tab.accessible();
  await page.unroute('**/api/disk');
  await failed.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('table', { name: /taken/ }).waitFor();
  assert.ok((await world.get('/disk')).database_bytes > 0);
});

journey('with the server killed each kind of button says so when it is pressed', async (world) => {
  const { project, ready } = await furnish(world);
  const busy = await world.start(project, 'Busy', 'sleep 600000');
  const asks = await world.start(project, 'Asks', 'permit Bash {"command":"ls"}');
  await world.settled(asks.attempt.id, 'waiting');
  await world.settled(busy.attempt.id, 'running');
  const tab = await world.open(`/a/${busy.attempt.id}`);
  const { page } = tab;
  const visit = async (path, there) => {
    await page.evaluate((path) => history.pushState(null, '', path), path);
    await there.waitFor();
  };
  // What is needed of each page is loaded while there is somebody to give it.
  const merge = landing(page).getByRole('button', { name: 'Merge into main' });
  await visit(`/a/${ready.attempt.id}`, merge);
  await visit('/settings/git', page.getByLabel('Branch prefix'));
  await visit(`/p/${project.id}`, cardOf(page, 'A wish'));
  await world.kill();
  await page.getByRole('status', { name: 'Connection' }).filter({ hasText: 'away' }).waitFor();
  const says = (where = page) => where.getByRole('alert').filter({ hasText: /The server (is away\.|cannot be reached)/ }).first().waitFor();

  // It is off, which keeps nobody from pressing it.
  await cardOf(page, 'A wish').getByRole('button', { name: 'Start: A wish' }).click({ force: true });
  await says();
  await page.getByRole('button', { name: 'Actions for A wish' }).click();
  await page.getByRole('menuitem', { name: /^Delete/ }).getByText('The server is away.').waitFor();
  await page.keyboard.press('Escape');
  const answers = cardOf(page, 'Asks').getByRole('button', { name: /^(Allow|Deny): Asks$/ });
  assert.deepEqual(await answers.evaluateAll((buttons) => buttons.map((it) => it.getAttribute('aria-disabled'))), ['true', 'true']);
  assert.deepEqual(await answers.evaluateAll((buttons) => buttons.map((it) => document.getElementById(it.getAttribute('aria-describedby')).textContent)), ['The server is away.', 'The server is away.']);

  await visit(`/a/${busy.attempt.id}`, page.getByRole('button', { name: 'Stop', exact: true }));
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await says(page.getByRole('region', { name: 'Composer' }));
  await visit(`/a/${ready.attempt.id}`, merge);
  await merge.click();
  await page.getByRole('alertdialog').getByRole('button', { name: /^Merge/ }).click();
  await says(landing(page));
  await visit('/settings/git', page.getByLabel('Branch prefix'));
  await page.getByLabel('Branch prefix').fill('robots');
  await page.getByLabel('Branch prefix').press('Enter');
  await says(page.getByRole('main'));
  await tab.accessible();
  await world.serve();
  assert.equal((await world.attempt(ready.attempt.id)).is_merged, false);
  assert.notEqual((await world.get('/config')).git_branch_prefix, 'robots');
});
