// What holds for the whole app: palette, keys, names, themes, phone, an absent server, the token.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstLoad } from '../first-load.mjs';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

const sectionsOf = (project) =>
  ['general', 'agents', 'mcp', 'notifications', 'editor', 'git', 'snippets', 'disk', 'trash', 'keys', `project/${project.id}`].map((section) => `/settings/${section}`);

/** Goes to a page within the app, and waits until nothing of it is loading. */
async function visit(tab, path) {
  await tab.page.evaluate((path) => history.pushState(null, '', path), path);
  await tab.page.locator('main h1').first().waitFor();
  await until(`${path} to be loaded`, async () => (await tab.page.locator('main [aria-busy=true]').count()) === 0);
}

/** Opens the palette and types. */
async function ask(tab, typed) {
  await tab.page.keyboard.press('Control+k');
  const dialog = tab.page.getByRole('dialog', { name: 'Commands' });
  await dialog.getByRole('combobox').fill(typed);
  return dialog;
}

journey('the palette goes to tasks, projects and settings, and acts', async (world) => {
  const project = await world.project('shop-api');
  const task = await world.task(project, 'Add a rate limiter');
  await world.task(project, 'Something else');
  const tab = await world.open('/');
  let dialog = await ask(tab, 'rate lim');
  const option = dialog.getByRole('option', { name: /Add a rate limiter/ });
  await option.waitFor();
  const active = await dialog.getByRole('combobox').getAttribute('aria-activedescendant');
  assert.equal(await option.getAttribute('id'), active);
  await tab.accessible();
  await tab.page.keyboard.press('Enter');
  await tab.page.waitForURL(new RegExp(`/t/${task.id}`));

  dialog = await ask(tab, 'disk');
  await dialog.getByRole('option', { name: 'Settings: Disk' }).waitFor();
  await tab.page.keyboard.press('Enter');
  await tab.page.waitForURL(/\/settings\/disk$/);

  dialog = await ask(tab, 'shop');
  await dialog.getByRole('option', { name: /shop-api/ }).first().waitFor();
  await tab.page.keyboard.press('Enter');
  await tab.page.waitForURL(new RegExp(`/p/${project.id}`));

  const before = await tab.page.evaluate(() => document.documentElement.dataset.theme);
  dialog = await ask(tab, '> light dark');
  await dialog.getByRole('option', { name: /Switch between light and dark/ }).waitFor();
  await tab.page.keyboard.press('Enter');
  await until('the other theme', async () => (await tab.page.evaluate(() => document.documentElement.dataset.theme)) !== before);
  assert.equal((await world.get(`/projects/${project.id}`)).name, 'shop-api');
});

journey('the help lists every key of the table', async (world) => {
  const project = await world.project('shop-api');
  const tab = await world.open(`/p/${project.id}`);
  const { page } = tab;
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keys' });
  for (const caption of ['Everywhere', 'Board', 'Inbox', 'Attempt', 'Changes', 'Writing']) await help.getByRole('table', { name: caption }).waitFor();
  const listed = await help.getByRole('row').count();
  assert.ok(listed > 60, `${listed} keys are listed`);
  await tab.accessible();
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'detached' });
  assert.equal((await world.get(`/projects/${project.id}`)).name, 'shop-api');
});

/** Axe takes its time, so pages and settings are walked apart. */
for (const colorScheme of ['light', 'dark']) {
  const walk = (what, pathsOf) => journey(`no button lacks a name and axe is content on every page ${what}, ${colorScheme}`, async (world) => {
    const project = await world.project('shop-api');
    await world.task(project, 'A wish');
    const { task, attempt } = await world.start(project, 'Asks', 'say hello\nedit a.txt hello\npermit Bash {"command": "ls"}');
    await world.settled(attempt.id, 'waiting');
    const tab = await world.open('/', { colorScheme });
    for (const path of pathsOf({ project, task, attempt })) {
      await visit(tab, path);
      await tab.named();
      await tab.accessible().catch((error) => {
        throw new Error(`${path}: ${error.message}`);
      });
    }
    assert.equal((await world.attempt(attempt.id)).state, 'waiting');
  });
  walk('of work', ({ project, task, attempt }) => ['/', `/p/${project.id}`, '/inbox', `/a/${attempt.id}`, `/t/${task.id}`]);
  walk('of the settings', ({ project }) => sectionsOf(project));
}

journey('no page scrolls sideways at 375 px', async (world) => {
  const project = await world.project('a-project-with-quite-a-long-name-for-a-phone');
  await world.task(project, 'A_wish_without_any_blank_that_is_longer_than_the_phone_is_wide_and_then_some');
  const { attempt } = await world.start(project, 'Asks', `say ${'long'.repeat(40)}\npermit Bash {"command": "${'x'.repeat(200)}"}`);
  await world.settled(attempt.id, 'waiting');
  const tab = await world.open('/', { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true });
  for (const path of ['/', `/p/${project.id}`, '/inbox', `/a/${attempt.id}`, ...sectionsOf(project)]) {
    await visit(tab, path);
    const [width, room] = await tab.page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(width <= room && room === 375, `${path} is ${width} px wide in ${room}`);
  }
});

journey('the first look at the board takes less than 200 KB of script', async (world) => {
  const project = await world.project('shop-api');
  await world.task(project, 'A wish');
  const { bytes, names } = await firstLoad(world);
  assert.ok(names.some((name) => name.includes('/board-')), names.join());
  assert.deepEqual(names.filter((name) => /highlight|attempt|Settings/.test(name)), []);
  assert.ok(bytes > 50_000 && bytes < 200_000, `${bytes} bytes in ${names.join()}`);
});

journey('with the server killed everything stays under one banner, and it comes back with nothing missed', async (world) => {
  const project = await world.project('shop-api');
  await world.task(project, 'Known before');
  const go = join(world.directory, 'go');
  const { attempt } = await world.start(project, 'Goes on', `say begun\nrun until [ -e ${go} ]; do sleep 0.1; done\nask Still there?`);
  await world.settled(attempt.id, 'running');
  const tab = await world.open('/inbox');
  await tab.page.getByText(/Nothing needs you/).waitFor();
  await world.kill();
  const banner = tab.page.getByRole('alert').filter({ hasText: 'The server is away since' });
  await banner.waitFor();
  assert.match(await tab.page.getByRole('status', { name: 'Connection' }).textContent(), /away since/);
  await tab.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^shop-api/ }).waitFor();
  await tab.page.getByText(/Nothing needs you/).waitFor();
  assert.equal(await tab.page.getByRole('alert').count(), 1);
  await tab.accessible();
  writeFileSync(go, '');

  await world.serve();
  await tab.page.getByRole('button', { name: 'Try now' }).click().catch(() => {});
  await banner.waitFor({ state: 'detached' });
  // What the agent asked meanwhile is there without a reload.
  await tab.page.getByRole('list', { name: 'Inbox' }).getByRole('listitem', { name: /^question, Goes on/ }).waitFor();
  assert.equal(await tab.page.getByRole('status', { name: 'Connection' }).textContent(), 'online');
  await world.settled(attempt.id, 'waiting');
});

journey('a server that is frozen counts as away within seconds, and comes back by itself', async (world) => {
  await world.project('shop-api');
  const tab = await world.open('/inbox');
  const { page } = tab;
  await page.getByText(/Nothing needs you/).waitFor();
  const status = page.getByRole('status', { name: 'Connection' });
  await status.filter({ hasText: 'online' }).waitFor();
  let asked = 0;
  page.on('request', (request) => { asked += request.url().includes('/api/health') ? 1 : 0; });
  // A server that has nothing to say is asked over the socket, and stays online.
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 12_000); }));
  assert.equal(await status.textContent(), 'online');
  assert.equal(asked, 0);
  world.server.kill('SIGSTOP');
  // The browser waits for the frozen end to close its socket, while the page has given it up.
  tab.expectsFault(/sockets at once/);
  try {
    await page.getByRole('alert').filter({ hasText: 'The server is away since' }).waitFor({ timeout: 20_000 });
    assert.match(await status.textContent(), /away since/);
  } finally {
    world.server.kill('SIGCONT');
  }
  await status.filter({ hasText: 'online' }).waitFor({ timeout: 20_000 });
  assert.equal(await page.getByRole('alert').filter({ hasText: 'The server is away' }).count(), 0);
});

journey('a page that is opened while the server is away asks once, and comes with its styles when it is back', async (world) => {
  const project = await world.project('shop-api');
  const { attempt } = await world.start(project, 'Goes on', 'say begun');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/p/${project.id}`);
  const { page } = tab;
  await page.getByRole('link', { name: 'Goes on' }).first().waitFor();
  await world.kill();
  await page.getByRole('status', { name: 'Connection' }).filter({ hasText: 'away' }).waitFor();
  let asked = 0;
  page.on('request', (request) => { asked += request.url().includes('/assets/') ? 1 : 0; });
  await page.getByRole('link', { name: 'Goes on' }).first().click();
  await page.getByRole('alert').filter({ hasText: 'The server is away since' }).waitFor();
  // Longer than any pause between two tries of a part.
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 2500); }));
  assert.ok(asked < 60, `${asked} requests for parts of the board while nobody can answer`);
  await world.serve();
  await page.getByRole('button', { name: 'Try now' }).click().catch(() => {});
  await page.getByRole('heading', { level: 1, name: 'Goes on' }).waitFor();
  await page.getByRole('log', { name: 'Conversation' }).waitFor();
  const bare = await page.evaluate(() => [...document.querySelectorAll('link[rel=stylesheet]')].filter((it) => !it.sheet).map((it) => it.href));
  assert.deepEqual(bare, []);
  // Its own style: a conversation scrolls in a box of its own.
  const overflow = await page.getByRole('log', { name: 'Conversation' }).evaluate((it) => getComputedStyle(it).overflowY);
  assert.match(overflow, /auto|scroll/);
});

// The page is of the older build in both cases: when it had spoken with the older server, and when that went away first.
for (const [when, meets] of [['', true], [', also before the first word', false]]) {
  journey(`a server that carries another build says so${when}, and reloads only when asked`, async (world) => {
    const tab = await world.open('about:blank');
    if (!meets) await tab.page.addInitScript(() => {
      let isFirst = true;
      window.WebSocket = class extends WebSocket {
        constructor(url) {
          super(url);
          if (isFirst) Object.defineProperty(this, 'onopen', { set() {} });
          isFirst = false;
        }
      };
    });
    const connection = tab.page.getByRole('status', { name: 'Connection' });
    await tab.page.goto('/inbox');
    await connection.filter({ hasText: meets ? 'online' : 'connecting' }).waitFor();
    await tab.page.route('**/', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, body: (await answer.text()).replace(/\/assets\/index-[^"]+\.js/, '/assets/index-newer.js') });
    }, { times: 1 });
    await world.kill();
    await connection.filter({ hasText: 'away' }).waitFor();
    await world.serve();
    const banner = tab.page.getByRole('status').filter({ hasText: 'Forge was updated' });
    await banner.getByRole('button', { name: 'Reload' }).click();
    await tab.page.getByRole('heading', { name: 'Inbox' }).waitFor();
    assert.equal(await banner.count(), 0);
  });
}

journey('whoever comes through a proxy is asked for the token, and then sees everything', async (world) => {
  await world.project('shop-api');
  const tab = await world.open('/inbox', { extraHTTPHeaders: { 'X-Forwarded-For': '10.1.2.3' } });
  tab.expects(401);
  await tab.page.getByRole('heading', { name: 'This Forge asks for its token' }).waitFor();
  await tab.accessible();
  await tab.named();
  const token = tab.page.getByLabel('Token');
  await token.fill('wrong');
  await token.press('Enter');
  await tab.page.getByRole('alert').waitFor();
  await token.fill(readFileSync(join(world.home, 'token'), 'utf8').trim());
  await tab.page.getByRole('button', { name: 'Continue' }).click();
  await tab.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^shop-api/ }).waitFor();
  const [cookie] = await tab.context.cookies();
  assert.equal(cookie.httpOnly, true);
  // Also what happens from now on.
  await world.project('website');
  await tab.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^website/ }).waitFor();
});

journey('the board installs as an app, keeps only its own files, and opens without the server', async (world) => {
  await world.project('shop-api');
  const tab = await world.open('/inbox');
  const { page } = tab;
  const manifest = await (await page.request.get('/site.webmanifest')).json();
  assert.equal(manifest.display, 'standalone');
  assert.ok(manifest.icons.some(({ purpose }) => purpose === 'maskable'));
  for (const { src, type } of manifest.icons) {
    const icon = await page.request.get(src);
    assert.ok(icon.ok() && icon.headers()['content-type'].startsWith(type), src);
  }
  await page.evaluate(async () => (await navigator.serviceWorker.ready).active);
  await page.reload();
  await page.getByText('Nothing needs you.').waitFor();
  const kept = await until('the files to be kept', () => page.evaluate(async () => {
    const keys = await (await caches.open('forge-shell')).keys();
    return keys.length > 3 && keys.map(({ url }) => new URL(url).pathname);
  }));
  assert.deepEqual(kept.filter((path) => path !== '/' && !path.startsWith('/assets/')), []);

  await world.kill();
  await page.reload();
  await page.getByRole('alert').filter({ hasText: 'The server is away' }).waitFor();
  assert.equal(await page.getByText('Nothing needs you.').count(), 0, 'what is not known is not called empty');
  await world.serve();
  await page.getByText('Nothing needs you.').waitFor();
});

journey('a link with the token lets in whoever has it, and the token leaves the address', async (world) => {
  const project = await world.project('shop-api');
  const token = readFileSync(join(world.home, 'token'), 'utf8').trim();
  const tab = await world.open(`/p/${project.id}?view=list#t=${token}`, { extraHTTPHeaders: { 'X-Forwarded-For': '10.1.2.3' } });
  // What is asked ahead is refused until the token was given.
  tab.expects(401);
  await tab.page.getByRole('region', { name: 'Board of shop-api' }).waitFor();
  const address = new URL(tab.page.url());
  assert.deepEqual([address.pathname, address.search, address.hash], [`/p/${project.id}`, '?view=list', '']);
  const [cookie] = await tab.context.cookies();
  assert.equal(cookie.httpOnly, true);
  assert.doesNotMatch(await tab.page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage })), new RegExp(token));
  // The cookie is enough from now on; a wrong token in a link asks for the right one.
  await tab.page.reload();
  await tab.page.getByRole('region', { name: 'Board of shop-api' }).waitFor();
  const stranger = await world.open('/inbox#t=wrong', { extraHTTPHeaders: { 'X-Forwarded-For': '10.1.2.3' } });
  stranger.expects(401);
  await stranger.page.getByRole('heading', { name: 'This Forge asks for its token' }).waitFor();
  assert.equal(new URL(stranger.page.url()).hash, '');
});

journey('while the server is away what goes on stands still, marked as not known', async (world) => {
  const project = await world.project('shop-api');
  const { attempt } = await world.start(project, 'Long run', 'say begun\nsleep 600000');
  await world.settled(attempt.id, 'running');
  const tab = await world.open(`/p/${project.id}`);
  const time = tab.page.getByRole('listitem').filter({ hasText: 'Long run' }).getByRole('time').first();
  const shown = () => time.textContent();
  const before = await shown();
  await until('the time to go on', async () => (await shown()) !== before);
  await world.kill();
  await until('the time to be marked', async () => (await shown()).startsWith('~'));
  const still = await shown();
  // The banner counts its seconds down, so the page's clock is going on.
  const banner = tab.page.getByRole('alert').filter({ hasText: 'The server is away since' });
  const said = await banner.textContent();
  await until('the clock to go on', async () => (await banner.textContent()) !== said);
  assert.equal(await shown(), still);
  await world.serve();
  await until('the time to go on again', async () => !(await shown()).startsWith('~'));
  assert.equal((await world.attempt(attempt.id)).state, 'running');
});

journey('the browser tells of a question when nobody looks, and not of what is looked at', async (world) => {
  const project = await world.project('shop-api');
  const go = (name) => join(world.directory, name);
  const wait = (name) => `run until [ -e ${go(name)} ]; do sleep 0.1; done`;
  const { attempt } = await world.start(project, 'Session store', `${wait('one')}\nask Redis or files?\n${wait('two')}\nask Sure?`);
  await world.settled(attempt.id, 'running');
  const tab = await world.open('about:blank', { permissions: ['notifications'] });
  const { page } = tab;
  // A tab behind another one is hidden; the browser that is tried here never hides one.
  await tab.context.addInitScript(() => Object.defineProperty(Document.prototype, 'hidden', { get: () => window.isBehind === true }));
  // A browser that is asked for its notices while it shows one forgets that one, so what it is told is written down.
  await tab.context.addInitScript(() => {
    const { prototype } = ServiceWorkerRegistration;
    const show = prototype.showNotification;
    window.told = [];
    prototype.showNotification = function (title, options) {
      window.told.push([title, options.body]);
      return show.call(this, title, options);
    };
  });
  await page.goto(`/a/${attempt.id}`);
  await page.evaluate(async () => (await navigator.serviceWorker.ready).active);
  const told = () => page.evaluate(() => window.told);
  // News are told once the connection has caught up with what was before.
  const begun = await page.evaluate(() => performance.now());
  await page.waitForFunction((begun) => performance.now() - begun > 3000, begun);
  writeFileSync(go('one'), '');
  await page.getByRole('group', { name: 'Question' }).getByRole('textbox').first().fill('Redis');
  await page.waitForFunction(() => document.title.startsWith('(1)'));
  // A question that has only just come up takes no answer.
  await until('the answer', async () => {
    await page.getByRole('button', { name: 'Answer', exact: true }).click({ timeout: 1000 }).catch(() => {});
    return (await world.get(`/approvals?task_attempt_id=${attempt.id}`))[0].state !== 'open';
  });
  assert.deepEqual(await told(), []);
  await page.evaluate(() => { window.isBehind = true; });
  writeFileSync(go('two'), '');
  await world.settled(attempt.id, 'waiting');
  await until('a notice', async () => (await told()).length === 1);
  assert.deepEqual(await told(), [['Session store: asks a question', 'Sure?']]);
});

journey('an address that leads to nothing says so under a heading', async (world) => {
  const tab = await world.open('/a/00000000-0000-4000-8000-000000000000');
  tab.expects(404);
  for (const path of ['/a/00000000-0000-4000-8000-000000000000', '/p/00000000-0000-4000-8000-000000000000', '/nowhere']) {
    await tab.page.goto(path);
    await tab.page.getByRole('heading', { name: 'Nothing here', level: 1 }).waitFor();
    await tab.page.waitForFunction(() => document.title === 'Nothing here · Forge');
  }
  await assert.rejects(world.get('/task-attempts/00000000-0000-4000-8000-000000000000'), { status: 404 });
  await tab.accessible();
});
