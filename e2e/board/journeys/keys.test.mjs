// The keys: each one that the help lists for everywhere, the board and an attempt is pressed where it works, and does what
// it says. Those of the inbox and of the changes are pressed in the journeys there.

import assert from 'node:assert/strict';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

/** A key as the help writes it, as the browser is told to press it. */
const asPressed = (shown) => shown.split(' ').map((key) => key
  .replace('Ctrl+', 'Control+')
  .replace(/^⇧(.)$/, (_, letter) => `Shift+${letter.toUpperCase()}`)
  .replace(/[←→↑↓]/, (way) => ({ '←': 'ArrowLeft', '→': 'ArrowRight', '↑': 'ArrowUp', '↓': 'ArrowDown' })[way]));

/** What the help lists under a heading: words and keys. */
async function listed(page, caption) {
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keys' });
  const table = help.getByRole('table', { name: caption });
  await table.waitFor();
  const rows = await table.getByRole('row').evaluateAll((rows) =>
    rows.map((row) => [row.cells[0].textContent, [...row.querySelectorAll('kbd')].map((key) => key.textContent)]));
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'detached' });
  return rows.filter(([, keys]) => keys.length > 0);
}

/** Presses every key of a list, each as often as it is listed, and has its check look. */
async function pressAll(page, rows, checks) {
  assert.deepEqual(rows.map(([words]) => words).toSorted(), Object.keys(checks).toSorted());
  for (const [words, keys] of rows) {
    for (const shown of keys) {
      const press = async () => {
        for (const key of asPressed(shown)) await page.keyboard.press(key);
      };
      await checks[words](press).catch((error) => {
        throw new Error(`${words} (${shown}): ${error.message}`);
      });
    }
  }
}

async function furnish(world) {
  const project = await world.project('shop-api');
  const { config } = await world.get('/info');
  await world.put('/config', { ...config, executor_profile: { executor: 'SCRIPTED' } });
  const ready = await world.start(project, 'Ready', 'say done');
  await world.settled(ready.attempt.id, 'finished');
  const busy = await world.start(project, 'Busy', 'sleep 600000');
  await world.settled(busy.attempt.id, 'running');
  return { project, ready, busy };
}

/** Shows a page without loading it anew. */
const visit = (page, path) => page.evaluate((path) => history.pushState(null, '', path), path);
const cardOf = (page, title) => page.getByRole('listitem').filter({ has: page.getByRole('link', { name: title, exact: true }) });
const on = (page, title) => page.getByRole('main').getByRole('link', { name: title, exact: true }).focus();

journey('every key of everywhere does what the help says', async (world) => {
  const { project, ready, busy } = await furnish(world);
  const wish = await world.task(project, 'A wish');
  const { page } = await world.open(`/p/${project.id}`);
  await cardOf(page, 'A wish').waitFor();
  const board = async () => {
    await visit(page, `/p/${project.id}`);
    await cardOf(page, 'A wish').waitFor();
    await page.evaluate(() => document.activeElement?.blur());
  };
  const opens = (name) => async (press) => {
    await press();
    await page.getByRole('dialog', { name }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name }).waitFor({ state: 'detached' });
  };
  const goes = (url, from) => async (press) => {
    if (from) {
      await visit(page, from);
      await page.getByRole('log', { name: 'Conversation' }).waitFor();
    }
    await press();
    await page.waitForURL(url);
    await board();
  };
  const rail = page.getByRole('navigation', { name: 'Main' });
  await pressAll(page, await listed(page, 'Everywhere'), {
    Commands: opens('Commands'),
    'New task': opens('New task'),
    Keys: opens('Keys'),
    'Filter tasks': async (press) => {
      await press();
      await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Filter tasks');
      await page.evaluate(() => document.activeElement.blur());
    },
    'Go to the inbox': goes(/\/inbox$/),
    'Go to settings': goes(/\/settings\/general$/),
    'Go to all projects': goes(/:\d+\/$/),
    'Go to the board of this project': goes(new RegExp(`/p/${project.id}$`), `/a/${busy.attempt.id}`),
    'Go to the next thing that needs you': goes(new RegExp(`/a/${ready.attempt.id}`)),
    'Previous attempt': goes(new RegExp(`/a/${ready.attempt.id}`), `/a/${busy.attempt.id}`),
    'Next attempt': goes(new RegExp(`/a/${ready.attempt.id}`), `/a/${busy.attempt.id}`),
    'Fold the rail': async (press) => {
      const wide = (await rail.boundingBox()).width;
      await press();
      await until('the folded rail', async () => (await rail.boundingBox()).width < wide / 2);
      await press();
      await until('the open rail', async () => (await rail.boundingBox()).width === wide);
    },
    Undo: async (press) => {
      await on(page, 'A wish');
      await page.keyboard.press('e');
      await page.getByRole('status').filter({ hasText: 'Archived.' }).waitFor();
      await press();
      await until('the wish to be back', async () => (await world.get(`/tasks/${wish.id}`)).status === 'todo');
    },
  });
});

journey('every key of the board does what the help says', async (world) => {
  const { project, busy } = await furnish(world);
  const titles = ['First', 'Second', 'Third', 'To start', 'To archive', 'To delete'];
  const tasks = Object.fromEntries(await Promise.all(titles.map(async (title) => [title, await world.task(project, title, 'sleep 600000')])));
  const asks = {};
  for (const title of ['To allow', 'To deny']) asks[title] = (await world.start(project, title, 'permit Bash {"command":"ls"}')).attempt;
  for (const { id } of Object.values(asks)) await world.settled(id, 'waiting');
  const tab = await world.open(`/p/${project.id}`);
  const { page } = tab;
  const wishes = page.getByRole('list', { name: /^Wish/ }).getByRole('link');
  const order = () => wishes.allTextContents();
  await cardOf(page, 'First').waitFor();
  const atFirst = await order();
  const focused = (title) => page.waitForFunction((title) => document.activeElement?.textContent === title, title);
  const inColumn = (column) => page.waitForFunction((column) => document.activeElement?.closest('[data-column]')?.dataset.column === column, column);
  const moves = (from, to) => async (press) => {
    await on(page, from);
    await press();
    await focused(to);
  };
  const shows = (title, role, name) => async (press) => {
    await on(page, title);
    await press();
    const shown = page.getByRole(role, { name });
    await shown.waitFor();
    await page.keyboard.press('Escape');
    await shown.waitFor({ state: 'detached' });
  };
  const reorders = (from, to) => async (press) => {
    const before = await order();
    await on(page, before[from]);
    await press();
    await until('the other order', async () => (await order()).indexOf(before[from]) === to);
  };
  const answers = (title, state) => async (press) => {
    await until(`the answer to be ${state}`, async () => {
      await on(page, title);
      // What has only just come up takes no answer yet.
      await press();
      return (await world.get(`/approvals?task_attempt_id=${asks[title].id}`))[0].state === state;
    });
  };
  const selected = (count) => page.getByRole('toolbar', { name: `${count} selected` });
  const gone = (title) => until(`${title} to be gone`, async () => !(await order()).includes(title));
  await pressAll(page, await listed(page, 'Board'), {
    'Card above': moves(atFirst[1], atFirst[0]),
    'Card below': moves(atFirst[0], atFirst[1]),
    'First card': moves(atFirst[2], atFirst[0]),
    'Last card': moves(atFirst[0], atFirst.at(-1)),
    'Column to the right': async (press) => {
      await on(page, atFirst[0]);
      await press();
      await inColumn('inprogress');
    },
    'Column to the left': async (press) => {
      await on(page, 'Busy');
      await press();
      await inColumn('todo');
    },
    Peek: async (press) => {
      await on(page, atFirst[0]);
      await press();
      await page.getByRole('region', { name: 'Peek' }).waitFor();
      await press();
      await page.getByRole('region', { name: 'Peek' }).waitFor({ state: 'detached' });
    },
    Start: async (press) => {
      await on(page, 'To start');
      await press();
      await until('an attempt', async () => (await world.get(`/task-attempts?task_id=${tasks['To start'].id}`)).length === 1);
      await gone('To start');
    },
    'Move to…': shows('Second', 'menu', 'Move Second to'),
    'Actions of the card': shows('Second', 'menu', 'Actions for Second'),
    'Move one column to the left': shows('Busy', 'alertdialog', 'Stop the agent?'),
    'Move one column to the right': shows('Busy', 'alertdialog', 'Stop the agent?'),
    Edit: shows('Second', 'dialog', /task/i),
    'Move up': reorders(1, 0),
    'Move down': reorders(0, 1),
    Allow: answers('To allow', 'approved'),
    Deny: answers('To deny', 'denied'),
    Reply: async (press) => {
      await on(page, 'Ready');
      await press();
      await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Reply');
      await page.goBack();
      await cardOf(page, 'First').waitFor();
    },
    Select: async (press) => {
      await on(page, 'First');
      await press();
      await selected(1).waitFor();
      await press();
      await selected(1).waitFor({ state: 'detached' });
    },
    'Select up to here': async (press) => {
      const now = await order();
      await on(page, now[0]);
      await page.keyboard.press('x');
      await on(page, now[1]);
      await press();
      await selected(2).getByRole('button', { name: 'Clear the selection' }).click();
    },
    Archive: async (press) => {
      await on(page, 'To archive');
      await press();
      await until('the task to be archived', async () => (await world.get(`/tasks/${tasks['To archive'].id}`)).status === 'archived');
    },
    Delete: async (press) => {
      await on(page, 'To delete');
      await press();
      await gone('To delete');
      await assert.rejects(world.get(`/tasks/${tasks['To delete'].id}`), { status: 404 });
    },
    'Stop the agent': async (press) => {
      await on(page, 'Busy');
      await press();
      await world.settled(busy.attempt.id, 'stopped');
    },
    'Board or list': async (press) => {
      const views = page.getByRole('radiogroup', { name: 'View' });
      await press();
      await until('the list', () => views.getByRole('radio', { name: 'List' }).isChecked());
      await press();
      await until('the board', () => views.getByRole('radio', { name: 'Board' }).isChecked());
    },
  });
});

journey('every key of an attempt does what the help says', async (world) => {
  const { project, ready, busy } = await furnish(world);
  const script = ['edit limit.js export const limit = 60;', 'run exit 4', ...Array.from({ length: 60 }, (_, at) => `say ${at} has many words`.repeat(20)), 'run exit 5'];
  const long = await world.start(project, 'Long', script.join('\n'));
  const permits = ['ls', 'pwd', 'date'].map((command) => `permit Bash ${JSON.stringify({ command })}`);
  const asks = await world.start(project, 'Asks', permits.join('\n'));
  await world.settled(long.attempt.id, 'finished');
  await world.settled(asks.attempt.id, 'waiting');
  const waits = await world.start(project, 'Waits', 'sleep 600000');
  await world.settled(waits.attempt.id, 'running');
  const merges = await world.start(project, 'Merges', 'edit a.txt hello');
  await world.settled(merges.attempt.id, 'finished');
  const { page } = await world.open(`/a/${long.attempt.id}`);
  const log = page.getByRole('log', { name: 'Conversation' });
  const at = async ({ task, attempt }) => {
    await visit(page, `/a/${attempt.id}`);
    await page.getByRole('heading', { level: 1, name: task.title }).waitFor();
    await page.evaluate(() => document.activeElement?.blur());
  };
  const holdsFocus = (selector) => page.waitForFunction((selector) => document.activeElement?.closest(selector), selector);
  const answers = (wanted) => async (press) => {
    await at(asks);
    const open = async () => (await world.get(`/approvals?task_attempt_id=${asks.attempt.id}`)).filter(({ state }) => !['approved', 'denied'].includes(state));
    const [asked] = await until('the next request', async () => (await open())[0] && open());
    await until('the request to be answered', async () => {
      await press();
      return (await open()).every(({ approval_id }) => approval_id !== asked.approval_id);
    });
    const answered = (await world.get(`/approvals?task_attempt_id=${asks.attempt.id}`)).find(({ approval_id }) => approval_id === asked.approval_id);
    assert.equal(`${answered.state}${answered.for_session ? ' in this attempt' : ''}`, wanted);
  };
  const tabbed = (name) => async (press) => {
    await at(ready);
    await press();
    await until(`the tab ${name}`, async () => (await page.getByRole('tab', { name, selected: true }).count()) === 1);
  };
  const marks = (text) => async (press) => {
    await at(long);
    await newest.waitFor();
    await press();
    await until(`the mark at ${text}`, async () => (await log.locator('[data-marked]').filter({ hasText: text }).count()) === 1);
  };
  const newest = log.getByText('59 has many words').last();
  const bottom = () => log.evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop);
  await pressAll(page, await listed(page, 'Attempt'), {
    Reply: async (press) => {
      await at(ready);
      await press();
      await holdsFocus('[aria-label=Reply]');
    },
    'Interrupt the turn': async (press) => {
      await at(waits);
      await page.getByRole('button', { name: /^Interrupt/ }).waitFor();
      await press();
      await world.settled(waits.attempt.id, 'stopped');
    },
    'Stop the agent': async (press) => {
      await at(busy);
      await page.getByRole('button', { name: /^Stop/ }).waitFor();
      await press();
      await world.settled(busy.attempt.id, 'stopped');
    },
    Allow: answers('approved'),
    Deny: answers('denied'),
    'Allow and remember': answers('approved in this attempt'),
    'Fold all tool calls': async (press) => {
      await at(long);
      await newest.waitFor();
      await page.keyboard.press('Home');
      const edit = log.getByText('export const limit = 60;', { exact: true });
      await edit.waitFor();
      await press();
      await edit.waitFor({ state: 'detached' });
      await press();
      await edit.waitFor();
    },
    'Next error or question': marks('exit 4'),
    'Previous error or question': marks('exit 5'),
    'Find in this attempt': async (press) => {
      await at(long);
      await press();
      await holdsFocus('[aria-label="Find in this attempt"]');
      await page.keyboard.press('Escape');
    },
    'Go to the beginning': async (press) => {
      await at(long);
      await until('the newest', async () => (await bottom()) < 5);
      await press();
      await until('the beginning', async () => (await log.evaluate((box) => box.scrollTop)) === 0);
    },
    'Follow the newest': async (press) => {
      await at(long);
      await press();
      await until('the newest', async () => (await bottom()) < 5);
    },
    Conversation: async (press) => {
      await at(ready);
      await press();
      await holdsFocus('[role=log]');
    },
    Neighbours: async (press) => {
      await at(ready);
      await press();
      await holdsFocus('#neighbours');
    },
    Changes: tabbed(/^Changes/),
    Runs: tabbed(/^Runs/),
    Preview: tabbed(/^Preview/),
    'Fold the right pane': async (press) => {
      await at(ready);
      const tabs = page.getByRole('tab', { name: /^Runs/ });
      await tabs.waitFor();
      await press();
      await tabs.waitFor({ state: 'hidden' });
      await press();
      await tabs.waitFor();
    },
    'Land: the next step': async (press) => {
      await at(merges);
      await page.getByRole('region', { name: 'Landing' }).getByRole('button', { name: 'Merge into main' }).waitFor();
      await press();
      await page.getByRole('alertdialog').getByText('Merge 1 commit into main?').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    },
  });
});
