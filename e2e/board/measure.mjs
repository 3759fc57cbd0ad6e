// Measures the board in the browser, each figure beside a bare page of the same run, and prints one row of JSON a line:
// {what, measured, floor, limit, figure, ok}. `cargo xtask bench --only board` runs it and prints the rows with the
// others. With `--small` there is little of everything, to see whether every row can be measured.

import { readFileSync } from 'node:fs';
import { fillBare, shapeOf } from './bare.mjs';
import { firstLoad } from './first-load.mjs';
import { Unwatched } from './unwatched.mjs';
import { endBrowser, World, until } from './world.mjs';

const SMALL = process.argv.includes('--small');
const TASKS = SMALL ? 60 : 2000;
const ENTRIES = SMALL ? 400 : 200_000;
const FILES = SMALL ? 20 : 1000;

/** What the page counts about itself while something goes on. */
function watch() {
  let tasks = [];
  const observer = new PerformanceObserver((list) => { tasks.push(...list.getEntries()); });
  observer.observe({ type: 'longtask' });
  /** How long each long task took since this was asked last. What the browser has not told yet is among them. */
  window.takeLongTasks = () => {
    const taken = [...tasks, ...observer.takeRecords()].map((task) => task.duration);
    tasks = [];
    return taken;
  };
}

/** Waits until a page has nothing left to do. One that is never idle, as some are not, is waited for no longer. */
const idle = (page) => page.evaluate(() => new Promise((done) => { requestIdleCallback(() => done(), { timeout: 2000 }); }));

/** Does something with a list, and tells the long tasks of its page and the most elements it had meanwhile. */
async function during(page, list, act) {
  // What its opening costs is counted by itself.
  await idle(page);
  await page.evaluate(() => { window.takeLongTasks(); });
  let most = 0;
  await act(async () => {
    most = Math.max(most, await list.evaluate((element) => element.getElementsByTagName('*').length));
  });
  const tasks = await page.evaluate(() => window.takeLongTasks());
  return { long: tasks.length, worst: Math.max(0, ...tasks), nodes: most };
}

/** People move the wheel and the mouse frame by frame. */
const nextFrame = (page) => page.evaluate(() => new Promise(requestAnimationFrame));

async function wheel(page, list, count) {
  const box = await list.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  return during(page, list, async (count_nodes) => {
    for (let i = 0; i < count; i += 1) {
      await page.mouse.wheel(0, i < count / 2 ? 600 : -600);
      await nextFrame(page);
      if (i % 10 === 0) await count_nodes();
    }
  });
}

const rows = [];
/** Notes a row; its figure, when it has one, is what two binaries are compared by. */
const row = (what, measured, floor, limit, ok, figure = null) => {
  rows.push({ what, measured, floor, limit, figure, ok });
  console.log(JSON.stringify(rows.at(-1)));
};
const words = ({ long, worst, nodes }) => `${long} long tasks (worst ${Math.round(worst)} ms), ${nodes} elements`;

/** How often a page is opened, each time in a browser that knows nothing of it. */
const OPENED = SMALL ? 1 : 9;

/** Opens a page a few times. Half of the openings have to be within the limit; the best is told, too. */
async function openOften(world, path, shown) {
  const took = [];
  for (let time = 0; time < OPENED; time += 1) took.push(await world.unwatched.open(world.base + path, shown));
  took.sort((a, b) => a - b);
  const [best, middle] = [took[0], took[Math.floor(took.length / 2)]];
  return { took: middle, told: `${middle} ms (best ${best})` };
}

/** Opens a page once more, to do something with it; what it does is counted. */
async function open(world, path) {
  const tab = await world.open('about:blank');
  await tab.page.addInitScript(watch);
  await tab.page.goto(path);
  return tab;
}

/** What opening a page costs that has a line of text: the browser's part, and how fast this machine is now. */
async function emptyPage(world) {
  const { told } = await openOften(world, '/health', ['body', '']);
  return told;
}

/** Scrolls a bare list of the same rows. */
async function bare(world, shape, count) {
  const tab = await world.open('about:blank');
  const list = await fillBare(tab.page, shape, count);
  await tab.page.evaluate(watch);
  const scrolled = await wheel(tab.page, list, 60);
  await tab.close();
  return scrolled;
}

/** What a list may cost beside a bare one. */
const LIMIT = '1.5 x the long tasks of a bare list, + 1, and 1.5 x its elements';
const isCalm = (it, floor) => it.long <= 1.5 * floor.long + 1 && it.nodes <= 1.5 * floor.nodes;

async function measureBoard(world) {
  const project = await world.project('crowd');
  const statuses = ['todo', 'inreview', 'done', 'todo'];
  const make = async (i) => {
    const task = await world.task(project, `Task number ${i}`, 'Something to do');
    const status = statuses[i % statuses.length];
    if (status !== 'todo') await world.put(`/tasks/${task.id}`, { status });
  };
  for (let i = 0; i < TASKS; i += 20) await Promise.all(Array.from({ length: 20 }, (_, j) => make(i + j)));

  const path = `/p/${project.id}`;
  const { took, told } = await openOften(world, path, ['[role=listitem]', '']);
  const tab = await open(world, path);
  const { page } = tab;
  const column = page.getByRole('list', { name: /^Wish/ });
  await column.getByRole('listitem').first().waitFor();
  const shape = await shapeOf(column, column.getByRole('listitem'));
  const scrolled = await wheel(page, column, 60);
  const floor = await bare(world, shape, TASKS);
  row(`board of ${TASKS} cards: first card / scrolling`, `${told} / ${words(scrolled)}`, words(floor),
    `1.5 s / ${LIMIT}`, took <= 1500 && isCalm(scrolled, floor), took);

  const card = column.getByRole('listitem').nth(1);
  // A wish that nobody worked on has nothing to review, but it may be called done.
  const done = page.getByRole('region', { name: 'Done' });
  const [to, from] = [await done.boundingBox(), await card.boundingBox()];
  let isDragged = false;
  let mayLand = false;
  const dragged = await during(page, column, async (count_nodes) => {
    await page.mouse.move(from.x + 40, from.y + 20);
    await page.mouse.down();
    for (let i = 0; i <= 60; i += 1) {
      await page.mouse.move(from.x + 40 + ((to.x - from.x) * i) / 60, from.y + 20 + (i % 7) * 20);
      await nextFrame(page);
      if (i % 10 === 0) await count_nodes();
    }
    isDragged = (await page.locator('[data-dragged]').count()) === 1;
    mayLand = (await done.getAttribute('data-over')) === 'true';
    // Let go where nothing can land.
    await page.mouse.move(from.x, 1);
    await nextFrame(page);
    await page.mouse.up();
  });
  if (!isDragged || !mayLand) throw new Error(`the card was ${isDragged ? 'not taken by Done' : 'not dragged'}`);
  row(`dragging a card over ${TASKS} cards`, words(dragged), words(floor), LIMIT, isCalm(dragged, floor));
  await tab.close();
}

/**
 * What a tab holds: its process by what the kernel counts, shared pages in part, and the script's heap within it. The
 * browser does not say which process is whose; it is the largest that draws pages, since every other tab is closed.
 */
async function memoryOf(world, page) {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.enable').then(() => session.send('Performance.getMetrics'));
  await session.detach();
  const heap = metrics.find(({ name }) => name === 'JSHeapTotalSize').value;
  const browser = await page.context().browser().newBrowserCDPSession();
  const { processInfo } = await browser.send('SystemInfo.getProcessInfo');
  await browser.detach();
  const held = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => {
    const [, kilobytes] = readFileSync(`/proc/${id}/smaps_rollup`, 'utf8').match(/^Pss:\s+(\d+) kB/m);
    return Number(kilobytes) * 1024;
  });
  return { process: Math.max(...held), heap };
}

async function measureConversation(world) {
  const project = await world.project('long');
  const { attempt } = await world.start(project, 'A long conversation', `lines ${ENTRIES} 0`);
  await until('the long conversation to end', async () => (await world.attempt(attempt.id)).state === 'finished');
  const path = `/a/${attempt.id}`;
  const { took, told } = await openOften(world, path, ['[data-testid=entry]', `line ${ENTRIES}`]);
  const tab = await open(world, path);
  const { page } = tab;
  await page.getByText(`line ${ENTRIES}`).waitFor();
  const log = page.getByRole('log', { name: 'Conversation' });
  const shape = await shapeOf(log, page.getByTestId('entry'));
  const scrolled = await wheel(page, log, 60);
  const memory = await memoryOf(world, page);
  const floor = await bare(world, shape, ENTRIES);
  row(`attempt of ${ENTRIES.toLocaleString('en')} entries: newest shown / scrolling / memory`,
    `${told} / ${words(scrolled)} / ${Math.round(memory.process / 1e6)} MB (heap ${Math.round(memory.heap / 1e6)} MB)`, words(floor),
    `1 s / ${LIMIT} / 200 MB`,
    took <= 1000 && isCalm(scrolled, floor) && memory.process < 200e6, took);
  await tab.close();
}

async function measureFirstLoad(world) {
  const { bytes, names } = await firstLoad(world);
  row('script of the first load, compressed', `${Math.round(bytes / 1000)} KB in ${names.length} files`, 'none', '200 KB', bytes < 200_000);
}

async function measureDiff(world, empty) {
  const project = await world.project('wide');
  const { attempt } = await world.start(project, 'A wide change', `run for i in $(seq ${FILES}); do printf 'one\\ntwo\\nthree\\n' > file-$i.js; done`);
  await until('the wide change to end', async () => (await world.attempt(attempt.id)).state === 'finished');
  const { took, told } = await openOften(world, `/a/${attempt.id}?tab=changes`, ['[data-testid=diff-file]', '']);
  row(`diff of ${FILES} files: first file shown`, told, `${empty}, an empty page`, '1 s', took <= 1000, took);
}

const world = await World.start();
world.unwatched = await Unwatched.start();
try {
  await measureBoard(world);
  await measureFirstLoad(world);
  await measureConversation(world);
  await measureDiff(world, await emptyPage(world));
} finally {
  await world.unwatched.end();
  await world.end();
  await endBrowser();
}
// Whether a limit was held is said by its row; an error on the way has ended this before.
process.exit(0);
