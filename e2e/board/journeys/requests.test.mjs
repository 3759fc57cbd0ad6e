// What agents ask, answered where it stands.

import assert from 'node:assert/strict';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

const log = (tab) => tab.page.getByRole('log', { name: 'Conversation' });
const PERMIT = 'permit Bash {"command": "rm -rf ./migrations", "description": "reset the schema"}';

/** The ask of an attempt, as the server has it. */
const asked = async (world, attempt) => (await world.get(`/approvals?task_attempt_id=${attempt.id}`))[0];

/** A request takes no answer in its first moments: presses until it is answered. */
async function answer(world, attempt, press) {
  const { approval_id: id } = await until('the request', () => asked(world, attempt));
  const isOver = async () => (await world.get(`/approvals?task_attempt_id=${attempt.id}`)).find((ask) => ask.approval_id === id).state !== 'open';
  await until('the request to be answered', async () => {
    await press().catch(() => {});
    return isOver();
  });
}

journey('an approval is read in full and allowed with a click', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Drop old migrations', `say Begin\n${PERMIT}\nsay went on`);
  const tab = await world.open(`/a/${attempt.id}`);
  const card = log(tab).getByRole('group', { name: 'Approval: Run' });
  await card.getByText('rm -rf ./migrations').waitFor();
  await card.getByText('reset the schema').waitFor();
  await tab.accessible();
  await tab.named();
  await answer(world, attempt, () => card.getByRole('button', { name: 'Allow', exact: true }).click({ timeout: 1000 }));
  await log(tab).getByText('went on', { exact: true }).waitFor();
  const ask = await asked(world, attempt);
  assert.equal(ask.state, 'approved');
  assert.equal(ask.for_session, false);
  await world.settled(attempt.id, 'finished');
});

journey('an approval is denied with a reason, which the agent hears', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Drop old migrations', `${PERMIT}\nsay went on`);
  const tab = await world.open(`/a/${attempt.id}`);
  const card = log(tab).getByRole('group', { name: 'Approval: Run' });
  await card.getByRole('textbox', { name: 'Tell the agent why (optional)' }).fill('use a backup first');
  await answer(world, attempt, () => card.getByRole('button', { name: 'Deny' }).click({ timeout: 1000 }));
  await log(tab).getByText('denied: use a backup first').waitFor();
  const ask = await asked(world, attempt);
  assert.deepEqual([ask.state, ask.answer], ['denied', 'use a backup first']);
});

journey('keys answer the oldest request, and only one that can be seen', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Two questions', `${PERMIT}\n${PERMIT.replace('migrations', 'cache')}\nsay went on`);
  const tab = await world.open(`/a/${attempt.id}`);
  await log(tab).getByText('rm -rf ./migrations').last().waitFor();
  await answer(world, attempt, () => tab.page.keyboard.press('a'));
  await log(tab).getByRole('group', { name: 'Approval: Run' }).getByText('rm -rf ./cache').waitFor();
  await until('the second to be denied', async () => {
    await tab.page.keyboard.press('d');
    return (await world.get(`/approvals?task_attempt_id=${attempt.id}`)).every((ask) => ask.state !== 'open');
  });
  const states = (await world.get(`/approvals?task_attempt_id=${attempt.id}`)).map((ask) => `${ask.input.command} ${ask.state}`);
  assert.deepEqual(states.sort(), ['rm -rf ./cache denied', 'rm -rf ./migrations approved']);
});

journey('allowing in the project keeps a rule, and the like of it is not asked again', async (world) => {
  const project = await world.project();
  const npm = 'permit Bash {"command": "npm test"}';
  const { attempt } = await world.start(project, 'Test', `${npm}\nsay tested\n${npm}\nsay tested again`);
  const tab = await world.open(`/a/${attempt.id}`);
  const card = log(tab).getByRole('group', { name: 'Approval: Run' });
  await card.waitFor();
  await until('the rule to be kept and the request answered', async () => {
    if ((await asked(world, attempt)).state !== 'open') return true;
    if ((await world.get(`/projects/${project.id}/rules`)).length === 0) {
      await card.getByRole('button', { name: 'Allow more' }).click({ timeout: 2000 }).catch(() => {});
      await tab.page.getByRole('menuitem', { name: /commands starting “npm test”/ }).click({ timeout: 2000 }).catch(() => {});
    } else await card.getByRole('button', { name: 'Allow', exact: true }).click({ timeout: 1000 }).catch(() => {});
    return false;
  });
  await log(tab).getByText('tested again', { exact: true }).waitFor();
  const rules = await world.get(`/projects/${project.id}/rules`);
  assert.deepEqual(rules.map(({ effect, about, pattern }) => [effect, about, pattern]), [['allow', 'command', 'npm test']]);
});

journey('a question is answered in words', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Paint it', 'ask Which colour should it be?\nsay went on');
  const tab = await world.open(`/a/${attempt.id}`);
  const card = log(tab).getByRole('group', { name: 'Question' });
  await card.getByRole('textbox', { name: 'Answer: Which colour should it be?' }).fill('a calm blue');
  await tab.accessible();
  await answer(world, attempt, () => card.getByRole('button', { name: 'Answer', exact: true }).click({ timeout: 1000 }));
  await log(tab).getByText('a calm blue', { exact: true }).last().waitFor();
  await log(tab).getByText('went on', { exact: true }).waitFor();
  const ask = await asked(world, attempt);
  assert.deepEqual([ask.state, ask.answer], ['approved', 'a calm blue']);
});

journey('a plan is read and let go; another is sent back with a wish', async (world) => {
  const project = await world.project();
  const one = await world.start(project, 'First plan', 'plan **Three** steps\nsay went on');
  const two = await world.start(project, 'Second plan', 'plan Delete everything\nsay went on');
  const tab = await world.open(`/a/${one.attempt.id}`);
  const card = () => log(tab).getByRole('group', { name: 'Plan', exact: true });
  await card().getByText('Three', { exact: true }).waitFor();
  await answer(world, one.attempt, () => card().getByRole('button', { name: 'Go', exact: true }).click({ timeout: 1000 }));
  await log(tab).getByText('went on', { exact: true }).waitFor();
  // The next one that needs the person.
  await tab.page.getByRole('navigation', { name: 'Neighbours' }).getByRole('link', { name: 'Second plan' }).click();
  await card().getByRole('button', { name: 'Change it' }).click();
  await card().getByRole('textbox', { name: 'What should be different?' }).fill('keep the data');
  await answer(world, two.attempt, () => card().getByRole('button', { name: 'Send' }).click({ timeout: 1000 }));
  await log(tab).getByText('denied: keep the data').waitFor();
  assert.equal((await asked(world, one.attempt)).state, 'approved');
  assert.equal((await asked(world, two.attempt)).answer, 'keep the data');
});

journey('a request that was answered elsewhere, or is out of view, says so', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Far away', `${PERMIT}\nlines 60 0\nask Really?`);
  const tab = await world.open(`/a/${attempt.id}`);
  await log(tab).getByRole('group', { name: 'Approval: Run' }).waitFor();
  const first = await asked(world, attempt);
  await world.post(`/approvals/${first.approval_id}/respond`, { approved: true });
  await log(tab).getByRole('group', { name: 'Question' }).waitFor();
  assert.equal(await log(tab).getByRole('button', { name: 'Allow', exact: true }).count(), 0);
  await log(tab).hover();
  await tab.page.mouse.wheel(0, -3000);
  const bar = tab.page.getByRole('status').filter({ hasText: '1 question: Really?' });
  await bar.getByRole('button', { name: 'Show' }).click();
  await log(tab).getByRole('group', { name: 'Question' }).waitFor();
  await bar.waitFor({ state: 'detached' });
  // Whoever stops an attempt takes its questions along.
  await tab.page.getByRole('button', { name: 'Stop' }).click();
  await until('the ask to be cancelled', async () => (await asked(world, attempt)).state === 'cancelled');
  await world.settled(attempt.id, 'stopped');
});

/** Rests a finger on something for so long, as the browser itself hears it. */
async function hold(tab, locator, milliseconds) {
  const { x, y, width, height } = await locator.boundingBox();
  const session = await tab.context.newCDPSession(tab.page);
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x: x + width / 2, y: y + height / 2 }] });
  const begun = await tab.page.evaluate(() => performance.now());
  await tab.page.waitForFunction(([begun, long]) => performance.now() - begun > long, [begun, milliseconds]);
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await session.detach();
}

journey('a finger has to hold what could do harm, and only taps the rest', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Drop old migrations', `${PERMIT}\npermit Bash {"command": "ls"}\nsay went on`);
  await world.settled(attempt.id, 'waiting');
  const tab = await world.open(`/a/${attempt.id}`, { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true });
  const card = log(tab).getByRole('group', { name: 'Approval: Run' });
  const held = card.getByRole('button', { name: 'Hold to allow' });
  await held.waitFor();
  await tab.accessible();
  const begun = await tab.page.evaluate(() => performance.now());
  await tab.page.waitForFunction((begun) => performance.now() - begun > 1000, begun);
  await held.tap();
  await hold(tab, held, 200);
  assert.equal((await asked(world, attempt)).state, 'open');
  await hold(tab, held, 1000);
  await card.getByText('ls', { exact: true }).waitFor();
  const first = (await world.get(`/approvals?task_attempt_id=${attempt.id}`)).find((ask) => ask.input.command !== 'ls');
  assert.equal(first.state, 'approved');
  await until('the harmless one to be allowed', async () => {
    await card.getByRole('button', { name: 'Allow', exact: true }).tap({ timeout: 1000 }).catch(() => {});
    return (await world.get(`/approvals?task_attempt_id=${attempt.id}`)).every((ask) => ask.state === 'approved');
  });
  await log(tab).getByText('went on', { exact: true }).waitFor();
});

journey('a risky request on the card of a phone is held, and the menu of the card stays closed', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Push it', 'permit Bash {"command": "git push origin main"}');
  await world.settled(attempt.id, 'waiting');
  const tab = await world.open('/inbox', { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true });
  const held = tab.page.getByRole('button', { name: 'Hold to allow: Push it' });
  await held.waitFor();
  await answer(world, attempt, () => hold(tab, held, 900));
  assert.equal((await asked(world, attempt)).state, 'approved');
  assert.equal(await tab.page.getByRole('menu').count(), 0);
});
