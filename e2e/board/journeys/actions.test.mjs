// The twelve most frequent things that people do, by mouse and by keys: none may take more clicks or presses than its
// goal, so that no dialog creeps in between a person and what they came for. Writing text is not counted.

import assert from 'node:assert/strict';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

/** At most so many clicks, and presses of keys; a chord such as Ctrl+K is one press, `g i` is two. */
const GOALS = {
  'see what needs me': { clicks: 1, keys: 2 },
  'create and start a task': { clicks: 2, keys: 2 },
  'open the live conversation': { clicks: 1, keys: 1 },
  'answer an approval': { clicks: 1, keys: 1 },
  'send a follow-up': { clicks: 2, keys: 3 },
  'read the diff': { clicks: 1, keys: 2 },
  'comment on a line and send it back': { clicks: 3, keys: 3 },
  'land it though the base moved': { clicks: 3, keys: 3 },
  'let the agent resolve a conflict': { clicks: 2, keys: 3 },
  'stop a running agent': { clicks: 2, keys: 1 },
  'try again with another agent': { clicks: 3, keys: 4 },
  'change the project': { clicks: 1, keys: 2 },
  'jump to the attempt that needs me': { clicks: 1, keys: 2 },
};

/** A hand on the mouse and the keyboard. It counts, and the page's own count of what arrived must agree. */
class Hand {
  constructor(page) { Object.assign(this, { page, clicks: 0, keys: 0 }); }
  async click(locator) { this.clicks += 1; await locator.click(); }
  async press(chord) { this.keys += 1; await this.page.keyboard.press(chord); }
  /** Text is put in where the focus is: a hand that has to go there first has to say so. */
  async write(text) {
    await this.page.waitForFunction(() => document.activeElement?.matches('input, textarea'));
    await this.page.keyboard.insertText(text);
  }
}

/** Counts what the page hears: clicks that people make, and keys but those that only hold another. */
const count = () => {
  window.heard = { clicks: 0, keys: 0 };
  addEventListener('pointerdown', (event) => event.isTrusted && window.heard.clicks++, true);
  addEventListener('keydown', (event) => event.isTrusted && !['Control', 'Shift', 'Alt', 'Meta'].includes(event.key) && window.heard.keys++, true);
};

/** A project with a task for each of the twelve, and another project. */
async function furnish(world) {
  const shop = await world.project('shop');
  const web = await world.project('web', { 'index.html': '<p>hello</p>\n' });
  const { config } = await world.get('/info');
  await world.put('/config', { ...config, executor_profile: { executor: 'SCRIPTED' } });
  const { executors } = JSON.parse((await world.get('/profiles')).content);
  executors.SCRIPTED.LOUD = { SCRIPTED: { append_prompt: '\nsay LOUD' } };
  await world.put('/profiles', { executors });
  const start = async (title, script, ...states) => {
    const { task, attempt } = await world.start(shop, title, script);
    await world.settled(attempt.id, ...states);
    return { title, task, attempt };
  };
  const made = {
    shop,
    web,
    live: await start('Live one', 'say hello from the agent\nsleep 600000', 'running'),
    asks: await start('Asking one', 'permit Bash {"command":"ls"}', 'waiting'),
    talk: await start('Talking one', 'say done', 'finished'),
    read: await start('Reading one', 'edit read.txt to be read', 'finished'),
    remark: await start('Remarked one', 'edit remark.txt to be remarked', 'finished'),
    land: await start('Landing one', 'edit land.txt landed', 'finished'),
    clash: await start('Clashing one', 'edit README.md # Shop of the agent', 'finished'),
    stop: await start('Endless one', 'sleep 600000', 'running'),
    again: await start('Second one', 'say hello', 'finished'),
  };
  shop.write('README.md', '# Shop of somebody\n');
  shop.git('commit', '-qam', 'moved on');
  await world.post(`/task-attempts/${made.clash.attempt.id}/rebase`).catch(() => {});
  await until('the conflict', async () => (await world.get(`/task-attempts/${made.clash.attempt.id}/branch-status`)).conflict_op === 'rebase');
  return made;
}

/** What the board is to come to, whichever hand it was. */
const results = (world, made) => ({
  async created(title) {
    const task = await until(`${title} to be there`, async () => (await world.get(`/projects/${made.shop.id}/tasks`)).find((it) => it.title === title));
    const [attempt] = await until('its attempt', async () => {
      const all = await world.get(`/task-attempts?task_id=${task.id}`);
      return all.length > 0 && all;
    });
    await world.settled(attempt.id, 'finished');
  },
  allowed: () => until('the permission', async () => (await world.get(`/approvals?task_attempt_id=${made.asks.attempt.id}`))[0].state === 'approved'),
  told: ({ attempt }, text) => until(`the agent to be told ${text}`, async () => {
    const { entries } = await world.get(`/task-attempts/${attempt.id}/entries?limit=100`);
    return entries.some(({ entry }) => entry.entry_type.type === 'user_message' && entry.content.includes(text));
  }),
  async landed() {
    await until('the merge', async () => (await world.attempt(made.land.attempt.id)).is_merged);
    assert.equal(made.shop.git('show', 'main:land.txt'), 'landed\n');
  },
  stopped: () => world.settled(made.stop.attempt.id, 'stopped'),
  async loud() {
    const second = await until('a second attempt', async () => {
      const all = await world.get(`/task-attempts?task_id=${made.again.task.id}`);
      return all.length === 2 && all.find(({ id }) => id !== made.again.attempt.id);
    });
    assert.equal(second.executor_profile_id.variant, 'LOUD');
  },
});

/** Does each of them from the project's board, and gives what it took. */
async function walk(world, ways) {
  const made = await furnish(world);
  const tab = await world.open('about:blank');
  const { page } = tab;
  await tab.context.addInitScript(count);
  const took = {};
  const result = results(world, made);
  const card = (title) => page.getByRole('listitem').filter({ has: page.getByRole('link', { name: title, exact: true }) });
  const link = (title) => page.getByRole('link', { name: title, exact: true });
  for (const [name, act] of Object.entries(ways({ world, made, page, card, link, result }))) {
    await page.goto(`/p/${made.shop.id}`);
    await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
    await link('Live one').waitFor();
    const hand = new Hand(page);
    await act(hand);
    took[name] = { clicks: hand.clicks, keys: hand.keys };
    assert.deepEqual(await page.evaluate(() => window.heard), took[name], `what the page heard of "${name}"`);
  }
  assert.deepEqual(Object.keys(took), Object.keys(GOALS));
  return took;
}

/** A request that has only just come up takes no answer: it has to stand for a moment. */
async function stands(page) {
  const begun = await page.evaluate(() => performance.now());
  await page.waitForFunction((begun) => performance.now() - begun > 1000, begun);
}

journey('the twelve most frequent actions by mouse take no more clicks than their goals', async (world) => {
  const took = await walk(world, ({ made, page, card, link, result }) => ({
    async 'see what needs me'(hand) {
      await page.getByRole('link', { name: /^Inbox, \d+ need you$/ }).waitFor();
      await hand.click(page.getByRole('link', { name: /^Inbox/ }));
      await page.getByRole('list', { name: 'Inbox' }).getByRole('listitem', { name: /^approval, Asking one/ }).waitFor();
    },
    async 'create and start a task'(hand) {
      await hand.click(page.getByRole('button', { name: 'New task' }).first());
      await hand.write('say made by mouse');
      await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Start' }));
      await result.created('say made by mouse');
    },
    async 'open the live conversation'(hand) {
      await hand.click(link('Live one'));
      await page.getByRole('log', { name: 'Conversation' }).getByText('hello from the agent').last().waitFor();
    },
    async 'answer an approval'(hand) {
      await card('Asking one').getByRole('button', { name: 'Allow: Asking one' }).waitFor();
      await stands(page);
      await hand.click(card('Asking one').getByRole('button', { name: 'Allow: Asking one' }));
      await result.allowed();
    },
    async 'send a follow-up'(hand) {
      await hand.click(card('Talking one').getByRole('button', { name: 'Reply: Talking one' }));
      await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Reply');
      await hand.write('say once more');
      await hand.click(page.getByRole('button', { name: 'Send', exact: true }));
      await result.told(made.talk, 'say once more');
    },
    async 'read the diff'(hand) {
      await hand.click(link('Reading one'));
      await page.getByRole('table', { name: 'read.txt, changes' }).getByText('to be read').waitFor();
    },
    async 'comment on a line and send it back'(hand) {
      await hand.click(link('Remarked one'));
      await hand.click(page.getByRole('region', { name: 'remark.txt' }).getByRole('button', { name: 'Comment on line 1', exact: true }));
      await hand.write('say better words');
      await hand.click(page.getByRole('region', { name: 'Comments' }).getByRole('button', { name: 'Send to agent' }));
      await result.told(made.remark, 'say better words');
    },
    async 'land it though the base moved'(hand) {
      await hand.click(link('Landing one'));
      await hand.click(page.getByRole('region', { name: 'Landing' }).getByRole('button', { name: 'Rebase then merge' }));
      await hand.click(page.getByRole('alertdialog').getByRole('button', { name: 'Rebase then merge' }));
      await result.landed();
    },
    async 'let the agent resolve a conflict'(hand) {
      await hand.click(card('Clashing one').getByRole('link', { name: 'Resolve: Clashing one' }));
      await hand.click(page.getByRole('region', { name: 'Landing' }).getByRole('button', { name: 'Let the agent resolve it' }));
      await result.told(made.clash, '- README.md');
    },
    async 'stop a running agent'(hand) {
      await hand.click(page.getByRole('button', { name: 'Actions for Endless one' }));
      await hand.click(page.getByRole('menuitem', { name: 'Stop', exact: true }));
      await result.stopped();
    },
    async 'try again with another agent'(hand) {
      await hand.click(page.getByRole('button', { name: 'Actions for Second one' }));
      await hand.click(page.getByRole('menuitem', { name: 'Another attempt…' }));
      await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Scripted / loud' }));
      await result.loud();
    },
    async 'change the project'(hand) {
      await hand.click(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^web/ }));
      await page.getByRole('region', { name: 'Board of web' }).waitFor();
    },
    async 'jump to the attempt that needs me'(hand) {
      await hand.click(link('Live one'));
      await page.waitForURL(`**/a/${made.live.attempt.id}`);
    },
  }));
  for (const [name, { clicks, keys }] of Object.entries(took)) {
    assert.equal(keys, 0);
    assert.ok(clicks <= GOALS[name].clicks, `${name}: ${clicks} clicks, the goal is ${GOALS[name].clicks}`);
  }
});

journey('the twelve most frequent actions by keys take no more presses than their goals', async (world) => {
  const took = await walk(world, ({ world, made, page, card, link, result }) => {
    /** The board has the focus on a card; which one is where the person left it. */
    const on = (title) => link(title).focus();
    const log = () => page.getByRole('log', { name: 'Conversation' });
    return {
      async 'see what needs me'(hand) {
        await hand.press('g');
        await hand.press('i');
        await page.getByRole('list', { name: 'Inbox' }).getByRole('listitem', { name: /^approval, Asking one/ }).waitFor();
      },
      async 'create and start a task'(hand) {
        await hand.press('c');
        await page.getByRole('dialog', { name: 'New task' }).waitFor();
        await hand.write('say made by keys');
        await hand.press('Control+Enter');
        await result.created('say made by keys');
      },
      async 'open the live conversation'(hand) {
        await on('Live one');
        await hand.press('Enter');
        await log().getByText('hello from the agent').last().waitFor();
      },
      async 'answer an approval'(hand) {
        await on('Asking one');
        await stands(page);
        await hand.press('a');
        await result.allowed();
      },
      async 'send a follow-up'(hand) {
        await on('Talking one');
        await hand.press('Enter');
        await page.getByRole('textbox', { name: 'Reply' }).waitFor();
        await hand.press('r');
        await hand.write('say once more');
        await hand.press('Enter');
        await result.told(made.talk, 'say once more');
      },
      async 'read the diff'(hand) {
        await on('Reading one');
        await hand.press('Enter');
        await page.getByRole('table', { name: 'read.txt, changes' }).waitFor();
        await hand.press('3');
        await page.waitForFunction(() => document.activeElement?.id === 'right-pane');
        await page.getByRole('table', { name: 'read.txt, changes' }).getByText('to be read').waitFor();
      },
      async 'comment on a line and send it back'(hand) {
        await page.goto(`/a/${made.remark.attempt.id}`);
        await page.getByRole('region', { name: 'remark.txt' }).getByRole('button', { name: 'Comment on line 1', exact: true }).focus();
        await hand.press('c');
        await hand.write('say better words');
        await hand.press('Control+Enter');
        await page.getByRole('article', { name: 'Comment on line 1' }).waitFor();
        await hand.press('Control+Enter');
        await result.told(made.remark, 'say better words');
      },
      async 'land it though the base moved'(hand) {
        await on('Landing one');
        await hand.press('Enter');
        await page.getByRole('region', { name: 'Landing' }).getByRole('button', { name: 'Rebase then merge' }).waitFor();
        await hand.press('Shift+M');
        await page.getByRole('alertdialog').waitFor();
        await hand.press('Enter');
        await result.landed();
      },
      async 'let the agent resolve a conflict'(hand) {
        await on('Clashing one');
        await hand.press('Enter');
        await page.getByRole('region', { name: 'Landing' }).getByRole('button', { name: 'Let the agent resolve 1 conflict' }).waitFor();
        await hand.press('Shift+M');
        await page.getByRole('alertdialog').waitFor();
        await hand.press('Enter');
        await result.told(made.clash, '- README.md');
      },
      async 'stop a running agent'(hand) {
        await on('Endless one');
        await hand.press('Shift+I');
        await result.stopped();
      },
      async 'try again with another agent'(hand) {
        await on('Second one');
        await hand.press('Control+k');
        await page.getByRole('dialog', { name: 'Commands' }).waitFor();
        await hand.write('another attempt');
        await page.getByRole('option', { name: 'Another attempt', selected: true }).waitFor();
        await hand.press('Enter');
        await page.getByRole('dialog', { name: 'Another attempt' }).getByRole('button', { name: 'Scripted / loud' }).waitFor();
        await hand.press('ArrowDown');
        await hand.press('Enter');
        await result.loud();
      },
      async 'change the project'(hand) {
        await hand.press('Control+k');
        await page.getByRole('dialog', { name: 'Commands' }).waitFor();
        await hand.write('web');
        await page.getByRole('option', { name: /^web/, selected: true }).waitFor();
        await hand.press('Enter');
        await page.getByRole('region', { name: 'Board of web' }).waitFor();
      },
      async 'jump to the attempt that needs me'(hand) {
        const first = (await world.start(made.shop, 'Urgent one', 'permit Bash {"command":"ls"}')).attempt;
        await card('Urgent one').getByRole('button', { name: 'Allow: Urgent one' }).waitFor();
        await hand.press('g');
        await hand.press('n');
        await page.waitForURL(`**/a/${first.id}`);
      },
    };
  });
  for (const [name, { clicks, keys }] of Object.entries(took)) {
    assert.equal(clicks, 0);
    assert.ok(keys <= GOALS[name].keys, `${name}: ${keys} keys, the goal is ${GOALS[name].keys}`);
  }
});
