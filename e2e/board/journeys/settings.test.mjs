// The settings: each value is saved by itself, and the server has it.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

const theme = (tab) => tab.page.evaluate(() => document.documentElement.dataset.theme);

journey('the theme follows the system until a person chooses, and stays chosen', async (world) => {
  const tab = await world.open('/settings/general', { colorScheme: 'dark' });
  assert.equal(await theme(tab), 'dark');
  await tab.page.getByLabel('Theme').selectOption('Light');
  assert.equal(await theme(tab), 'light');
  await tab.page.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
  await tab.page.getByLabel('Theme').selectOption('Dark');
  await tab.page.emulateMedia({ colorScheme: 'light' });
  await tab.page.reload();
  await tab.page.getByLabel('Theme').waitFor();
  assert.equal(await theme(tab), 'dark');
  const ground = await tab.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(ground, 'rgb(20, 21, 23)');
  await tab.accessible();
});

journey('single keys are switched off as a whole, and those with Ctrl stay', async (world) => {
  const tab = await world.open('/settings/general');
  await tab.page.getByLabel('Single-key shortcuts').uncheck();
  await tab.page.evaluate(() => document.activeElement?.blur());
  await tab.page.keyboard.press('?');
  await tab.page.keyboard.press('Control+k');
  await tab.page.getByRole('dialog', { name: 'Commands' }).waitFor();
  assert.equal(await tab.page.getByRole('dialog', { name: 'Keys' }).count(), 0);
});

journey('the prefix of branches and the editor are saved, and a refusal stands beside its field', async (world) => {
  const tab = await world.open('/settings/git');
  const prefix = tab.page.getByLabel('Branch prefix');
  await prefix.fill('a b');
  await prefix.press('Enter');
  await tab.page.getByRole('alert').filter({ hasText: 'git branch prefix' }).waitFor();
  assert.equal((await world.get('/config')).git_branch_prefix, 'forge');
  await prefix.fill('robots');
  await prefix.press('Enter');
  await tab.page.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
  assert.equal((await world.get('/config')).git_branch_prefix, 'robots');

  await tab.page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Editor' }).click();
  await tab.page.getByLabel('Editor', { exact: true }).selectOption('A command of yours');
  const command = tab.page.getByLabel('Command', { exact: true });
  await command.fill('vi');
  await command.press('Enter');
  await until('the editor to be saved', async () => {
    const { editor } = await world.get('/config');
    return editor.editor_type === 'CUSTOM' && editor.custom_command === 'vi';
  });
});

journey('a profile is changed in the form, and as JSON with its mistake shown by line', async (world) => {
  const tab = await world.open('/settings/agents');
  await tab.page.getByRole('listitem', { name: 'Scripted, ready' }).waitFor();
  await tab.page.getByRole('combobox', { name: 'Agent', exact: true }).selectOption('Codex');
  await tab.page.getByRole('combobox', { name: 'Profile', exact: true }).selectOption('HIGH');
  const model = tab.page.getByLabel('Model', { exact: true });
  await model.fill('gpt-x');
  await model.press('Enter');
  const profiles = async () => JSON.parse((await world.get('/profiles')).content).executors;
  await until('the model to be saved', async () => (await profiles()).CODEX.HIGH.CODEX.model === 'gpt-x');

  await tab.page.getByRole('radio', { name: 'JSON' }).check();
  const json = tab.page.getByRole('textbox', { name: 'Profiles as JSON' });
  await until('the text to have the model', async () => (await json.inputValue()).includes('gpt-x'));
  const good = await json.inputValue();
  const line = good.split('\n').findIndex((text) => text.includes('gpt-x')) + 1;
  await json.fill(good.replace('"gpt-x"', 'gpt-x'));
  await tab.page.getByRole('alert').filter({ hasText: `Line ${line}:` }).waitFor();
  await tab.page.getByRole('button', { name: 'Save', exact: true }).click({ force: true });
  assert.equal((await profiles()).CODEX.HIGH.CODEX.model, 'gpt-x');

  await json.fill(good.replace('"gpt-x"', '"gpt-y"'));
  await tab.page.getByRole('button', { name: 'Save', exact: true }).click();
  await tab.page.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
  assert.equal((await profiles()).CODEX.HIGH.CODEX.model, 'gpt-y');
  await tab.accessible();
});

journey('an MCP server is added to the file of its agent', async (world) => {
  const tab = await world.open('/settings/mcp');
  await tab.page.getByLabel('Agent', { exact: true }).selectOption('Claude Code');
  await tab.page.getByRole('button', { name: 'Add Playwright' }).click();
  await tab.page.getByRole('listitem', { name: 'Playwright' }).getByText('added').waitFor();
  const { config_path, mcp_config } = await world.get('/mcp-config?executor=CLAUDE_CODE');
  assert.equal(config_path, join(world.directory, '.claude.json'));
  assert.deepEqual(Object.keys(mcp_config.servers), ['playwright']);
  assert.ok(JSON.parse(readFileSync(config_path, 'utf8')).mcpServers.playwright);

  const json = tab.page.getByRole('textbox', { name: 'MCP servers as JSON' });
  await until('the text to have it', async () => (await json.inputValue()).includes('playwright'));
  await json.fill('{"own": {"command": "my-server"}}');
  await json.press('Control+Enter');
  await tab.page.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
  const after = await world.get('/mcp-config?executor=CLAUDE_CODE');
  assert.deepEqual(after.mcp_config.servers, { own: { command: 'my-server' } });
});

journey('a snippet is made, changed, deleted and brought back', async (world) => {
  const tab = await world.open('/settings/snippets');
  const form = tab.page.getByRole('form', { name: 'New snippet' });
  await form.getByLabel('Name').fill('be careful');
  await form.getByLabel('Text').fill('Run the tests first.');
  await form.getByRole('button', { name: 'Add snippet' }).click();
  await form.getByRole('alert').filter({ hasText: 'blanks' }).waitFor();
  await form.getByLabel('Name').fill('careful');
  await form.getByRole('button', { name: 'Add snippet' }).click();
  const row = tab.page.getByRole('list', { name: 'Snippets' }).getByRole('listitem', { name: 'careful' });
  await row.waitFor();
  await row.getByLabel('Text').fill('Run all tests first.');
  await row.getByLabel('Name').focus();
  await row.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
  // Forge brings some of its own.
  const own = async () => (await world.get('/tags')).filter((tag) => tag.tag_name === 'careful').map((tag) => tag.content);
  assert.deepEqual(await own(), ['Run all tests first.']);

  await row.getByRole('button', { name: 'Delete snippet careful' }).click();
  await row.waitFor({ state: 'detached' });
  assert.deepEqual(await own(), []);
  await tab.page.getByRole('button', { name: 'Undo' }).click();
  await row.waitFor();
  assert.deepEqual(await own(), ['Run all tests first.']);
});

journey('the disk is shown by project, and a dry run takes nothing', async (world) => {
  const project = await world.project('shop-api');
  const { attempt } = await world.start(project, 'One file', 'edit a.txt hello\nsay done');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open('/settings/disk');
  await tab.page.getByRole('rowheader', { name: 'shop-api' }).waitFor();
  await tab.page.getByRole('button', { name: 'Show what would go' }).click();
  await tab.page.getByRole('region', { name: 'What would go' }).waitFor();
  const { container_ref, worktree_deleted } = await world.attempt(attempt.id);
  assert.ok(container_ref && !worktree_deleted);
  await tab.accessible();
});

journey('notices are chosen by kind, and the browser is asked only by a click', async (world) => {
  const tab = await world.open('/settings/notifications');
  assert.notEqual(await tab.page.evaluate(() => Notification.permission), 'granted');
  const limit = tab.page.getByRole('checkbox', { name: 'Notice: A usage limit was reached' });
  assert.equal(await limit.isChecked(), false);
  await limit.check();
  await tab.page.reload();
  assert.equal(await limit.isChecked(), true);
});

journey('what would go is shown first, then freed after a question, and comes back when it is needed', async (world) => {
  const project = await world.project('shop-api');
  const { attempt } = await world.start(project, 'Old work', 'edit a.txt hello\nrun head -c 200000 /dev/urandom > large.bin');
  await world.settled(attempt.id, 'finished');
  const { config } = await world.get('/info');
  await world.put('/config', { ...config, worktrees: { expire_after_hours: 0, tidy_after_hours: 0 } });
  const tab = await world.open('/settings/disk');
  const { page } = tab;
  await page.getByRole('button', { name: 'Show what would go' }).click();
  const list = page.getByRole('region', { name: 'What would go' });
  const { container_ref: path } = await world.attempt(attempt.id);
  await list.getByText(path, { exact: true }).waitFor();
  assert.ok(existsSync(path), 'a dry run takes nothing');
  await page.getByRole('button', { name: /^Free \d/ }).click();
  const ask = page.getByRole('alertdialog', { name: /^Free \d.*\?$/ });
  await ask.getByText('Branches and snapshots stay.').waitFor();
  // Whoever presses Enter by habit has not agreed to anything.
  assert.equal(await ask.getByRole('button', { name: 'Cancel' }).evaluate((it) => it === document.activeElement), true);
  await tab.accessible();
  await ask.getByRole('button', { name: /^Free \d/ }).click();
  await page.getByRole('region', { name: 'Notices' }).getByText(/^Freed \d/).waitFor();
  await until('the worktree to be gone', async () => !existsSync(path));
  await world.post(`/task-attempts/${attempt.id}/follow-up`, { prompt: 'say still here' });
  await world.settled(attempt.id, 'finished');
  assert.equal(readFileSync(join(path, 'a.txt'), 'utf8'), 'hello\n');
});

journey('on a phone every section of the settings is chosen from one list', async (world) => {
  const project = await world.project('shop-api');
  const tab = await world.open('/settings/general', { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true });
  const { page } = tab;
  const section = page.getByLabel('Section of the settings');
  await section.selectOption('Git');
  await page.getByLabel('Branch prefix').waitFor();
  assert.equal(new URL(page.url()).pathname, '/settings/git');
  await section.selectOption('shop-api');
  await page.getByRole('heading', { name: 'shop-api' }).waitFor();
  assert.equal(new URL(page.url()).pathname, `/settings/project/${project.id}`);
  assert.equal((await world.get(`/projects/${project.id}`)).name, 'shop-api');
  await tab.accessible();
});
