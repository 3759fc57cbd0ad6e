// An attempt: its conversation as it comes, its runs, and its snapshots.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

/** What a file holds; null when there is none, as for a moment where git or Forge puts another in its place. */
const textOf = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
};
const log = (tab) => tab.page.getByRole('log', { name: 'Conversation' });
const composer = (tab) => tab.page.getByRole('textbox', { name: 'Reply' });

/** The text of what is drawn of a conversation, entry by entry. */
const drawn = (tab) => log(tab).getByTestId('entry').allInnerTexts();

/** The number of the line at the top of a conversation. */
const topLine = (tab) => log(tab).evaluate((element) => {
  const top = element.getBoundingClientRect().top;
  const first = [...element.querySelectorAll('[data-testid=entry]')].find((it) => it.getBoundingClientRect().bottom > top);
  return Number(first?.innerText.match(/line (\d+)$/)?.[1]);
});

/** Lets a page draw what it has heard, before something is said not to have happened. */
const drawnAnew = ({ page }) => page.evaluate(async () => {
  await new Promise((drawn) => { requestAnimationFrame(() => requestAnimationFrame(drawn)); });
});

journey('a conversation is shown as it happens, each thing in its own way', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Add a limiter', [
    'say ## A plan of action',
    'think The bucket needs a clock',
    'edit src/limit.js export const limit = 60;',
    'run printf "\\033[32mall green\\033[0m\\n"',
    'run echo broken; exit 3',
    'sleep 800',
    'say The end',
  ].join('\n'));
  const tab = await world.open(`/a/${attempt.id}`);
  const { page } = tab;
  await page.getByRole('heading', { level: 1, name: 'Add a limiter' }).waitFor();
  await page.getByRole('article', { name: 'Turn 1' }).waitFor();
  await log(tab).getByRole('heading', { name: 'A plan of action' }).waitFor();
  await log(tab).getByRole('button', { name: 'Thought, 5 words' }).click();
  await log(tab).getByText('The bucket needs a clock').last().waitFor();
  assert.match(await log(tab).getByRole('group', { name: 'Edited src/limit.js, 1 added, 0 deleted' }).innerText(), /limit = 60/);
  // What went well is folded, what failed is open.
  const passed = log(tab).getByRole('button', { name: /all green.*passed/ });
  assert.equal(await passed.getAttribute('aria-expanded'), 'false');
  await passed.click();
  const green = log(tab).getByRole('region', { name: /Output of printf/ }).getByText('all green');
  assert.match(await green.evaluate((it) => it.style.color), /--ansi-green/);
  assert.equal(await log(tab).getByRole('button', { name: 'echo broken; exit 3, exit 3' }).getAttribute('aria-expanded'), 'true');
  await log(tab).getByText('The end', { exact: true }).waitFor();
  const settled = await world.settled(attempt.id, 'finished');
  assert.equal(settled.task.status, 'inreview');
  await page.getByRole('main').getByRole('img', { name: 'to review' }).first().waitFor();
  await tab.accessible();
  await tab.named();
  await page.emulateMedia({ colorScheme: 'dark' });
  await tab.accessible();
});

journey('a long conversation has one scroll bar for all of it', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Count', 'lines 5000 0');
  await world.settled(attempt.id, 'finished');
  const { total } = await world.get(`/task-attempts/${attempt.id}/entries?limit=1`);
  const tab = await world.open(`/a/${attempt.id}`);
  const { page } = tab;
  const bar = page.getByRole('scrollbar', { name: 'Place in the whole conversation' });
  const line = (number) => log(tab).getByText(new RegExp(`line ${number}$`));
  await line(5000).waitFor();
  assert.equal(await bar.getAttribute('aria-valuetext'), 'the end');
  assert.equal(Number(await bar.getAttribute('aria-valuemax')), total);
  await tab.accessible();
  // By key, from the bar and from anywhere on the page.
  await bar.press('Home');
  await line(1).waitFor();
  assert.equal(await log(tab).getAttribute('data-following'), 'false');
  await bar.press('End');
  await line(5000).waitFor();
  await page.waitForFunction(() => document.querySelector('[role=log]').dataset.following === 'true');
  await bar.evaluate((element) => element.blur());
  await page.keyboard.press('Home');
  await line(1).waitFor();
  assert.equal(await page.getByRole('article', { name: 'Turn 1' }).count(), 1);
  // By hand: where it would lead is said before it is let go, and only then fetched.
  const { x, y, width, height } = await bar.boundingBox();
  const shown = () => topLine(tab);
  const press = async (part) => {
    await page.mouse.move(x + width / 2, y + 10);
    await page.mouse.down();
    await page.mouse.move(x + width / 2, y + 20 + part * (height - 40), { steps: 5 });
  };
  await press(0.5);
  const said = await until('the bar to say where the middle is', async () => {
    const numbers = (await bar.innerText()).match(/^([\d,]+) of ([\d,]+)$/)?.slice(1).map((number) => Number(number.replaceAll(',', '')));
    return numbers && Math.abs(numbers[0] - total / 2) < total / 50 && numbers;
  });
  assert.equal(said[1], total);
  await page.mouse.up();
  const middle = await until('the middle to be shown', async () => {
    const number = await shown();
    return Math.abs(number - said[0]) < 20 && number;
  });
  // From there it goes on by the wheel, as soon as the place has settled.
  await page.mouse.move(x - 200, y + height / 2);
  await until('earlier lines', async () => {
    await page.mouse.wheel(0, -400);
    return (await shown()) < middle - 5;
  });
  await until('the bar to follow', async () => Math.abs(Number(await bar.getAttribute('aria-valuenow')) - (await shown())) < 20);
  // However often: each place stands as far into its window as the one before, so that nothing scrolls.
  const standsAt = (part) => until(`the bar and the list to stand at ${part * 100} percent`, async () => {
    const value = Number(await bar.getAttribute('aria-valuenow'));
    return Math.abs(value - part * total) < total / 50 && Math.abs(value - (await shown())) < 20;
  });
  const fetched = [];
  page.on('request', (request) => request.url().includes('around=') && fetched.push(request.url()));
  await press(0.3);
  await page.mouse.up();
  await standsAt(0.3);
  // Only the first button drags.
  await page.mouse.click(x + width / 2, y + height / 2, { button: 'right' });
  await press(0.7);
  await page.mouse.up();
  await standsAt(0.7);
  assert.equal(fetched.length, 2, fetched.join());
  await bar.press('PageDown');
  await standsAt(0.8);
  await bar.press('PageDown');
  await standsAt(0.9);
  // Where the window ends is not the end, however long the next page takes.
  const held = [];
  let isHeld = true;
  await page.route('**/entries?after=*', (route) => (isHeld ? void held.push(route) : route.continue()));
  await page.mouse.move(x - 200, y + height / 2);
  await until('the bottom of what has come', async () => {
    await page.mouse.wheel(0, 2000);
    return held.length > 0 && log(tab).evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 2);
  });
  await drawnAnew(tab);
  assert.equal(await log(tab).getAttribute('data-following'), 'false');
  assert.notEqual(await bar.getAttribute('aria-valuetext'), 'the end');
  isHeld = false;
  const bottom = await shown();
  for (const route of held) await route.continue();
  await until('the next page', async () => {
    await page.mouse.wheel(0, 400);
    return (await shown()) > bottom + 5;
  });
  await page.getByRole('button', { name: 'Newest' }).click();
  await line(5000).waitFor();
});

journey('the scroll bar of a long conversation takes nothing from what is beside it', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Count', 'lines 600 0');
  await world.settled(attempt.id, 'finished');
  const line = (tab, number) => log(tab).getByText(new RegExp(`line ${number}$`));
  const tab = await world.open(`/a/${attempt.id}?tab=runs`);
  await line(tab, 600).waitFor();
  const raw = tab.page.getByRole('log', { name: 'Log of Agent' });
  await until('the raw log to be at its end', () => raw.evaluate((box) => box.scrollTop > 0));
  await raw.press('Home');
  await until('the raw log to be at its beginning', () => raw.evaluate((box) => box.scrollTop === 0));
  await drawnAnew(tab);
  assert.equal(await log(tab).getAttribute('data-following'), 'true');
  await log(tab).press('Home');
  await line(tab, 1).waitFor();
  assert.equal(await raw.evaluate((box) => box.scrollTop), 0);
  await raw.press('End');
  await until('the raw log to be at its end again', () => raw.evaluate((box) => box.scrollTop > 0));
  await drawnAnew(tab);
  assert.equal(await log(tab).getAttribute('data-following'), 'false');
  // A finger needs a wide bar; what is read, and what is searched by, stays beside it.
  const phone = await world.open(`/a/${attempt.id}`, { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true });
  await line(phone, 600).waitFor();
  await phone.page.keyboard.press('f');
  await phone.page.getByRole('searchbox', { name: 'Find in this attempt' }).waitFor();
  const bar = await phone.page.getByRole('scrollbar', { name: 'Place in the whole conversation' }).boundingBox();
  assert.ok(bar.width >= 24, `the bar is ${bar.width} px wide`);
  const covered = await phone.page.locator('[data-testid=entry], search').evaluateAll((all, { x, y }) => all
    .map((it) => ({ box: it.getBoundingClientRect(), padding: parseFloat(getComputedStyle(it).paddingRight), words: it.innerText }))
    .filter(({ box, padding }) => box.bottom > y && box.right - padding > x)
    .map(({ words }) => words), bar);
  assert.deepEqual(covered, []);
});

journey('a killed server leaves no gap in the conversation', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Count', 'lines 100 100\nsay counted');
  const tab = await world.open(`/a/${attempt.id}`);
  await log(tab).getByText(/ line \d+$/).last().waitFor();
  await world.kill();
  await tab.page.getByRole('alert').filter({ hasText: 'The server is away' }).waitFor();
  // What was known stays.
  await log(tab).getByText(/ line \d+$/).last().waitFor();
  await world.serve();
  await log(tab).getByText('counted', { exact: true }).waitFor();
  const numbers = new Set();
  let last = '';
  await until('every line to be drawn', async () => {
    const texts = await drawn(tab);
    for (const text of texts) numbers.add(Number(text.match(/ line (\d+)$/)?.[1] ?? 0));
    // A step is less than is drawn at once, and comes after the one before was drawn: none is passed over.
    if (texts.join() !== last) await log(tab).evaluate((box) => box.scrollBy({ top: -box.clientHeight / 3, behavior: 'instant' }));
    last = texts.join();
    return numbers.has(1);
  });
  numbers.delete(0);
  assert.deepEqual([...numbers].sort((a, b) => a - b), Array.from({ length: 100 }, (_, i) => i + 1));
  const { entries } = await world.get(`/task-attempts/${attempt.id}/entries?limit=200`);
  const told = entries.map(({ entry }) => Number(entry.content.match(/ line (\d+)$/)?.[1] ?? 0)).filter(Boolean);
  assert.deepEqual(told, Array.from({ length: 100 }, (_, i) => i + 1));
  await world.settled(attempt.id, 'finished');
});

journey('who reads above the end is left alone, and the pill leads back', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Talk', 'lines 80 0\nlines 4000 50');
  const tab = await world.open(`/a/${attempt.id}`);
  await log(tab).getByText(/ line \d+$/).last().waitFor();
  await until('the log to follow', async () => (await log(tab).getAttribute('data-following')) === 'true');
  await log(tab).hover();
  await tab.page.mouse.wheel(0, -900);
  await until('the log to stay', async () => (await log(tab).getAttribute('data-following')) === 'false');
  const place = () => log(tab).evaluate((box) => {
    const top = box.getBoundingClientRect().top;
    const row = [...box.querySelectorAll('[data-testid=entry]')].find((it) => it.getBoundingClientRect().bottom > top + 1);
    return `${row.dataset.key} ${Math.round(row.getBoundingClientRect().top - top)}`;
  });
  const pill = tab.page.getByRole('button', { name: /^\d+ new$/ });
  await pill.waitFor();
  const before = await place();
  const count = Number((await pill.innerText()).match(/\d+/)[0]);
  await until('more to come', async () => Number((await pill.innerText()).match(/\d+/)[0]) >= count + 10);
  assert.equal(await place(), before);
  await pill.click();
  await until('the log to follow again', async () => (await log(tab).getAttribute('data-following')) === 'true');
  await until('the end to be in view', () => log(tab).evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 80));
  // It goes on following.
  const last = () => log(tab).getByTestId('entry').last().innerText();
  const then = await last();
  await until('the newest to be drawn', async () => (await last()) !== then);
  assert.equal((await world.attempt(attempt.id)).state, 'running');
});

journey('hostile words of an agent are words', async (world) => {
  const project = await world.project();
  const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>';
  const { attempt } = await world.start(project, `Title ${evil}`, [
    `say ${evil}`,
    'say [click](javascript:alert(3)) and ![pic](https://example.invalid/x.png)',
    `think ${evil}`,
    `run printf '\\033]0;title\\007\\033[2J\\033[31m%s\\033[0m\\n' '${evil}'; exit 1`,
    `edit evil.html ${evil}`,
  ].join('\n'));
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}`);
  const { page } = tab;
  await log(tab).getByText('alert(1)').first().waitFor();
  await page.getByRole('heading', { level: 1 }).filter({ hasText: '<script>' }).waitFor();
  await log(tab).getByRole('group', { name: /^Edited evil.html/ }).getByText('<script>').waitFor();
  await log(tab).getByRole('region', { name: /^Output of/ }).getByText('<img src=x').waitFor();
  assert.equal(await log(tab).locator('img, script, [onerror]').count(), 0);
  const links = await log(tab).getByRole('link').evaluateAll((all) => all.map((it) => it.protocol));
  assert.ok(links.every((protocol) => protocol === 'https:' || protocol === 'http:'), links.join());
  await page.getByRole('tab', { name: /^Runs/ }).click();
  await page.getByRole('log', { name: 'Log of Agent' }).getByText('alert(1)').first().waitFor();
  assert.equal(await page.getByRole('log', { name: 'Log of Agent' }).locator('img, script').count(), 0);
  const { entries } = await world.get(`/task-attempts/${attempt.id}/entries`);
  assert.ok(entries.some(({ entry }) => entry.content.includes('<script>')));
});

journey('the code of an answer is copied, by hand and by key', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'How to test', 'say >     npm test -- --watch');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}`);
  const { page } = tab;
  await tab.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const buttonIn = (there) => log(there).getByRole('button', { name: 'Copy code' });
  const opacity = (there) => buttonIn(there).evaluate((it) => getComputedStyle(it).opacity);
  const held = () => page.evaluate(() => navigator.clipboard.readText());
  const row = log(tab).getByTestId('entry').filter({ has: page.getByRole('button', { name: 'Copy code' }) });
  await buttonIn(tab).waitFor();
  await page.mouse.move(0, 0);
  assert.equal(await opacity(tab), '0');
  const { height } = await row.boundingBox();
  await row.getByText('npm test -- --watch').hover();
  assert.equal(await opacity(tab), '1');
  assert.equal((await row.boundingBox()).height, height);
  await tab.accessible();
  await buttonIn(tab).click();
  await page.getByRole('status').filter({ hasText: 'The code is copied.' }).waitFor();
  assert.equal(await held(), 'npm test -- --watch');
  await page.evaluate(() => navigator.clipboard.writeText('something else'));
  await page.mouse.move(0, 0);
  await log(tab).focus();
  await until('the button to be reached by key', async () => {
    await page.keyboard.press('Tab');
    return buttonIn(tab).evaluate((it) => it === document.activeElement);
  });
  assert.equal(await opacity(tab), '1');
  await page.keyboard.press('Enter');
  await until('the code to be copied', async () => (await held()) === 'npm test -- --watch');
  // A finger does not hover.
  const phone = await world.open(`/a/${attempt.id}`, { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true });
  await buttonIn(phone).waitFor();
  assert.equal(await opacity(phone), '1');
});

journey('every run has its row, and the raw log of a script its lines, colours and exit code', async (world) => {
  const project = await world.project();
  await world.put(`/projects/${project.id}`, {
    setup_script: "printf '\\033[33msetting up\\033[0m\\nsecond line\\n'",
    cleanup_script: 'echo tidied; exit 4',
    dev_script: 'echo serving; sleep 600',
  });
  const { attempt } = await world.start(project, 'With scripts', 'edit a.txt one');
  const tab = await world.open(`/a/${attempt.id}`);
  const { page } = tab;
  await page.getByRole('tab', { name: /^Runs/ }).click();
  await page.waitForURL(/tab=runs/);
  const row = (name) => page.getByRole('list', { name: 'Runs' }).getByRole('button', { name });
  await row('Setup, completed').click();
  const raw = page.getByRole('log', { name: 'Log of Setup' });
  await raw.getByText('second line').waitFor();
  assert.match(await raw.getByText('setting up').evaluate((it) => it.style.color), /--ansi-yellow/);
  await row('Cleanup, failed, exit 4').click();
  await page.getByRole('log', { name: 'Log of Cleanup' }).getByText('tidied').waitFor();
  await world.post(`/task-attempts/${attempt.id}/start-dev-server`);
  await row('Dev server, running').click();
  await page.getByRole('log', { name: 'Log of Dev server' }).getByText('serving').waitFor();
  await tab.accessible();
  await page.getByRole('button', { name: 'Stop Dev server' }).click();
  await row('Dev server, stopped').waitFor();
  const runs = await world.get(`/execution-processes?task_attempt_id=${attempt.id}`);
  const ends = runs.map(({ run_reason, status, exit_code }) => [run_reason, status, exit_code]);
  assert.deepEqual(ends.slice(0, 3), [['setupscript', 'completed', 0], ['codingagent', 'completed', 0], ['cleanupscript', 'failed', 4]]);
  assert.deepEqual(ends[3].slice(0, 2), ['devserver', 'killed']);
});

journey('a snapshot is restored, and the restore is undone', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Write', 'edit note.txt one');
  await world.settled(attempt.id, 'finished');
  await world.post(`/task-attempts/${attempt.id}/follow-up`, { prompt: 'edit note.txt two' });
  await until('two snapshots', async () => (await world.get(`/task-attempts/${attempt.id}/snapshots`)).length >= 2);
  const { container_ref: worktree } = await world.settled(attempt.id, 'finished');
  const note = () => textOf(join(worktree, 'note.txt'));
  assert.equal(note(), 'two\n');
  const tab = await world.open(`/a/${attempt.id}?tab=snapshots`);
  const { page } = tab;
  const files = page.getByRole('list', { name: 'Changed files' });
  await page.getByRole('button', { name: 'Changes of after turn 2' }).click();
  await files.getByText('note.txt').waitFor();
  assert.equal((await files.innerText()).replace(/\s+/g, ' '), 'note.txt +1 −1');
  await page.getByRole('button', { name: 'Restore after turn 1' }).click();
  const ask = page.getByRole('alertdialog', { name: 'Put the files back to after turn 1?' });
  await tab.accessible();
  await ask.getByRole('button', { name: 'Put the files back' }).click();
  await until('the old words', () => note() === 'one\n');
  await page.getByRole('region', { name: 'Notices' }).getByRole('button', { name: 'Undo' }).click();
  await until('the new words', () => note() === 'two\n');
  // The same from the turns themselves.
  const act = async (turn, words) => {
    await page.getByRole('button', { name: `Actions for turn ${turn}` }).click();
    await page.getByRole('menuitem', { name: words }).click();
  };
  await act(1, 'Changes of this turn');
  await until('the changes of the first turn', async () => /^note.txt \+1 −0$/.test((await files.innerText()).replace(/\s+/g, ' ')));
  await act(2, 'Restore files to before this turn');
  await page.getByRole('alertdialog', { name: 'Put the files back to before turn 2?' }).getByRole('button', { name: 'Put the files back' }).click();
  await until('the old words again', () => note() === 'one\n');
  const whys = (await world.get(`/task-attempts/${attempt.id}/snapshots`)).map(({ why }) => why);
  assert.ok(whys.filter((why) => why !== 'turn').length >= 2, whys.join());
});

journey('an attempt on a phone: read, reply, and every tab without scrolling sideways', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'A rather long title that does not fit on a phone', [
    'say Hello from a phone',
    `run echo ${'x'.repeat(300)}`,
    'edit src/a.js export const a = 1;',
  ].join('\n'));
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}`, { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true });
  const { page } = tab;
  await log(tab).getByText('Hello from a phone', { exact: true }).waitFor();
  const narrow = async () => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page scrolls sideways');
  await narrow();
  await tab.accessible();
  const small = () => page.getByRole('button').or(page.getByRole('tab')).or(page.getByRole('menuitemradio')).evaluateAll((all) => all
    .filter((it) => it.checkVisibility() && it.getBoundingClientRect().height < 43.5)
    .map((it) => it.getAttribute('aria-label') ?? it.textContent));
  for (const [name, shown] of [['Preview', page.getByRole('button', { name: 'Start', exact: true })], ['Snapshots', page.getByRole('list', { name: 'Snapshots' })]]) {
    await page.getByRole('button', { name: /^More tabs/ }).tap();
    const choice = page.getByRole('menuitemradio', { name });
    await choice.waitFor();
    await tab.accessible();
    assert.deepEqual(await small(), []);
    await choice.tap();
    await shown.waitFor();
    await page.getByRole('button', { name: `More tabs, ${name}` }).waitFor();
    await narrow();
    await tab.accessible();
  }
  for (const name of [/^Changes/, 'Land', 'Runs', 'Chat']) {
    await page.getByRole('tablist', { name: 'Attempt' }).getByRole('tab', { name }).tap();
    await narrow();
  }
  await composer(tab).fill('say and back');
  await page.getByRole('button', { name: 'Send', exact: true }).tap();
  await log(tab).getByText('and back', { exact: true }).waitFor();
  await world.settled(attempt.id, 'finished');
  assert.deepEqual(await small(), []);
});

journey('a long conversation is read back page by page, found in, and linked to', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Long', 'say the very first\nlines 2500 0\nsay the very last');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}`);
  await log(tab).getByText('the very last', { exact: true }).waitFor();
  const kept = () => log(tab).getByTestId('entry').count();
  const top = async () => Number((await log(tab).getByTestId('entry').first().innerText()).match(/ line (\d+)$/)?.[1] ?? 0);
  const seen = [];
  const refuse = async (what, sentence) => {
    await tab.page.route(what, (route) => route.fulfill({ status: 500, json: { success: false, message: 'Not now.' } }));
    return { alert: tab.page.getByRole('alert').filter({ hasText: sentence }), end: () => tab.page.unroute(what) };
  };
  await log(tab).hover();
  const earlier = await refuse('**/entries?before=*', 'Earlier messages are not shown: Not now.');
  await until('it to be said that no page comes', async () => {
    await tab.page.mouse.wheel(0, -4000);
    return earlier.alert.isVisible();
  });
  assert.equal(await log(tab).getByText('Loading earlier messages…').count(), 0);
  await earlier.end();
  // A scroll that still goes on asks again by itself.
  await until('it to come when it is asked for again', async () => {
    await earlier.alert.getByRole('button', { name: 'Try again' }).click({ timeout: 1000 }).catch(() => {});
    return !(await earlier.alert.isVisible());
  });
  await log(tab).hover();
  await until('a page that was not there at first', async () => {
    await tab.page.mouse.wheel(0, -4000);
    seen.push(await top());
    return seen.at(-1) > 0 && seen.at(-1) < 2000;
  });
  assert.ok(await kept() < 200, 'only what is near is drawn');
  // Found by the server, far outside of what the page holds.
  await tab.page.keyboard.press('f');
  await tab.page.getByRole('searchbox', { name: 'Find in this attempt' }).fill('the very first');
  await tab.page.keyboard.press('Enter');
  const found = tab.page.getByRole('list', { name: 'Found' }).getByRole('button').first();
  const newest = tab.page.getByRole('button', { name: /^(Newest|[\d.k]+ new)$/ });
  // A place that does not come moves nothing and holds nobody: the end is reached, and the place when it is asked for again.
  const place = await refuse('**/entries?around=*', 'That place is not shown: Not now.');
  await found.waitFor();
  let stood = null;
  await until('the list to stand still', async () => {
    const before = stood;
    stood = await topLine(tab);
    return stood === before;
  });
  await found.click();
  await place.alert.waitFor();
  await drawnAnew(tab);
  const stands = await topLine(tab);
  assert.ok(Math.abs(stands - stood) < 5, `line ${stood} was at the top, now it is ${stands}`);
  await newest.click();
  await log(tab).getByText('the very last', { exact: true }).waitFor();
  await until('the end to be in view', () => log(tab).evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 80));
  await found.click();
  await place.alert.waitFor();
  await place.end();
  await place.alert.getByRole('button', { name: 'Try again' }).click();
  await log(tab).getByText('the very first', { exact: true }).waitFor();
  await place.alert.waitFor({ state: 'detached' });
  await tab.accessible();
  await newest.click();
  await log(tab).getByText('the very last', { exact: true }).waitFor();
  // A link leads to the thing itself.
  const { entries } = await world.get(`/task-attempts/${attempt.id}/entries?find=${encodeURIComponent('line 700')}&limit=5`);
  assert.deepEqual(entries, []);
  const run = (await world.get(`/execution-processes?task_attempt_id=${attempt.id}`))[0].id;
  const linked = await world.open(`/a/${attempt.id}?entry=${run}:702`);
  await linked.page.locator(`[data-key="${run}:702"]`).waitFor();
});

journey('a second attempt is started with another profile, and both are listed', async (world) => {
  const project = await world.project();
  const { executors } = JSON.parse((await world.get('/profiles')).content);
  executors.SCRIPTED.LOUD = { SCRIPTED: { append_prompt: '\nsay LOUD' } };
  await world.put('/profiles', { executors });
  const { attempt, task } = await world.start(project, 'Try twice', 'say hello');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}`);
  const { page } = tab;
  await page.getByRole('button', { name: 'Attempt 1 of 1' }).click();
  await page.getByRole('menuitem', { name: 'Another attempt…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'Agent' }).selectOption('SCRIPTED:LOUD');
  await tab.accessible();
  await dialog.getByRole('button', { name: /^Start/ }).click();
  const both = await until('two attempts', async () => {
    const all = await world.get(`/task-attempts?task_id=${task.id}`);
    return all.length === 2 && all;
  });
  const second = both.find(({ id }) => id !== attempt.id);
  await page.getByRole('button', { name: /^Attempt [12] of 2$/ }).click();
  await page.getByRole('menuitemradio', { name: /^2\./ }).click();
  await page.waitForURL(new RegExp(second.id));
  await page.getByRole('button', { name: 'Attempt 2 of 2' }).waitFor();
  await log(tab).getByText('LOUD', { exact: true }).waitFor();
  assert.equal(second.executor_profile_id.variant, 'LOUD');
});

journey('what an agent changed outside its worktree is shown, and put back or left', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Careless', `run echo spoilt > ${project.path}/README.md\nrun echo new > ${project.path}/left.txt`);
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}`);
  const { page } = tab;
  await page.getByRole('tab', { name: /^Snapshots 2 outside/ }).click();
  const found = page.getByRole('region', { name: 'Changed outside the worktree' });
  await found.getByText(/^README.md in your checkout changed/).waitFor();
  await tab.accessible();
  await found.getByRole('button', { name: 'Put back: README.md' }).click();
  await until('the old words', () => textOf(join(project.path, 'README.md')) === '# Shop\n');
  await found.getByRole('button', { name: 'Leave as it is: left.txt' }).click();
  await found.waitFor({ state: 'detached' });
  assert.equal(readFileSync(join(project.path, 'left.txt'), 'utf8'), 'new\n');
  const states = (await world.get(`/task-attempts/${attempt.id}/findings`)).map(({ subject, state }) => `${subject} ${state}`);
  assert.deepEqual(states.sort(), ['README.md restored', 'left.txt dismissed']);
});

journey('an open menu keeps the focus and its keys while an agent works behind it', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Works on', `${'say step\nsleep 200\n'.repeat(100)}say over`);
  const tab = await world.open(`/a/${attempt.id}`);
  const { page } = tab;
  await page.getByRole('button', { name: 'More about this attempt' }).click();
  const menu = page.getByRole('menu');
  await menu.waitFor();
  await page.keyboard.press('ArrowDown');
  const focused = () => page.evaluate(() => document.activeElement?.closest('[role=menu]') && document.activeElement.innerText);
  const chosen = await focused();
  assert.ok(chosen, 'an item of the menu has the focus');
  const entries = () => log(tab).getByTestId('entry').count();
  const before = await entries();
  await until('the page to be drawn again', async () => await entries() > before + 5);
  assert.equal(await focused(), chosen);
  await page.keyboard.press('ArrowDown');
  assert.notEqual(await focused(), chosen);
  await tab.accessible();
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'More about this attempt');
});

journey('an entry that cannot be drawn takes nothing else from the page', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Goes wrong', 'say first\nrun echo second\nsay third');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open('about:blank');
  const { page } = tab;
  tab.expectsFault(/./);
  await page.route('**/entries?*', async (route) => {
    const answer = await route.fetch();
    const body = await answer.json();
    for (const { entry } of body.data.entries) delete entry.entry_type.action_type?.command;
    await route.fulfill({ response: answer, json: body });
  });
  await page.goto(`/a/${attempt.id}`);
  await log(tab).getByText('third', { exact: true }).waitFor();
  await log(tab).getByText('first', { exact: true }).waitFor();
  await log(tab).getByRole('alert').filter({ hasText: 'This entry cannot be shown' }).waitFor();
  // The rest of the page works.
  await page.getByRole('tab', { name: /^Runs/ }).click();
  await page.getByRole('log', { name: 'Log of Agent' }).waitFor();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Inbox/ }).click();
  await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
});
