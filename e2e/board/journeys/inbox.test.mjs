// What needs the person: ranked, answered and put away.

import assert from 'node:assert/strict';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

const ALLOW = 'permit Bash {"command": "touch allowed.txt", "sandbox": false}\nsay done with it';

/** One attempt of each kind that needs somebody, made in another order than they are ranked. */
async function crowd(world) {
  const project = await world.project('shop-api');
  const finished = await world.start(project, 'Rate limiter', 'edit limit.js export {};\nsay ready');
  await world.settled(finished.attempt.id, 'finished');
  const failed = await world.start(project, 'Upgrade to TS 7', 'say hm\nexit 3');
  await world.settled(failed.attempt.id, 'failed');
  const conflict = await world.start(project, 'Rewrite README', 'edit README.md # Shop of the agent');
  await world.settled(conflict.attempt.id, 'finished');
  project.write('README.md', '# Shop of somebody\n');
  project.git('commit', '-qam', 'moved on');
  await world.post(`/task-attempts/${conflict.attempt.id}/rebase`).catch(() => {});
  await until('the conflict', async () => (await world.attempt(conflict.attempt.id)).is_conflicted);
  const approval = await world.start(project, 'Drop old migrations', ALLOW);
  await world.settled(approval.attempt.id, 'waiting');
  const question = await world.start(project, 'Session store', 'ask Which store?\nsay thanks');
  await world.settled(question.attempt.id, 'waiting');
  return { project, finished, failed, conflict, approval, question };
}

const rows = (tab) => tab.page.getByRole('list', { name: 'Inbox' }).getByRole('listitem');
const names = (tab) => rows(tab).evaluateAll((all) => all.map((row) => row.getAttribute('aria-label').split(', ').slice(0, 2).join(': ')));
const rowsAre = (tab, wanted) => until(`rows ${wanted.join(', ')}`, async () => JSON.stringify(await names(tab)) === JSON.stringify(wanted));

journey('the inbox is ranked, and its requests are answered by keys alone', async (world) => {
  const { approval, question } = await crowd(world);
  const tab = await world.open('/');
  await tab.page.keyboard.press('g');
  await tab.page.keyboard.press('i');
  await tab.page.waitForURL(/\/inbox$/);
  await rowsAre(tab, ['approval: Drop old migrations', 'question: Session store', 'failed: Upgrade to TS 7', 'conflict: Rewrite README', 'finished: Rate limiter']);
  const preview = tab.page.getByRole('region', { name: 'Preview' });
  const request = preview.getByRole('group', { name: 'Approval: Run' });
  await request.getByText('touch allowed.txt').waitFor();
  // What it is given besides is part of what is allowed.
  await request.getByText('"sandbox": false').waitFor();
  await tab.accessible();
  await tab.named();

  // A request that has only just come up takes no answer: press until it does.
  await until('the approval to be answered', async () => {
    await tab.page.keyboard.press('a');
    const [ask] = await world.get(`/approvals?task_attempt_id=${approval.attempt.id}`);
    return ask.state === 'approved';
  });
  await rowsAre(tab, ['question: Session store', 'failed: Upgrade to TS 7', 'conflict: Rewrite README', 'finished: Rate limiter', 'finished: Drop old migrations']);

  await preview.getByRole('textbox', { name: 'Answer' }).fill('SQLite');
  await until('the question to be answered', async () => {
    const answer = preview.getByRole('button', { name: 'Answer', exact: true });
    if (await answer.isVisible()) await answer.click();
    return (await world.attempt(question.attempt.id)).state === 'finished';
  });
  const [ask] = await world.get(`/approvals?task_attempt_id=${question.attempt.id}`);
  assert.equal(ask.answer, 'SQLite');

  await tab.page.keyboard.press('Escape');
  await tab.page.evaluate(() => document.activeElement?.blur());
  await tab.page.keyboard.press('j');
  await tab.page.keyboard.press('k');
  await tab.page.keyboard.press('Enter');
  await tab.page.waitForURL(/\/a\//);
});

journey('what is dismissed leaves the inbox in every tab, and undo brings it back', async (world) => {
  const { failed, conflict, approval, question } = await crowd(world);
  const [tab, other] = [await world.open('/inbox'), await world.open('/inbox')];
  const all = ['approval: Drop old migrations', 'question: Session store', 'failed: Upgrade to TS 7', 'conflict: Rewrite README', 'finished: Rate limiter'];
  const rest = all.filter((name) => !name.startsWith('failed'));
  await rowsAre(tab, all);
  await tab.page.keyboard.press('j');
  await tab.page.keyboard.press('j');
  await tab.page.getByRole('region', { name: 'Preview' }).getByRole('heading', { name: 'Upgrade to TS 7' }).waitFor();
  await tab.page.keyboard.press('e');
  await rowsAre(tab, rest);
  await rowsAre(other, rest);
  await until('the server to know', async () => (await world.attempt(failed.attempt.id)).dismissed_at !== null);

  await tab.page.keyboard.press('z');
  await rowsAre(tab, all);
  await rowsAre(other, all);
  await until('the server to know', async () => (await world.attempt(failed.attempt.id)).dismissed_at === null);

  // Later is a time, and the row is gone until then.
  await tab.page.getByRole('listitem', { name: /^failed/ }).getByRole('link').click();
  await tab.page.keyboard.press('Shift+Z');
  await tab.page.getByRole('menu', { name: 'Later' }).getByRole('menuitem', { name: 'Tomorrow' }).click();
  await rowsAre(tab, rest);
  await until('the server to know the time', async () => Date.parse((await world.attempt(failed.attempt.id)).later_until) > Date.now());

  // A conflict says with what, and leads to where it is resolved.
  await tab.page.getByRole('listitem', { name: /^conflict/ }).getByRole('link').click();
  const preview = tab.page.getByRole('region', { name: 'Preview' });
  await preview.getByText('Conflicts with main.').waitFor();
  assert.equal(await preview.getByRole('link', { name: 'Resolve' }).getAttribute('href'), `/a/${conflict.attempt.id}`);

  // One key denies, one goes to where an answer is written.
  await tab.page.getByRole('listitem', { name: /^approval/ }).getByRole('link').click();
  await until('the approval to be denied', async () => {
    await tab.page.keyboard.press('d');
    const [ask] = await world.get(`/approvals?task_attempt_id=${approval.attempt.id}`);
    return ask.state === 'denied';
  });
  await rowsAre(tab, [...rest.filter((name) => !name.startsWith('approval')), 'finished: Drop old migrations']);
  await tab.page.getByRole('listitem', { name: /^question/ }).getByRole('link').click();
  await preview.getByRole('heading', { name: 'Session store' }).waitFor();
  await tab.page.keyboard.press('r');
  await tab.page.waitForURL(`**/a/${question.attempt.id}`);
  await until('the caret in the question', () => tab.page.evaluate(() => document.activeElement?.closest('[data-ask]') !== null));
  assert.equal((await world.attempt(question.attempt.id)).open_asks, 1);
});

journey('a reason that was begun at the attempt goes with Deny in the inbox, by its key and by its button', async (world) => {
  const project = await world.project('shop-api');
  const permit = (name) => `permit Bash {"command": "rm -rf ./${name}"}`;
  const { attempt } = await world.start(project, 'Clean up', `${permit('old')}\n${permit('cache')}\nsay went on`);
  await world.settled(attempt.id, 'waiting');
  const tab = await world.open('/inbox');
  const preview = tab.page.getByRole('region', { name: 'Preview' });
  const stateOf = async (name) => (await world.get(`/approvals?task_attempt_id=${attempt.id}`)).find(({ input }) => input.command.endsWith(name))?.state;
  const denied = async (name, reason, press) => {
    await preview.getByText(`rm -rf ./${name}`).first().waitFor();
    await preview.getByRole('link', { name: 'Open', exact: true }).click();
    const card = tab.page.getByRole('log', { name: 'Conversation' }).getByRole('group', { name: 'Approval: Run' });
    await card.getByText(`rm -rf ./${name}`).waitFor();
    await card.getByRole('textbox', { name: 'Tell the agent why (optional)' }).fill(reason);
    await tab.page.goBack();
    await preview.getByText(`Deny tells why: ${reason}`).waitFor();
    // It takes no answer in its first moments. When one was sent, the next key would be for the next request.
    let isSent = false;
    const listen = (request) => { isSent ||= request.url().endsWith('/respond'); };
    tab.page.on('request', listen);
    await until(`${name} to be denied`, async () => {
      if (!isSent) await press().catch(() => {});
      return (await stateOf(name)) === 'denied';
    });
    tab.page.off('request', listen);
  };
  await denied('old', 'use a backup first', () => tab.page.keyboard.press('d'));
  await denied('cache', 'it is warm', () => preview.getByRole('button', { name: 'Deny' }).click({ timeout: 1000 }));
  await world.settled(attempt.id, 'finished');
  const asks = await world.get(`/approvals?task_attempt_id=${attempt.id}`);
  assert.deepEqual(asks.map(({ state, answer }) => [state, answer]).sort(), [['denied', 'it is warm'], ['denied', 'use a backup first']]);
});

journey('what is put off until tomorrow is there before that when something new happens to it', async (world) => {
  const project = await world.project('shop-api');
  const { attempt } = await world.start(project, 'Breaks', 'exit 3');
  await world.settled(attempt.id, 'failed');
  const tab = await world.open('/inbox');
  await rowsAre(tab, ['failed: Breaks']);
  await tab.page.getByRole('listitem', { name: /^failed/ }).getByRole('link').click();
  await tab.page.keyboard.press('Shift+Z');
  await tab.page.getByRole('menu', { name: 'Later' }).getByRole('menuitem', { name: 'Tomorrow' }).click();
  await rowsAre(tab, []);
  await until('the server to know the time', async () => (await world.attempt(attempt.id)).later_until !== null);
  await world.post(`/task-attempts/${attempt.id}/follow-up`, { prompt: 'permit Bash {"command":"ls"}' });
  await rowsAre(tab, ['approval: Breaks']);
  await world.settled(attempt.id, 'waiting');
});

journey('an empty inbox says so, and how many agents work; one that falls silent stands in it', async (world) => {
  const project = await world.project('shop-api');
  const tab = await world.open('/inbox');
  await tab.page.getByText('Nothing needs you.').waitFor();
  const { attempt } = await world.start(project, 'Long one', 'say go\nlines 100000 100');
  await world.settled(attempt.id, 'running');
  await tab.page.getByText('Nothing needs you. 1 agent is working.').waitFor();
  const { config } = await world.get('/info');
  await world.put('/config', { ...config, agents: { ...config.agents, stalled_after_seconds: 2 } });
  const silent = await world.start(project, 'Silent one', 'say hm\nsleep 600000');
  const { stalled } = await until('the agent to be silent', async () => {
    const attempt = await world.attempt(silent.attempt.id);
    return attempt.stalled && attempt;
  });
  assert.equal((await world.attempt(attempt.id)).stalled, null);
  await tab.page.reload();
  await rowsAre(tab, ['stall: Silent one']);
  await tab.page.getByRole('region', { name: 'Preview' }).getByText(stalled.replace(/\d.*/, ''), { exact: false }).waitFor();
  await world.post(`/task-attempts/${attempt.id}/stop`);
});

journey('what failed, ran into a limit or fell silent is sent on from the inbox', async (world) => {
  const project = await world.project('shop-api');
  const { config } = await world.get('/info');
  await world.put('/config', { ...config, agents: { ...config.agents, stalled_after_seconds: 1 } });
  const [failed, limited, silent] = await Promise.all([
    world.start(project, 'Failed', 'say hm\nexit 3'),
    world.start(project, 'Limited', 'say hm\nlimit 3600000'),
    world.start(project, 'Silent', 'say hm\nsleep 600000'),
  ]);
  await world.settled(failed.attempt.id, 'failed');
  await world.settled(limited.attempt.id, 'limited');
  await until('the agent to be silent', async () => (await world.attempt(silent.attempt.id)).stalled);
  const tab = await world.open('/inbox');
  const preview = tab.page.getByRole('region', { name: 'Preview' });
  await rowsAre(tab, ['failed: Failed', 'stall: Silent', 'limit: Limited']);
  await preview.getByRole('button', { name: 'Retry' }).click();
  await world.settled(failed.attempt.id, 'finished');
  await rowsAre(tab, ['stall: Silent', 'limit: Limited', 'finished: Failed']);
  await tab.page.getByRole('listitem', { name: /^limit/ }).getByRole('link').click();
  await preview.getByText(/^Usage limit until/).waitFor();
  await tab.accessible();
  await preview.getByRole('button', { name: 'Resume now' }).click();
  await world.settled(limited.attempt.id, 'finished');
  await tab.page.getByRole('listitem', { name: /^stall/ }).getByRole('link').click();
  const nudged = tab.page.waitForResponse((answer) => answer.url().endsWith(`${silent.attempt.id}/follow-up`));
  await preview.getByRole('button', { name: 'Nudge' }).click();
  assert.equal((await (await nudged).json()).data.delivered, 'injected');
  await rowsAre(tab, ['stall: Silent', 'finished: Failed', 'finished: Limited']);
});

journey('on a phone a request is answered in its row', async (world) => {
  const project = await world.project('shop-api');
  const { attempt } = await world.start(project, 'Drop old migrations', ALLOW);
  await world.settled(attempt.id, 'waiting');
  const tab = await world.open('/inbox', { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true });
  const allow = tab.page.getByRole('listitem', { name: /^approval/ }).getByRole('button', { name: 'Allow: Drop old migrations' });
  await allow.waitFor();
  assert.ok((await allow.boundingBox()).height >= 44, 'a finger needs 44 px');
  await tab.accessible();
  await until('the approval to be answered', async () => {
    if (await allow.isVisible()) await allow.tap().catch(() => {});
    const [ask] = await world.get(`/approvals?task_attempt_id=${attempt.id}`);
    return ask.state === 'approved';
  });
});
