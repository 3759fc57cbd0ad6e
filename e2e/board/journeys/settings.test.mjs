// The settings: each value is saved by itself, and the server has it.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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

journey('a GitHub token is stored once, never shown, and removed again', async (world) => {
  const tab = await world.open('/settings/git');
  const { page } = tab;
  const saves = [];
  page.on('request', (request) => { if (request.method() === 'PUT') saves.push(request.url()); });
  const stored = async () => (await world.get('/config')).github.pat;
  const token = page.getByLabel('GitHub token');
  await token.fill('ghp_0123456789');
  await token.press('Enter');
  await page.getByRole('button', { name: 'Remove the token' }).waitFor();
  await until('the field to be empty', async () => (await token.inputValue()) === '');
  // Whoever leaves the field, or changes another one, does not store it again.
  let answer;
  const mayAnswer = new Promise((done) => { answer = done; });
  await page.route('**/api/config', async (route) => {
    const response = await route.fetch();
    await mayAnswer;
    await route.fulfill({ response });
  });
  await page.getByLabel('Base branch of pull requests').fill('develop');
  await page.getByLabel('Base branch of pull requests').press('Enter');
  await until('the branch to be saved', async () => (await world.get('/config')).github.default_pr_base === 'develop');
  assert.ok(await stored());
  await token.focus();
  await token.blur();
  assert.equal(saves.length, 2);
  answer();
  await page.unroute('**/api/config', { behavior: 'wait' });
  await page.getByRole('button', { name: 'Remove the token' }).click();
  await until('the token to be gone', async () => (await stored()) === null);
  await page.getByRole('button', { name: 'Remove the token' }).waitFor({ state: 'detached' });
  assert.equal((await world.get('/config')).github.default_pr_base, 'develop');
  await tab.accessible();
});

journey('what was deleted waits in the trash, and comes back from there with all that went with it', async (world) => {
  const project = await world.project('shop-api');
  const { task, attempt } = await world.start(project, 'Old work', 'edit a.txt hello');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/p/${project.id}`);
  const { page } = tab;
  const trash = async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Commands' }).getByRole('combobox').fill('trash');
    await page.getByRole('option', { name: 'Settings: Trash' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/settings\/trash$/);
  };
  await trash();
  await page.getByText('The trash is empty.').waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Actions for Old work' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const notice = page.getByRole('status').filter({ hasText: 'Task moved to the trash.' });
  await notice.getByRole('button', { name: 'Close' }).click();
  await notice.waitFor({ state: 'detached' });
  await assert.rejects(world.get(`/tasks/${task.id}`), { status: 404 });

  await trash();
  const row = page.getByRole('list', { name: 'Trash' }).getByRole('listitem', { name: 'Old work' });
  await row.getByText(/task of shop-api, deleted .*, ignored files until /).waitFor();
  // Its attempt went with it and comes with it.
  assert.equal(await page.getByRole('list', { name: 'Trash' }).getByRole('listitem').count(), 1);
  await tab.accessible();
  await tab.named();
  await row.getByRole('button', { name: 'Bring back: Old work' }).click();
  await page.getByText('The trash is empty.').waitFor();
  assert.equal((await world.get(`/tasks/${task.id}`)).title, 'Old work');
  assert.equal((await world.attempt(attempt.id)).task_id, task.id);
  await page.getByRole('status').filter({ hasText: '“Old work” is back.' }).getByRole('button', { name: 'Open' }).click();
  await page.waitForURL(new RegExp(`/a/${attempt.id}`));
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

  // A copy under another name, and its end.
  await tab.page.getByRole('radio', { name: 'Form' }).check();
  await tab.page.getByRole('combobox', { name: 'Agent', exact: true }).selectOption('Codex');
  await tab.page.getByRole('combobox', { name: 'Profile', exact: true }).selectOption('HIGH');
  await tab.page.getByRole('textbox', { name: 'New profile' }).fill('my own');
  await tab.page.getByRole('button', { name: 'Add profile' }).click();
  const drop = tab.page.getByRole('button', { name: 'Delete MY_OWN' });
  await drop.waitFor();
  assert.equal((await profiles()).CODEX.MY_OWN.CODEX.model, 'gpt-y');
  await drop.click();
  await until('the profile to be gone', async () => (await profiles()).CODEX.MY_OWN === undefined);
  await drop.waitFor({ state: 'detached' });
});

journey('an agent that is not logged in says so with the command that logs it in, and is ready after it', async (world) => {
  const bin = join(world.directory, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'codex'), '#!/bin/sh\necho 1.2.3\n', { mode: 0o755 });
  const { PATH } = process.env;
  process.env.PATH = `${bin}:${PATH}`;
  await world.kill();
  await world.serve();
  process.env.PATH = PATH;
  const tab = await world.open('/settings/agents');
  const { page } = tab;
  await tab.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const row = page.getByRole('listitem', { name: 'Codex, not logged in' });
  await row.getByText('codex login', { exact: true }).waitFor();
  await row.getByRole('button', { name: 'Copy the command for Codex' }).click();
  await row.getByText('Copied').waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'codex login');
  await page.getByRole('listitem', { name: 'Amp, not installed' }).getByText('npm install -g @sourcegraph/amp').waitFor();
  mkdirSync(join(world.directory, '.codex'), { recursive: true });
  writeFileSync(join(world.directory, '.codex', 'auth.json'), '{"OPENAI_API_KEY": "sk-none"}\n');
  await page.getByRole('button', { name: 'Check again' }).click();
  await page.getByRole('listitem', { name: 'Codex, ready' }).getByText(/logged in/).waitFor();
  const codex = (await world.get('/info')).agents.find(({ executor }) => executor === 'CODEX');
  assert.equal(codex.logged_in, true);
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
  tab.expects(422);
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
  const tab = await world.open('about:blank');
  // A browser that was not asked yet, and counts how often it is.
  await tab.context.addInitScript(() => {
    window.asked = 0;
    Object.defineProperty(Notification, 'permission', { get: () => 'default' });
    Notification.requestPermission = async () => {
      window.asked += 1;
      return 'granted';
    };
  });
  const asked = () => tab.page.evaluate(() => window.asked);
  await tab.page.goto('/inbox');
  await tab.page.getByRole('heading', { name: 'Inbox' }).waitFor();
  assert.equal(await asked(), 0);
  await tab.page.goto('/settings/notifications');
  const limit = tab.page.getByRole('checkbox', { name: 'Notice: A usage limit was reached' });
  assert.equal(await limit.isChecked(), false);
  await limit.check();
  await tab.page.reload();
  assert.equal(await limit.isChecked(), true);
  assert.equal(await asked(), 0);
  await tab.page.getByRole('button', { name: 'Let this browser show notices' }).click();
  await tab.page.getByText('This browser shows notices.').waitFor();
  assert.equal(await asked(), 1);

  // The sound is the server's, and can be heard before it is needed.
  await tab.page.getByLabel('Sound', { exact: true }).selectOption('Bell 2');
  await until('the sound to be saved', async () => (await world.get('/config')).notifications.sound_file === 'GENIE_NOTIFY2');
  const heard = tab.page.waitForResponse(/\/api\/sounds\/GENIE_NOTIFY2$/);
  await tab.page.getByRole('button', { name: 'Play' }).click();
  assert.equal((await heard).status(), 200);
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

journey('what comes into the inbox is shown and heard as it was chosen, never what the person looks at', async (world) => {
  const project = await world.project('shop-api');
  const { attempt } = await world.start(project, 'First', 'say ready');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open('about:blank');
  let { page } = tab;
  // A browser that may show notices; what it shows and plays is written down.
  await tab.context.addInitScript(() => {
    const kept = (key) => JSON.parse(localStorage.getItem(key) ?? '[]');
    const keep = (key, what) => {
      localStorage.setItem(key, JSON.stringify([...kept(key), what]));
      console.log(key);
    };
    Object.defineProperty(Notification, 'permission', { get: () => 'granted' });
    ServiceWorkerRegistration.prototype.showNotification = async (title) => keep('shown', title);
    const { start } = AudioBufferSourceNode.prototype;
    AudioBufferSourceNode.prototype.start = function play() {
      keep('heard', this.buffer.duration > 0);
      return start.call(this);
    };
  });
  const told = async (kind) => JSON.parse((await page.evaluate((kind) => localStorage.getItem(kind), kind)) ?? '[]');
  const tells = (kind, wanted) => until(`${kind}: ${wanted}`, async () => JSON.stringify(await told(kind)) === JSON.stringify(wanted));
  const asks = (id) => world.post(`/task-attempts/${id}/follow-up`, { prompt: 'permit Bash {"command":"ls"}' });
  const answered = async (id) => {
    const { approval_id } = await until('the request', async () => (await world.get(`/approvals?task_attempt_id=${id}`)).find(({ state }) => !['approved', 'denied'].includes(state)));
    await world.post(`/approvals/${approval_id}/respond`, { approved: true });
    await world.settled(id, 'finished');
  };
  // What happened before the connection was there is no news; it is given two seconds to catch up. Once the page is drawn
  // and connected, its clock is set ahead by three.
  await tab.context.addInitScript(() => {
    const { now } = Date;
    let [ahead, isConnected] = [0, false];
    Date.now = () => now() + ahead;
    const look = () => {
      if (ahead || !isConnected || document.documentElement.dataset.ready !== 'true') return;
      ahead = 3000;
      console.log('caught up');
    };
    new MutationObserver(look).observe(document, { subtree: true, attributeFilter: ['data-ready'] });
    window.WebSocket = class extends WebSocket {
      constructor(...args) {
        super(...args);
        this.addEventListener('open', () => setTimeout(() => {
          isConnected = true;
          look();
        }));
      }
    };
  });
  const opened = async (path) => {
    const caughtUp = page.waitForEvent('console', { predicate: (message) => message.text() === 'caught up' });
    await page.goto(path);
    await caughtUp;
  };
  await opened('/settings/notifications');
  await page.getByRole('checkbox', { name: 'Sound: An agent wants to do something' }).check();
  await asks(attempt.id);
  await tells('shown', ['First: asks for approval']);
  await tells('heard', [true]);
  await answered(attempt.id);

  // Whoever looks at it is told by the page.
  await opened(`/a/${attempt.id}`);
  await page.getByRole('log', { name: 'Conversation' }).click();
  await asks(attempt.id);
  await page.getByRole('group', { name: 'Approval: Run' }).last().waitFor();
  const other = await world.start(project, 'Other', 'permit Bash {"command":"ls"}');
  await tells('shown', ['First: asks for approval', 'Other: asks for approval']);
  await tells('heard', [true, true]);
  await answered(attempt.id);
  await answered(other.attempt.id);

  // A page that nobody has touched may not play, and makes up for nothing at the first touch.
  await page.close();
  page = await tab.context.newPage();
  await opened('/inbox');
  // It is not asked what it has told, for a question by the debugger counts as a touch.
  const third = page.waitForEvent('console', { predicate: (message) => message.text() === 'shown' });
  await asks(attempt.id);
  await third;
  await page.getByRole('heading', { name: 'Inbox' }).click();
  await asks(other.attempt.id);
  await until('the fourth notice', async () => (await told('shown')).length === 4);
  await tells('heard', [true, true, true]);
});
