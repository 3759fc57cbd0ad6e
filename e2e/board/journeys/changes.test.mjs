// Reading what an attempt changed, and answering it line by line.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

const LONG = Array.from({ length: 60 }, (_, n) => `export const v${n} = ${n};`).join('\n');
const FILES = {
  'README.md': '# Shop\n',
  'src/server.js': `${LONG}\n`,
  'src/old.js': 'one\ntwo\nthree\nfour\nfive\n',
  'src/gone.js': 'bye\n',
  'logo.bin': 'a\0b\n',
};
const EVERY_KIND = [
  'edit src/limit.js export const limit = 60;',
  'run sed -i "s/v30 = 30/v30 = 3030/" src/server.js',
  'run git mv src/old.js src/renamed.js && rm src/gone.js && printf "\\0\\1\\2" > logo.bin',
  'run seq 1 900 > package-lock.json',
].join('\n');

/** An attempt that has come to its end, and its changes in a tab. */
async function changed(world, script, files = FILES, options = {}, pane = 'changes') {
  const project = await world.project('shop', files);
  const { task, attempt } = await world.start(project, 'Rate limiter', script);
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}?tab=${pane}`, options);
  const tree = tab.page.getByRole('tree', { name: 'Changed files' });
  const file = (path) => tab.page.getByRole('region', { name: path, exact: true });
  return { project, task, attempt, tab, page: tab.page, tree, file };
}

const diffOf = async (world, attempt) => {
  const { diffs } = await world.get(`/task-attempts/${attempt.id}/diff?stats_only=true`);
  return diffs.map((diff) => diff.newPath ?? diff.oldPath).sort();
};

journey('a diff is read: what is new, edited, deleted, renamed and binary', async (world) => {
  const script = `${EVERY_KIND}\nrun seq 1 5200 > src/numbers.txt`;
  const { attempt, tab, page, tree, file } = await changed(world, script, FILES, {}, 'runs');
  // Colours are loaded when there is code to colour.
  const isLoaded = () => page.evaluate(() => performance.getEntriesByType('resource').some(({ name }) => /highlight/.test(name)));
  await page.getByRole('log', { name: 'Log of Agent' }).waitFor();
  assert.equal(await isLoaded(), false);
  await page.getByRole('tab', { name: /^Changes/ }).click();
  for (const name of [
    'src/limit.js, new, 1 added',
    'src/server.js, 1 added, 1 deleted',
    'src/gone.js, deleted, 1 deleted',
    'src/renamed.js, renamed from src/old.js',
    'logo.bin, binary',
  ]) await tree.getByRole('treeitem', { name, exact: true }).waitFor();
  const lines = file('src/server.js').getByRole('table', { name: 'src/server.js, changes' });
  await lines.getByRole('row').filter({ hasText: 'v30 = 3030' }).waitFor();
  assert.equal(await lines.getByRole('row').filter({ hasText: 'v5 = 5' }).count(), 0, 'far lines are folded');
  await lines.getByRole('button', { name: /lines are the same/ }).first().click();
  await lines.getByRole('row').filter({ hasText: 'v5 = 5;' }).waitFor();
  await until('the colours', isLoaded);
  const line = file('src/limit.js').getByRole('row').filter({ hasText: 'limit = 60' });
  const colour = (word) => line.getByText(word, { exact: true }).evaluate((it) => getComputedStyle(it).color);
  assert.equal(new Set([await colour('const'), await colour('60'), await line.evaluate((it) => getComputedStyle(it).color)]).size, 3);
  const go = (name) => tree.getByRole('treeitem', { name }).press('Enter');
  await go(/^src\/numbers.txt/);
  const long = file('src/numbers.txt');
  await long.getByText('5,200 lines.').waitFor();
  assert.equal(await long.getByRole('row').count(), 0);
  await long.getByRole('button', { name: 'Show', exact: true }).click();
  await long.getByRole('button', { name: 'Show anyway' }).click();
  await long.getByRole('row').filter({ hasText: /^1\D*1$/ }).first().waitFor();
  await go(/^logo.bin/);
  await file('logo.bin').getByText('A binary file').waitFor();
  await go(/^package-lock.json/);
  await file('package-lock.json').getByText('Generated file, 900 lines.').waitFor();
  assert.deepEqual(await diffOf(world, attempt), ['logo.bin', 'package-lock.json', 'src/gone.js', 'src/limit.js', 'src/numbers.txt', 'src/renamed.js', 'src/server.js']);
  await tab.accessible();
  await tab.named();
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  await tab.accessible();
});

journey('both sides stand beside each other, and changes of whitespace can be hidden', async (world) => {
  const files = { 'a.js': 'if (x) {\nrun();\n}\nconst n = 1;\n' };
  const script = 'run printf "if (x) {\\n    run();\\n}\\nconst n = 2;\\n" > a.js';
  const { page, file } = await changed(world, script, files, { viewport: { width: 2000, height: 900 } });
  const rows = file('a.js').getByRole('row');
  await rows.filter({ hasText: 'const n = 2;' }).waitFor();
  assert.equal(await rows.filter({ hasText: 'const n = 1;' }).count(), 1);
  await page.keyboard.press('u');
  // One row holds what went and what came.
  await rows.filter({ hasText: 'const n = 1;' }).filter({ hasText: 'const n = 2;' }).waitFor();
  await page.keyboard.press('w');
  await until('the indented line to be no change any more', async () => (await rows.filter({ hasText: '+' }).count()) === 1);
  await page.reload();
  await rows.filter({ hasText: 'const n = 1;' }).filter({ hasText: 'const n = 2;' }).waitFor();
});

journey('comments on lines go to the agent as one message', async (world) => {
  const { attempt, tab, page, file } = await changed(world, EVERY_KIND);
  const server = file('src/server.js');
  await server.getByRole('button', { name: 'Comment on line 31', exact: true }).click();
  const box = page.getByRole('textbox', { name: 'Comment on line 31' });
  await box.fill('Why 3031?');
  const bar = page.getByRole('region', { name: 'Comments' });
  await bar.getByText('1 comment in 1 file').waitFor();
  // What was not even saved comes back too.
  await bar.getByRole('button', { name: 'Discard' }).click();
  await box.waitFor({ state: 'detached' });
  const notices = page.getByRole('region', { name: 'Notices' });
  await notices.getByText('The comment is gone.').waitFor();
  await notices.getByRole('button', { name: 'Undo' }).click();
  const note = server.getByRole('article', { name: 'Comment on line 31' });
  await note.getByText('Why 3031?').waitFor();
  // A stretch of lines, by dragging; the bar that has just come may still move them.
  const stretch = page.getByRole('textbox', { name: 'Comment on lines 29 to 30' });
  await until('the box for two lines', async () => {
    for (const [line, act] of [[29, 'down'], [30, 'up']]) {
      await server.getByRole('button', { name: `Comment on line ${line}`, exact: true }).hover();
      await page.mouse[act]();
    }
    return stretch.isVisible();
  });
  await stretch.fill('Name these.');
  // To open another box saves this one; what is edited is sent as it reads, saved or not.
  await note.getByRole('button', { name: 'Edit the comment on line 31' }).click();
  await server.getByRole('article', { name: 'Comment on lines 29 to 30' }).getByText('Name these.').waitFor();
  await box.fill('Why 3030?');
  await bar.getByText('2 comments in 1 file').waitFor();
  await tab.accessible();
  await bar.getByRole('button', { name: 'Send to agent' }).click();
  await bar.waitFor({ state: 'detached' });
  const told = await until('the agent to be told', async () => {
    const { entries } = await world.get(`/task-attempts/${attempt.id}/entries?limit=200`);
    return entries.find(({ entry }) => entry.entry_type.type === 'user_message' && entry.content.includes('Why 3030?'));
  });
  assert.match(told.entry.content, /`src\/server\.js`, lines 29 to 30:\n> export const v28 = 28;\n> export const v29 = 29;\n\nName these\./);
  assert.match(told.entry.content, /line 31:\n> export const v30 = 3030;\n\nWhy 3030\?/);
  const comments = await world.get(`/task-attempts/${attempt.id}/comments`);
  assert.equal(comments.length, 2);
  assert.ok(comments.every((comment) => comment.sent_at));
  await server.getByRole('article', { name: 'Comment on line 31' }).getByText('sent').waitFor();
});

journey('a comment outlives the tab, and says when its line has changed', async (world) => {
  const { attempt, page, tree, file } = await changed(world, EVERY_KIND);
  await file('src/limit.js').getByRole('button', { name: 'Comment on line 1', exact: true }).click();
  const [box, save] = [page.getByRole('textbox', { name: 'Comment on line 1' }), page.getByRole('button', { name: 'Save' })];
  const texts = async () => (await world.get(`/task-attempts/${attempt.id}/comments`)).map(({ text }) => text).sort();
  const saved = (...wanted) => until(`saved: ${wanted}`, async () => JSON.stringify(await texts()) === JSON.stringify(wanted));
  let go;
  let held;
  const hold = () => { held = new Promise((done) => { go = done; }); };
  await page.route('**/comments', async (route) => {
    if (route.request().method() === 'POST') await held;
    await route.continue();
  });
  // Saved twice while the server is slow, it is one comment. What is written meanwhile belongs to it, and is saved
  // before another one is begun.
  hold();
  await box.fill('Too');
  await save.click();
  await save.click();
  await box.pressSequentially(' low.');
  const other = page.getByRole('textbox', { name: 'Comment on line 31' });
  await file('src/server.js').getByRole('button', { name: 'Comment on line 31', exact: true }).click();
  go();
  await other.waitFor();
  await saved('Too low.');
  const note = file('src/limit.js').getByRole('article', { name: 'Comment on line 1' });
  // Who writes on stays in the box when the server has answered, which the tree tells: it counts what is saved.
  hold();
  await other.fill('And');
  await save.click();
  await other.pressSequentially(' here');
  go();
  await tree.getByRole('treeitem', { name: /^src\/server.js/ }).getByText('1', { exact: true }).waitFor();
  assert.deepEqual(await texts(), ['And', 'Too low.']);
  await page.keyboard.type('!');
  await save.click();
  await saved('And here!', 'Too low.');
  const [second] = (await world.get(`/task-attempts/${attempt.id}/comments`)).filter(({ text }) => text === 'And here!');
  await world.call('DELETE', `/task-attempts/${attempt.id}/comments/${second.id}`);
  await note.getByText('Too low.').waitFor();
  await page.reload();
  await note.getByText('Too low.').waitFor();
  await world.post(`/task-attempts/${attempt.id}/follow-up`, { prompt: 'edit src/limit.js export const limit = 600;' });
  // While the agent is at work, what is on the screen changes only when the reader wants it.
  const [stale, update] = [note.getByText('The line changed since you wrote this.'), page.getByRole('button', { name: 'Update', exact: true })];
  await stale.or(update).first().waitFor();
  if (await update.isVisible()) await update.click();
  await stale.waitFor();
  await note.getByText('export const limit = 60;').waitFor();
  await page.getByRole('button', { name: 'Discard' }).click();
  await note.waitFor({ state: 'detached' });
  await page.getByRole('region', { name: 'Notices' }).getByRole('button', { name: 'Undo' }).click();
  await note.waitFor();
  assert.equal((await world.get(`/task-attempts/${attempt.id}/comments`)).length, 1);
});

/** Holds back what the page sends there, until the answer is called. */
async function holdPosts(page, glob) {
  let go;
  const held = new Promise((done) => { go = done; });
  await page.route(glob, async (route) => {
    if (route.request().method() === 'POST') await held;
    await route.continue();
  });
  return go;
}

journey('a comment that is saved while the server is slow has its last words, and what is begun meanwhile is another one', async (world) => {
  const { attempt, page, file } = await changed(world, EVERY_KIND);
  const go = await holdPosts(page, '**/comments');
  const begin = (path, line) => file(path).getByRole('button', { name: `Comment on line ${line}`, exact: true }).click();
  const box = (line) => page.getByRole('textbox', { name: `Comment on line ${line}`, exact: true });
  const note = (path, line) => file(path).getByRole('article', { name: `Comment on line ${line}`, exact: true });
  const save = page.getByRole('button', { name: 'Save' });
  await begin('src/limit.js', 1);
  await box(1).fill('Too');
  await save.click();
  await box(1).pressSequentially(' low.');
  await save.click();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await begin('src/server.js', 31);
  await box(31).fill('Why?');
  go();
  await note('src/limit.js', 1).getByText('Too low.').waitFor();
  assert.equal(await box(31).inputValue(), 'Why?');
  await save.click();
  await note('src/server.js', 31).getByText('Why?').waitFor();
  const comments = await world.get(`/task-attempts/${attempt.id}/comments`);
  assert.deepEqual(comments.map(({ line, text }) => [line, text]), [[1, 'Too low.'], [31, 'Why?']]);
});

journey('what is written on after the comments were sent is another comment', async (world) => {
  const { attempt, page, file } = await changed(world, EVERY_KIND);
  const go = await holdPosts(page, '**/comments');
  await file('src/server.js').getByRole('button', { name: 'Comment on line 31', exact: true }).click();
  const box = page.getByRole('textbox', { name: 'Comment on line 31' });
  await box.fill('Why?');
  const bar = page.getByRole('region', { name: 'Comments' });
  await bar.getByRole('button', { name: 'Send to agent' }).click();
  await bar.getByRole('button', { name: 'Sending' }).waitFor();
  await box.pressSequentially(' And how?');
  go();
  const note = file('src/server.js').getByRole('article', { name: 'Comment on line 31' });
  await note.getByText('sent', { exact: true }).waitFor();
  await note.getByText('Why?', { exact: true }).waitFor();
  assert.equal(await box.inputValue(), 'Why? And how?');
  await page.getByRole('button', { name: 'Save' }).click();
  await note.getByText('Why? And how?', { exact: true }).waitFor();
  await bar.getByText('1 comment in 1 file').waitFor();
  const comments = await world.get(`/task-attempts/${attempt.id}/comments`);
  assert.deepEqual(comments.map(({ text, sent_at }) => [text, sent_at !== null]), [['Why?', true], ['Why? And how?', false]]);
});

journey('a message that is refused because another tab has sent its comments stays until it is discarded', async (world) => {
  const { attempt, tab, page, file } = await changed(world, EVERY_KIND);
  await file('src/server.js').getByRole('button', { name: 'Comment on line 31', exact: true }).click();
  await page.getByRole('textbox', { name: 'Comment on line 31' }).fill('Why?');
  await page.getByRole('button', { name: 'Save' }).click();
  await file('src/server.js').getByRole('article', { name: 'Comment on line 31' }).waitFor();
  const bar = page.getByRole('region', { name: 'Comments' });
  const message = bar.getByRole('textbox', { name: 'Message' });
  await message.fill('Please tell me why.');
  tab.expects(409);
  // The other one is quicker by the time that this one is on its way.
  await page.route('**/follow-up', async (route) => {
    const comments = await world.get(`/task-attempts/${attempt.id}/comments`);
    await world.post(`/task-attempts/${attempt.id}/follow-up`, { prompt: 'say quicker', comment_ids: comments.map(({ id }) => id) });
    await route.continue();
  });
  await bar.getByRole('button', { name: 'Send to agent' }).click();
  await bar.getByRole('alert').filter({ hasText: /^Not sent: .*was sent to the agent already/ }).waitFor();
  await bar.getByText('No comment is left').waitFor();
  assert.equal(await message.inputValue(), 'Please tell me why.');
  await tab.accessible();
  await bar.getByRole('button', { name: 'Discard' }).click();
  await bar.waitFor({ state: 'detached' });
  const { entries } = await world.get(`/task-attempts/${attempt.id}/entries?limit=200`);
  assert.equal(entries.some(({ entry }) => entry.content.includes('Please tell me why.')), false);
});

journey('a file that was viewed is folded, and stays so until it is another', async (world) => {
  const { attempt, page, file } = await changed(world, EVERY_KIND);
  const box = page.getByRole('checkbox', { name: 'Viewed src/limit.js' });
  await file('src/limit.js').getByRole('table').waitFor();
  await box.check();
  await file('src/limit.js').getByRole('table').waitFor({ state: 'detached' });
  await page.reload();
  await box.waitFor();
  assert.equal(await box.isChecked(), true);
  assert.equal(await file('src/limit.js').getByRole('table').count(), 0);
  // As many lines as before, and not the same: told live, and found out after a reload.
  const rewrite = async (limit) => {
    await world.post(`/task-attempts/${attempt.id}/follow-up`, { prompt: `edit src/limit.js export const limit = ${limit};` });
    await until('the line to be rewritten', async () => {
      const { diffs } = await world.get(`/task-attempts/${attempt.id}/diff?path=src/limit.js`);
      // In the moment of the writing there is nothing in it.
      return diffs[0]?.newContent?.includes(` = ${limit};`);
    });
    await world.settled(attempt.id, 'finished');
  };
  await rewrite(61);
  const rows = file('src/limit.js').getByRole('row');
  const update = page.getByRole('button', { name: 'Update', exact: true });
  await rows.filter({ hasText: 'limit = 61' }).or(update).first().waitFor();
  if (await update.isVisible()) await update.click();
  await rows.filter({ hasText: 'limit = 61' }).waitFor();
  assert.equal(await box.isChecked(), false);
  await box.check();
  await file('src/limit.js').getByRole('table').waitFor({ state: 'detached' });
  await page.goto('about:blank');
  await rewrite(62);
  await page.goto(`/a/${attempt.id}?tab=changes`);
  await page.getByRole('button', { name: 'Shown: Since I last looked' }).or(page.getByRole('button', { name: 'Shown: All changes' })).click();
  await page.getByRole('menuitemradio', { name: 'All changes' }).click();
  await rows.filter({ hasText: 'limit = 62' }).waitFor();
  assert.equal(await box.isChecked(), false);
});

journey('a changed file is deleted, and comes back with undo, also when another was deleted since', async (world) => {
  const { attempt, page, tree, file } = await changed(world, EVERY_KIND);
  await file('src/limit.js').getByRole('button', { name: 'Actions for src/limit.js' }).click();
  await page.getByRole('menuitem', { name: /^Delete this file/ }).click();
  const notices = page.getByRole('region', { name: 'Notices' });
  const undo = notices.getByRole('button', { name: 'Undo' });
  // A notice that has the focus stays.
  await undo.focus();
  await until('the file to be gone', async () => !(await diffOf(world, attempt)).includes('src/limit.js'));
  await world.post(`/task-attempts/${attempt.id}/delete-file?file_path=src/renamed.js`);
  await undo.click();
  await notices.getByText('src/limit.js is back.').waitFor();
  await tree.getByRole('treeitem', { name: /^src\/limit.js/ }).waitFor();
  await until('one of the two to be back', async () => {
    const paths = await diffOf(world, attempt);
    return paths.includes('src/limit.js') && !paths.includes('src/renamed.js');
  });
});

journey('a diff of a thousand files is there at once, and few of them are drawn', async (world) => {
  const script = 'run mkdir -p many && for n in $(seq 1000 1999); do seq 1 40 > many/$n.txt; done';
  const { page, tree, file, attempt } = await changed(world, script, { 'README.md': '# Shop\n' });
  await file('many/1000.txt').getByRole('row').filter({ hasText: '40' }).waitFor();
  assert.ok(await page.evaluate(() => document.querySelectorAll('*').length) < 4000);
  // Who clicks while it still moves, clicks on what is there.
  const isHit = await page.getByRole('group', { name: 'Changes' }).evaluate(async (list) => {
    list.scrollTop = 300;
    await new Promise((drawn) => { requestAnimationFrame(() => requestAnimationFrame(drawn)); });
    const { x, y, width, height } = list.getBoundingClientRect();
    return list.firstElementChild.contains(document.elementFromPoint(x + width / 2, y + height / 2));
  });
  assert.ok(isHit);
  await tree.getByRole('treeitem', { name: /1000.txt/ }).focus();
  await page.keyboard.press('End');
  await tree.getByRole('treeitem', { name: /1999.txt/ }).click();
  await file('many/1999.txt').getByRole('row').filter({ hasText: '40' }).waitFor();
  assert.ok(await page.evaluate(() => document.querySelectorAll('*').length) < 4000);
  assert.equal((await diffOf(world, attempt)).length, 1000);
});

journey('the keyboard goes from file to file and from change to change', async (world) => {
  const { attempt, page, file } = await changed(world, EVERY_KIND);
  await file('src/limit.js').getByRole('table').waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.closest('section')?.getAttribute('aria-label'));
  await page.keyboard.press('n');
  await until('the second file to have the focus', async () => (await focused()) === 'src/gone.js');
  await page.keyboard.press('n');
  await until('the third file to have the focus', async () => (await focused()) === 'src/limit.js');
  await page.keyboard.press('p');
  await until('the second file to have the focus again', async () => (await focused()) === 'src/gone.js');
  await page.keyboard.press('n');
  await until('the third file to have the focus again', async () => (await focused()) === 'src/limit.js');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await until('the change of another file to have the focus', async () => (await focused()) !== 'src/limit.js');
  await page.keyboard.press('k');
  await until('its change to have the focus', () => page.evaluate(() => document.activeElement?.getAttribute('role') === 'row'));
  await page.keyboard.press('c');
  await page.getByRole('textbox', { name: 'Comment on line 1' }).waitFor();
  await page.keyboard.type('Hm.');
  await page.keyboard.press('Control+Enter');
  await file('src/limit.js').getByRole('article', { name: 'Comment on line 1' }).waitFor();
  await page.keyboard.press('Control+Enter');
  await until('the comment to be sent', async () => (await world.get(`/task-attempts/${attempt.id}/comments`)).every((it) => it.sent_at));
  // An editor is a command, which is given the file; a line has its key, a file its menu.
  const opened = join(world.directory, 'opened');
  const config = await world.get('/config');
  const custom_command = `sh -c 'echo "$1" >> ${opened}' editor`;
  await world.put('/config', { ...config, editor: { ...config.editor, editor_type: 'CUSTOM', custom_command } });
  const { container_ref: worktree } = await world.attempt(attempt.id);
  const openings = (count) => until('the editor to be opened', () => {
    const lines = existsSync(opened) ? readFileSync(opened, 'utf8').trim().split('\n') : [];
    return lines.length === count && lines;
  });
  await page.keyboard.press('o');
  await openings(1);
  await file('src/server.js').getByRole('button', { name: 'Actions for src/server.js' }).click();
  await page.getByRole('menuitem', { name: /^Open in editor/ }).click();
  assert.deepEqual(await openings(2), [join(worktree, 'src/limit.js'), join(worktree, 'src/server.js')]);
  await file('src/limit.js').focus();
  await page.keyboard.press('v');
  assert.equal(await page.getByRole('checkbox', { name: 'Viewed src/limit.js' }).isChecked(), true);
});

journey('a file that changes while it is read waits until the reader wants it', async (world) => {
  const project = await world.project();
  const script = 'edit a.txt first\nask Go on?\nedit a.txt second\nask Done?';
  const { attempt } = await world.start(project, 'Two steps', script);
  const ask = await until('the question', async () => (await world.get('/approvals')).find((it) => it.state === 'open'));
  const tab = await world.open(`/a/${attempt.id}?tab=changes`);
  const lines = tab.page.getByRole('region', { name: 'a.txt', exact: true }).getByRole('row');
  await lines.filter({ hasText: 'first' }).waitFor();
  await world.post(`/approvals/${ask.approval_id}/respond`, { approved: true, text: 'yes' });
  const bar = tab.page.getByText('1 file changed while you read.');
  await bar.waitFor();
  await lines.filter({ hasText: 'first' }).waitFor();
  await tab.page.getByRole('button', { name: 'Update', exact: true }).click();
  await lines.filter({ hasText: 'second' }).waitFor();
  await bar.waitFor({ state: 'detached' });
});

journey('hostile names and lines are shown as text', async (world) => {
  const name = '<img src=x onerror=alert(1)>.js';
  const script = `run printf '<script>alert(1)</script>\\n\\342\\200\\256gnp.exe\\n\\033[31mred\\n' > '${name}'`;
  const { page, tree, file } = await changed(world, script, { 'README.md': '# Shop\n' });
  await tree.getByRole('treeitem', { name: new RegExp('^<img src=x') }).waitFor();
  const rows = file(name).getByRole('row');
  await rows.filter({ hasText: '<script>alert(1)</script>' }).waitFor();
  await rows.filter({ hasText: 'U+202E' }).waitFor();
  await rows.filter({ hasText: 'U+001B' }).waitFor();
  assert.equal(await page.locator('img').count(), 0);
});

journey('changes are read on a phone', async (world) => {
  const { tab, page, file } = await changed(world, EVERY_KIND, FILES, {
    viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true,
  });
  await file('src/limit.js').getByRole('row').filter({ hasText: 'limit = 60' }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  await file('src/limit.js').getByRole('button', { name: 'Comment on line 1', exact: true }).tap();
  await page.getByRole('textbox', { name: 'Comment on line 1' }).waitFor();
  await tab.accessible();
});

journey('the changes of one turn are looked at alone', async (world) => {
  const { attempt, page, tree, file } = await changed(world, 'edit a.txt one', { 'README.md': '# Shop\n' });
  await tree.getByRole('treeitem', { name: /^a.txt/ }).waitFor();
  await world.post(`/task-attempts/${attempt.id}/follow-up`, { prompt: 'edit b.txt two' });
  await tree.getByRole('treeitem', { name: /^b.txt/ }).waitFor();
  await world.settled(attempt.id, 'finished');
  await until('two snapshots', async () => (await world.get(`/task-attempts/${attempt.id}/snapshots`)).length === 2);
  const choose = async (now, words) => {
    await page.getByRole('button', { name: `Shown: ${now}` }).click();
    await page.getByRole('menuitemradio', { name: words }).click();
  };
  await choose('All changes', /^Turn 2/);
  await file('b.txt').getByRole('row').filter({ hasText: 'two' }).waitFor();
  assert.equal(await tree.getByRole('treeitem').count(), 1);
  await choose('Turn 2', /^Turn 1/);
  await file('a.txt').getByRole('row').filter({ hasText: 'one' }).waitFor();
  await choose('Turn 1', 'All changes');
  await tree.getByRole('treeitem', { name: /^b.txt/ }).waitFor();
  assert.deepEqual(await diffOf(world, attempt), ['a.txt', 'b.txt']);
});

journey('a link to a file leads to it, and the address follows the reader', async (world) => {
  const script = Array.from({ length: 40 }, (_, n) => `run seq ${n} ${n + 60} > src/file${String(n).padStart(2, '0')}.txt`).join('\n');
  const project = await world.project('shop', FILES);
  const { attempt } = await world.start(project, 'Many files', script);
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}?tab=changes&file=src/file30.txt`);
  const { page } = tab;
  const region = (path) => page.getByRole('region', { name: path, exact: true });
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'src/file30.txt');
  await region('src/file30.txt').getByRole('row').filter({ hasText: '90' }).first().waitFor();
  // By key: the tree goes along with the reader, and a row that moves is missed by a click.
  await page.getByRole('tree', { name: 'Changed files' }).getByRole('treeitem', { name: /^src\/file31.txt/ }).press('Enter');
  await page.waitForURL(/file=src%2Ffile31.txt/);
  await page.reload();
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'src/file31.txt');
  await page.goto(`/a/${attempt.id}?tab=changes&file=nowhere.txt`);
  await page.getByRole('status').filter({ hasText: 'nowhere.txt is not among these changes.' }).waitFor();
  assert.equal((await diffOf(world, attempt)).length, 40);
});

journey('who comes back is shown what is new since they last looked, and everything when they want it', async (world) => {
  const { attempt, page, tree, file } = await changed(world, 'edit a.txt one', { 'README.md': '# Shop\n' });
  await tree.getByRole('treeitem', { name: /^a.txt/ }).waitFor();
  await until('the look to be known', async () => (await world.attempt(attempt.id)).seen_at !== null);
  await page.goto('/inbox');
  await world.post(`/task-attempts/${attempt.id}/follow-up`, { prompt: 'edit b.txt two' });
  await until('two snapshots', async () => (await world.get(`/task-attempts/${attempt.id}/snapshots`)).length === 2);
  await world.settled(attempt.id, 'finished');
  await page.goto(`/a/${attempt.id}?tab=changes`);
  await page.getByRole('button', { name: 'Shown: Since I last looked' }).waitFor();
  await file('b.txt').getByRole('row').filter({ hasText: 'two' }).waitFor();
  assert.equal(await tree.getByRole('treeitem').count(), 1);
  await page.getByRole('status').filter({ hasText: 'Only what changed since you last looked.' }).getByRole('button', { name: 'Show all changes' }).click();
  await tree.getByRole('treeitem', { name: /^a.txt/ }).waitFor();
  // Nothing has happened since this look.
  await page.goto('/inbox');
  await page.goto(`/a/${attempt.id}?tab=changes`);
  await page.getByRole('button', { name: 'Shown: All changes' }).waitFor();
  assert.deepEqual(await diffOf(world, attempt), ['a.txt', 'b.txt']);
});

journey('what the target changed before a rebase is not shown as new since the last look', async (world) => {
  const { project, attempt, page, tree, file } = await changed(world, 'edit a.txt one', { 'README.md': '# Shop\n' });
  await tree.getByRole('treeitem', { name: /^a.txt/ }).waitFor();
  await until('the look to be known', async () => (await world.attempt(attempt.id)).seen_at !== null);
  await page.goto('/inbox');
  project.write('theirs.txt', 'not the work of the agent\n');
  project.git('add', '-A');
  project.git('commit', '-qm', 'main moves on');
  await world.post(`/task-attempts/${attempt.id}/rebase`);
  await world.post(`/task-attempts/${attempt.id}/follow-up`, { prompt: 'edit b.txt two' });
  const turns = async () => (await world.get(`/task-attempts/${attempt.id}/snapshots`)).filter(({ why }) => why === 'turn');
  await until('two turns', async () => (await turns()).length === 2);
  await world.settled(attempt.id, 'finished');
  await page.goto(`/a/${attempt.id}?tab=changes`);
  await page.getByRole('status').filter({ hasText: 'It was rebased meanwhile' }).waitFor();
  await file('b.txt').getByRole('row').filter({ hasText: 'two' }).waitFor();
  assert.equal(await tree.getByRole('treeitem').count(), 1);
  const from = (await turns()).at(-1).id;
  const { diffs } = await world.get(`/task-attempts/${attempt.id}/diff?stats_only=true&from=${from}&to=now`);
  assert.ok(diffs.some(({ newPath }) => newPath === 'theirs.txt'), 'it does lie between the two');
});
