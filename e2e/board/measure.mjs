// Measures the board in the browser, each figure beside a bare page of the same run, and prints one row of JSON a line:
// {what, measured, floor, limit, ok}. `cargo xtask bench --only board` runs it and prints the rows with the others.

import { World, until } from './world.mjs';

const TASKS = 2000;
const ENTRIES = 200_000;
const FILES = 1000;

/** What the page counts about itself while something goes on. */
function watch() {
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.longTasks.push(task.duration);
  }).observe({ type: 'longtask', buffered: true });
}

/** Does something with a page, and tells the long tasks and the most elements meanwhile. */
async function during(page, act) {
  await page.evaluate(() => { window.longTasks.length = 0; });
  let most = 0;
  await act(async () => {
    most = Math.max(most, await page.evaluate(() => document.getElementsByTagName('*').length));
  });
  const tasks = await page.evaluate(() => window.longTasks);
  return { long: tasks.length, worst: Math.max(0, ...tasks), nodes: most };
}

/** People move the wheel and the mouse frame by frame. */
const nextFrame = (page) => page.evaluate(() => new Promise(requestAnimationFrame));

async function wheel(page, x, y, count) {
  await page.mouse.move(x, y);
  return during(page, async (count_nodes) => {
    for (let i = 0; i < count; i += 1) {
      await page.mouse.wheel(0, i < count / 2 ? 600 : -600);
      await nextFrame(page);
      if (i % 10 === 0) await count_nodes();
    }
  });
}

/** A list that shows only what is seen, and nothing else: the least that scrolling can cost. */
const BARE = `<!doctype html><title>bare</title><style>#list{height:860px;overflow:auto;position:relative}
#list>div{position:relative}.row{position:absolute;height:76px;left:0;right:0}</style><div id="list"><div></div></div>`;

function fillBare(count) {
  const list = document.getElementById('list');
  const inner = list.firstElementChild;
  inner.style.height = `${count * 76}px`;
  const draw = () => {
    const first = Math.max(0, Math.floor(list.scrollTop / 76) - 4);
    const rows = [];
    for (let i = first; i < Math.min(count, first + 20); i += 1) {
      const row = document.createElement('div');
      row.className = 'row';
      row.style.top = `${i * 76}px`;
      row.textContent = `Task number ${i}`;
      rows.push(row);
    }
    inner.replaceChildren(...rows);
  };
  list.addEventListener('scroll', draw);
  draw();
}

const rows = [];
const row = (what, measured, floor, limit, ok) => {
  rows.push({ what, measured, floor, limit, ok });
  console.log(JSON.stringify(rows.at(-1)));
};
const words = ({ long, worst, nodes }) => `${long} long tasks (worst ${Math.round(worst)} ms), ${nodes} elements`;

async function open(world, path, isThere) {
  const tab = await world.open('about:blank');
  await tab.page.addInitScript(watch);
  const begun = Date.now();
  await tab.page.goto(path);
  await isThere(tab.page);
  return { tab, page: tab.page, took: Date.now() - begun };
}

/** How often a page is opened, each time in a browser that knows nothing of it; the middle one counts. */
const OPENED = 5;

/** Opens a page a few times, and keeps the last tab. */
async function openOften(world, path, isThere) {
  const took = [];
  for (let time = 1; ; time += 1) {
    const opened = await open(world, path, isThere);
    took.push(opened.took);
    if (time === OPENED) return { ...opened, took: middle(took) };
    await opened.tab.close();
  }
}

const middle = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** What opening a page costs that has a line of text: the browser's part, and how fast this machine is now. */
async function emptyPage(world) {
  const { tab, took } = await openOften(world, '/health', (page) => page.getByText('Forge application ready').waitFor());
  await tab.close();
  return took;
}

async function bare(world) {
  const tab = await world.open('about:blank');
  await tab.page.setContent(BARE);
  await tab.page.evaluate(watch);
  await tab.page.evaluate(fillBare, TASKS);
  const scrolled = await wheel(tab.page, 700, 400, 60);
  await tab.close();
  return scrolled;
}

async function measureBoard(world, floor) {
  const project = await world.project('crowd');
  const statuses = ['todo', 'inreview', 'done', 'todo'];
  const make = async (i) => {
    const task = await world.task(project, `Task number ${i}`, 'Something to do');
    const status = statuses[i % statuses.length];
    if (status !== 'todo') await world.put(`/tasks/${task.id}`, { status });
  };
  for (let i = 0; i < TASKS; i += 20) await Promise.all(Array.from({ length: 20 }, (_, j) => make(i + j)));

  const { tab, page, took } = await openOften(world, `/p/${project.id}`, (page) => page.getByRole('listitem').first().waitFor());
  const column = page.getByRole('list', { name: /^Wish/ });
  const box = await column.boundingBox();
  const scrolled = await wheel(page, box.x + box.width / 2, box.y + box.height / 2, 60);
  row(`board of ${TASKS} cards: first card / scrolling`, `${took} ms / ${words(scrolled)}`, words(floor),
    '1.5 s / 1.5 x the long tasks of a bare list, + 1', took <= 1500 && scrolled.long <= 1.5 * floor.long + 1);

  const card = column.getByRole('listitem').nth(1);
  const to = await page.getByRole('list', { name: /^Review/ }).boundingBox();
  const from = await card.boundingBox();
  const dragged = await during(page, async (count_nodes) => {
    await page.mouse.move(from.x + 40, from.y + 20);
    await page.mouse.down();
    for (let i = 0; i <= 60; i += 1) {
      await page.mouse.move(from.x + 40 + ((to.x - from.x) * i) / 60, from.y + 20 + (i % 7) * 20);
      await nextFrame(page);
      if (i % 10 === 0) await count_nodes();
    }
    await page.keyboard.press('Escape');
    await page.mouse.up();
  });
  row(`dragging a card over ${TASKS} cards`, words(dragged), words(floor), '1.5 x the long tasks of a bare list, + 1', dragged.long <= 1.5 * floor.long + 1);
  await tab.close();
}

/** The memory that only the page's own process holds. */
async function privateMemory(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.enable').then(() => session.send('Performance.getMetrics'));
  await session.detach();
  return metrics.find(({ name }) => name === 'JSHeapTotalSize').value;
}

async function measureConversation(world, floor) {
  const project = await world.project('long');
  const { attempt } = await world.start(project, 'A long conversation', `lines ${ENTRIES} 0`);
  await until('the long conversation to end', async () => (await world.attempt(attempt.id)).state === 'finished');
  const { tab, page, took } = await openOften(world, `/a/${attempt.id}`, (page) => page.getByTestId('entry').last().waitFor());
  const log = page.getByRole('log', { name: 'Conversation' });
  const box = await log.boundingBox();
  const scrolled = await wheel(page, box.x + box.width / 2, box.y + box.height / 2, 60);
  const memory = await privateMemory(page);
  row(`attempt of ${ENTRIES.toLocaleString('en')} entries: newest shown / scrolling / heap`,
    `${took} ms / ${words(scrolled)} / ${Math.round(memory / 1e6)} MB`, words(floor),
    '1 s / 1.5 x the long tasks of a bare list, + 1 / 200 MB',
    took <= 1000 && scrolled.long <= 1.5 * floor.long + 1 && memory < 200e6);
  await tab.close();
}

async function measureDiff(world, empty) {
  const project = await world.project('wide');
  const { attempt } = await world.start(project, 'A wide change', `run for i in $(seq ${FILES}); do printf 'one\\ntwo\\nthree\\n' > file-$i.js; done`);
  await until('the wide change to end', async () => (await world.attempt(attempt.id)).state === 'finished');
  const { tab, took } = await openOften(world, `/a/${attempt.id}?tab=changes`, (page) => page.getByTestId('diff-file').first().waitFor());
  row(`diff of ${FILES} files: first file shown`, `${took} ms`, `${empty} ms an empty page`, '1 s', took <= 1000);
  await tab.close();
}

const world = await World.start();
try {
  const floor = await bare(world);
  await measureBoard(world, floor);
  await measureConversation(world, floor);
  await measureDiff(world, await emptyPage(world));
} finally {
  await world.end();
}
process.exit(rows.every(({ ok }) => ok) ? 0 : 1);
