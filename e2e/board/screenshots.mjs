// The pictures of docs/screenshots. The world in them is made here, by the scripted agent, so that they show what is there
// and nothing else. `node e2e/board/run.mjs --screenshots` takes them anew.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './world.mjs';

const FILES = {
  'README.md': '# Shop\n\nAn API for a small shop.\n',
  'package.json': '{ "name": "shop-api", "type": "module" }\n',
  'src/server.js': `import { createServer } from 'node:http';
import { cors } from './cors.js';
import { routes } from './routes.js';

const port = Number(process.env.PORT ?? 8080);
const answer = cors(routes);

createServer(answer).listen(port, () => {
  console.log('listening on ' + port);
});
`,
  'src/routes.js': 'export const routes = (request, response) => response.end();\n',
  'src/cors.js': 'export const cors = (next) => next;\n',
};

const LIMITER = [
  'think The middleware comes first: the limiter has to stand before the routes, or a flood still reaches them.',
  'say I will add a token bucket in front of the routes.',
  `run sed -i "s#answer = cors(routes)#answer = limit(cors(routes), { perMinute: 60 })#" src/server.js`,
  `run sed -i "2i import { limit } from './limit.js';" src/server.js`,
  'edit src/limit.js export const limit = (next, { perMinute }) => (request, response) => next(request, response);',
  'edit test/limit.test.js // sixty a minute pass, the sixty-first waits',
  'run echo "12 tests passed"',
  'use 48200 6100 31000 183000',
  'say The **rate limiter** stands in front of the routes: 60 requests a minute for each address, then `429` with `Retry-After`.',
].join('\n');

async function furnish(world) {
  const shop = await world.project('shop-api', FILES);
  await world.project('website', { 'index.html': '<h1>Shop</h1>\n' });
  for (const title of ['Log out everywhere', 'Import orders from CSV', 'Checkout fails when the cart has a coupon and a gift card'])
    await world.task(shop, title, 'As soon as somebody has time.');
  const running = await world.start(shop, 'Move the session store to SQLite', [
    'think Where are sessions written?', 'say I read the session code first.', 'run ls src', 'edit src/sessions.js export const sessions = new Map();',
    'use 21000 2400 9000 61000', 'sleep 600000',
  ].join('\n'));
  const asks = await world.start(shop, 'Drop old migrations', [
    'say The old migrations are not needed any more. Before I remove them I need your word.',
    'permit Bash {"command":"rm -rf ./migrations && npx prisma migrate reset --force"}', 'say Done.',
  ].join('\n'));
  await world.start(shop, 'Pick a date library', 'ask Should I use date-fns, or what the platform has?');
  const ready = await world.start(shop, 'Add a rate limiter to the public API', LIMITER);
  const failed = await world.start(shop, 'Upgrade to TypeScript 7', 'say I try the new compiler.\nrun echo "error TS5023: unknown option" >&2; exit 2\nexit 1');
  const conflict = await world.start(shop, 'Rewrite the README', 'edit README.md # Shop, rewritten');
  const landed = await world.start(shop, 'Health endpoint', 'edit src/health.js export const health = () => "ok";');
  for (const { attempt } of [ready, failed, conflict, landed]) await world.settled(attempt.id, 'finished', 'failed');
  await world.post(`/task-attempts/${landed.attempt.id}/merge`);
  shop.git('commit', '--quiet', '--allow-empty', '-m', 'A word from somebody else');
  moveOn(shop);
  await world.post(`/task-attempts/${conflict.attempt.id}/rebase`).catch(() => {});
  await until('the asks to be open', async () => (await world.get('/approvals/pending')).length >= 2);
  return { shop, running, asks, ready, conflict };
}

/** The same line changes on the target, so that the rewrite meets a conflict. */
function moveOn(shop) {
  shop.write('README.md', '# Shop\n\nAn API for a larger shop.\n');
  shop.git('commit', '--quiet', '--all', '-m', 'The shop grew');
}

/** Waits until nothing is being loaded and the page has looked the same twice. */
async function still(page) {
  await page.waitForFunction(() => !document.querySelector('[aria-busy=true]'));
  let before = '';
  await until('the page to keep still', async () => {
    const now = await page.locator('body').innerHTML();
    const isStill = now === before;
    before = now;
    return isStill;
  });
}

const SIZES = {
  desktop: { viewport: { width: 1400, height: 900 } },
  phone: { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true },
};
const THEMES = ['light', 'dark'];

/** Takes all pictures into a directory, in a world that has nothing yet, and tells their names. */
export async function takePictures(world, directory) {
  mkdirSync(directory, { recursive: true });
  const names = [];
  const tabs = [];
  for (const [size, options] of Object.entries(SIZES)) tabs.push({ size, page: (await world.open('/', options)).page });
  /** One picture for each size and theme, of where `go` has led. */
  const take = async (name, go) => {
    for (const { size, page } of tabs) {
      const there = await go(page);
      await there.waitFor();
      for (const colorScheme of THEMES) {
        await page.emulateMedia({ colorScheme });
        await still(page);
        names.push(`${name}-${size}-${colorScheme}.png`);
        await page.screenshot({ path: join(directory, names.at(-1)) });
      }
    }
  };
  await take('first-run', async (page) => page.getByRole('button', { name: 'Try the demo' }));
  const { shop, asks, ready, conflict } = await furnish(world);
  const visit = (path, there) => async (page) => {
    await page.goto(path);
    return there(page);
  };
  await take('board', visit('/', (page) => page.getByRole('list', { name: /^Review/ })));
  await take('approval', visit(`/a/${asks.attempt.id}`, (page) => page.getByRole('button', { name: /^(Hold to allow|Allow)$/ }).first()));
  await take('changes', visit(`/a/${ready.attempt.id}?tab=changes`, (page) => page.getByTestId('diff-file').first()));
  await take('conflict', visit(`/a/${conflict.attempt.id}`, (page) => page.getByRole('log', { name: 'Conversation' })));
  await take('inbox', visit('/inbox', (page) => page.getByRole('list', { name: 'Inbox' })));
  await take('agents', visit('/settings/agents', (page) => page.getByRole('heading', { name: /Agents/ }).first()));
  await take('new-task', visit(`/p/${shop.id}`, async (page) => {
    await page.getByRole('button', { name: /New task/ }).first().click();
    return page.getByRole('dialog', { name: /New task/ });
  }));
  for (const { page } of tabs) await visit('/', (page) => page.getByRole('list', { name: /^Review/ }).waitFor())(page);
  await world.kill();
  await take('away', async (page) => page.getByRole('alert').filter({ hasText: 'The server is away since' }));
  // Whoever ends the world asks the server to end its agents.
  await world.serve();
  return names;
}
