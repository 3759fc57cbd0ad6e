// What agents ask, answered where it stands.

import assert from 'node:assert/strict';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

const log = (tab) => tab.page.getByRole('log', { name: 'Conversation' });
const PERMIT = 'permit Bash {"command": "rm -rf ./migrations", "description": "reset the schema"}';

/** The ask of an attempt, as the server has it. */
const asked = async (world, attempt) => (await world.get(`/approvals?task_attempt_id=${attempt.id}`))[0];

/** A request takes no answer in its first moments: presses until the page has sent one, and no more, for another may follow. */
async function answer(world, attempt, press) {
  const asks = () => world.get(`/approvals?task_attempt_id=${attempt.id}`);
  const { approval_id: id } = await until('the request', async () => (await asks()).find((ask) => ask.state === 'open'));
  const isOver = async () => (await asks()).find((ask) => ask.approval_id === id).state !== 'open';
  let isSent = false;
  world.tabs.at(-1).page.on('request', (request) => { isSent ||= request.url().endsWith(`/approvals/${id}/respond`); });
  await until('the request to be answered', async () => {
    if (!isSent) await press().catch(() => {});
    return isOver();
  });
}

journey('an approval is read in full and allowed with a click', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Drop old migrations', `say Begin\n${PERMIT}\nsay went on\npermit Bash {"command": "ls"}\nsay went far`);
  const tab = await world.open(`/a/${attempt.id}`);
  const card = log(tab).getByRole('group', { name: 'Approval: Run' });
  await card.getByText('rm -rf ./migrations').waitFor();
  await card.getByText('reset the schema').waitFor();
  await tab.accessible();
  await tab.named();
  const first = card.filter({ hasText: 'rm -rf ./migrations' });
  await answer(world, attempt, () => first.getByRole('button', { name: 'Allow', exact: true }).click({ timeout: 1000 }));
  await log(tab).getByText('went on', { exact: true }).waitFor();
  // The like of it may be allowed as long as the attempt lasts.
  await card.getByText('ls', { exact: true }).waitFor();
  const asks = () => world.get(`/approvals?task_attempt_id=${attempt.id}`);
  await until('the second to be allowed', async () => {
    await card.getByRole('button', { name: 'Allow more' }).click({ timeout: 1000 }).catch(() => {});
    await tab.page.getByRole('menuitem', { name: 'Allow similar commands for this attempt' }).click({ timeout: 1000 }).catch(() => {});
    return (await asks()).every((ask) => ask.state !== 'open');
  });
  await log(tab).getByText('went far', { exact: true }).waitFor();
  const answers = (await asks()).map((ask) => [ask.input.command, ask.state, ask.for_session]);
  assert.deepEqual(answers.sort(), [['ls', 'approved', true], ['rm -rf ./migrations', 'approved', false]]);
  await world.settled(attempt.id, 'finished');
});

journey('an approval is denied with a reason, which the agent hears', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Drop old migrations', `${PERMIT}\n${PERMIT.replace('migrations', 'cache')}\nsay went on`);
  const tab = await world.open(`/a/${attempt.id}`);
  const card = log(tab).getByRole('group', { name: 'Approval: Run' });
  const why = card.getByRole('textbox', { name: 'Tell the agent why (optional)' });
  await why.fill('use a backup first');
  await answer(world, attempt, () => card.getByRole('button', { name: 'Deny' }).click({ timeout: 1000 }));
  await log(tab).getByText('denied: use a backup first').waitFor();
  // The key says the same as the button.
  await card.getByText('rm -rf ./cache').waitFor();
  await why.fill('it is warm');
  await why.blur();
  await answer(world, attempt, () => tab.page.keyboard.press('d'));
  await log(tab).getByText('denied: it is warm').waitFor();
  const asks = await world.get(`/approvals?task_attempt_id=${attempt.id}`);
  assert.deepEqual(asks.map(({ state, answer }) => [state, answer]).sort(), [['denied', 'it is warm'], ['denied', 'use a backup first']]);
});

journey('keys answer the oldest request, and only one that can be seen', async (world) => {
  const project = await world.project();
  const more = ['cache', 'old'].map((name) => PERMIT.replace('migrations', name)).join('\n');
  const { attempt } = await world.start(project, 'Three questions', `${PERMIT}\n${more}\nsay went on`);
  const tab = await world.open(`/a/${attempt.id}`);
  await log(tab).getByText('rm -rf ./migrations').last().waitFor();
  await answer(world, attempt, () => tab.page.keyboard.press('a'));
  await log(tab).getByRole('group', { name: 'Approval: Run' }).getByText('rm -rf ./cache').waitFor();
  await answer(world, attempt, () => tab.page.keyboard.press('d'));
  await log(tab).getByRole('group', { name: 'Approval: Run' }).getByText('rm -rf ./old').waitFor();
  await answer(world, attempt, () => tab.page.keyboard.press('Shift+A'));
  const asks = await world.get(`/approvals?task_attempt_id=${attempt.id}`);
  const states = asks.map((ask) => `${ask.input.command} ${ask.state}${ask.for_session ? ' in this attempt' : ''}`);
  assert.deepEqual(states.sort(), ['rm -rf ./cache denied', 'rm -rf ./migrations approved', 'rm -rf ./old approved in this attempt']);
});

journey('several requests of a kind are allowed at once, after all of them were shown in full', async (world) => {
  const project = await world.project();
  const commands = ['npm test', 'npm run lint', 'rm -rf ./dist'];
  const inputs = commands.map((command) => ({ command, description: `${command} comes first` }));
  const { attempt } = await world.start(project, 'Three at once', `permit Bash ${JSON.stringify(inputs)}\nsay went on`);
  const tab = await world.open(`/a/${attempt.id}`);
  const { page } = tab;
  const states = async () => (await world.get(`/approvals?task_attempt_id=${attempt.id}`)).map(({ input, state }) => `${input.command} ${state}`).sort();
  const first = log(tab).getByRole('group', { name: 'Approval: Run' }).filter({ hasText: 'npm test' });
  await first.getByRole('button', { name: 'Allow all 3…' }).click();
  const dialog = page.getByRole('alertdialog', { name: 'Allow all 3?' });
  for (const command of commands) {
    await dialog.getByText(command, { exact: true }).waitFor();
    await dialog.getByText(`“${command} comes first”`).waitFor();
  }
  await tab.accessible();
  // Nothing is sent before the one press that says so, and the key that would be nearest turns back.
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(await states(), ['npm run lint open', 'npm test open', 'rm -rf ./dist open']);
  await first.getByRole('button', { name: 'Allow all 3…' }).click();
  await dialog.getByRole('button', { name: 'Allow all 3' }).click();
  await dialog.waitFor({ state: 'detached' });
  await log(tab).getByText('went on', { exact: true }).waitFor();
  assert.deepEqual(await states(), ['npm run lint approved', 'npm test approved', 'rm -rf ./dist approved']);
  await world.settled(attempt.id, 'finished');
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

journey('options are chosen by click and by number, several where several may be, and words of one\'s own come last', async (world) => {
  const project = await world.project();
  const questions = [
    { question: 'Which libraries?', header: 'Lib', multiSelect: true, options: [{ label: 'zod', description: 'small' }, { label: 'ajv' }, { label: 'yup' }] },
    { question: 'Which store?', header: 'Store', options: [{ label: 'SQLite' }, { label: 'Redis' }] },
  ];
  const { attempt } = await world.start(project, 'Choose', `ask ${JSON.stringify({ questions })}\nask ${JSON.stringify({ questions: [questions[0]] })}\nsay went on`);
  const tab = await world.open(`/a/${attempt.id}`);
  const card = log(tab).getByRole('group', { name: 'Question', exact: true });
  const send = card.getByRole('button', { name: 'Answer', exact: true });
  await card.getByRole('checkbox', { name: 'yup' }).check();
  await card.getByRole('checkbox', { name: 'zod' }).press('2');
  await tab.accessible();
  assert.equal(await send.getAttribute('aria-disabled'), 'true');
  await card.getByRole('radio', { name: 'SQLite' }).check();
  await card.getByRole('radio', { name: 'Redis' }).check();
  assert.equal(await card.getByRole('radio', { name: 'SQLite' }).isChecked(), false);
  const asks = () => world.get(`/approvals?task_attempt_id=${attempt.id}`);
  await until('the first to be answered', async () => {
    await send.click({ timeout: 1000 }).catch(() => {});
    return (await asks()).some((ask) => ask.state === 'approved');
  });
  // The inbox asks in the same way.
  await until('the second', async () => (await asks()).length === 2);
  await tab.page.goto('/inbox');
  const form = tab.page.getByRole('form', { name: 'Question' });
  await form.getByRole('checkbox', { name: 'zod' }).check();
  await form.getByRole('checkbox', { name: 'ajv' }).check();
  await form.getByRole('textbox', { name: 'Answer: Which libraries?' }).fill('not yup');
  await tab.accessible();
  await until('the second to be answered', async () => {
    await form.getByRole('button', { name: 'Answer', exact: true }).click({ timeout: 1000 }).catch(() => {});
    return (await asks()).every((ask) => ask.state === 'approved');
  });
  await world.settled(attempt.id, 'finished');
  const answers = (await asks()).map((ask) => ask.answer ?? ask.answers);
  assert.deepEqual(answers.sort((a, b) => typeof a > typeof b ? 1 : -1), [{ 'Which libraries?': 'ajv, yup', 'Which store?': 'Redis' }, 'zod, ajv, not yup']);
});

journey('a plan is read and let go; another is sent back with a wish, and one is changed by hand', async (world) => {
  const project = await world.project();
  const one = await world.start(project, 'First plan', 'plan **Three** steps\nsay went on');
  const two = await world.start(project, 'Second plan', 'plan Delete everything\nsay went on');
  const three = await world.start(project, 'Third plan', 'plan Delete the tests\nsay went on');
  const tab = await world.open(`/a/${one.attempt.id}`);
  const card = () => log(tab).getByRole('group', { name: 'Plan', exact: true });
  await card().getByText('Three', { exact: true }).waitFor();
  await answer(world, one.attempt, () => card().getByRole('button', { name: 'Approve plan', exact: true }).click({ timeout: 1000 }));
  await log(tab).getByText('went on', { exact: true }).waitFor();
  // The next one that needs the person.
  const neighbour = (name) => tab.page.getByRole('navigation', { name: 'Neighbours' }).getByRole('link', { name });
  await neighbour('Second plan').click();
  await card().getByRole('button', { name: 'Ask for changes' }).click();
  await card().getByRole('textbox', { name: 'What should be different?' }).fill('keep the data');
  await answer(world, two.attempt, () => card().getByRole('button', { name: 'Send' }).click({ timeout: 1000 }));
  await log(tab).getByText('denied: keep the data').waitFor();
  assert.equal((await asked(world, one.attempt)).state, 'approved');
  assert.equal((await asked(world, two.attempt)).answer, 'keep the data');
  // What the person makes of the plan is what the agent is told to do.
  await neighbour('Third plan').click();
  await card().getByRole('button', { name: 'Edit', exact: true }).click();
  const text = card().getByRole('textbox', { name: 'The plan' });
  assert.equal(await text.inputValue(), 'Delete the tests');
  // It can be left without a decision, by key and by button.
  await text.fill('Something else');
  await text.press('Escape');
  await text.waitFor({ state: 'detached' });
  await card().getByRole('button', { name: 'Ask for changes' }).click();
  await card().getByRole('button', { name: 'Cancel' }).click();
  await card().getByRole('textbox', { name: 'What should be different?' }).waitFor({ state: 'detached' });
  await card().getByRole('button', { name: 'Edit', exact: true }).click();
  await text.fill('Mend the tests');
  // What was begun is there for who comes back.
  await neighbour('Second plan').click();
  await log(tab).getByText('denied: keep the data').waitFor();
  await neighbour('Third plan').click();
  await text.waitFor();
  assert.equal(await text.inputValue(), 'Mend the tests');
  // On the page of everything that waits, it is the changed one that is let go.
  await tab.page.getByRole('link', { name: /^Inbox/ }).first().click();
  await tab.page.getByRole('main').getByText('Third plan').first().click();
  await tab.page.getByText('Plan ready, as you changed it.').waitFor();
  await tab.page.getByText('Mend the tests', { exact: true }).waitFor();
  await answer(world, three.attempt, () => tab.page.getByRole('button', { name: 'Approve plan', exact: true }).click({ timeout: 1000 }));
  const changed = await asked(world, three.attempt);
  assert.deepEqual([changed.state, changed.answer], ['approved', 'Mend the tests']);
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

journey('whoever writes an answer keeps the box and every word when the question comes into the conversation', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Session store', 'ask Redis or files?\nsay thanks');
  await world.settled(attempt.id, 'waiting');
  const tab = await world.open('about:blank');
  const { page } = tab;
  // What is told of the question's place comes late.
  let letGo;
  const late = new Promise((done) => { letGo = done; });
  await page.routeWebSocket(/\/api\/live\/ws/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage(async (message) => {
      if (/pending_approval/.test(message)) await late;
      socket.send(message);
    });
  });
  await page.route('**/entries?*', async (route) => {
    await late;
    await route.continue();
  });
  await page.goto(`/a/${attempt.id}`);
  const box = page.getByRole('group', { name: 'Question' }).getByRole('textbox');
  await box.click();
  await page.keyboard.type('Red');
  letGo();
  await log(tab).getByText('It is answered below.').waitFor();
  await page.keyboard.type('is, and e a d');
  assert.equal(await box.inputValue(), 'Redis, and e a d');
  // Left alone, it stands where it was asked, with the words.
  await page.getByRole('textbox', { name: 'Reply' }).focus();
  await log(tab).getByRole('group', { name: 'Question' }).waitFor();
  assert.equal(await box.inputValue(), 'Redis, and e a d');
  await until('the answer', async () => {
    await page.getByRole('button', { name: 'Answer', exact: true }).click({ timeout: 1000 }).catch(() => {});
    return (await world.get(`/approvals?task_attempt_id=${attempt.id}`))[0].state === 'approved';
  });
  assert.equal((await world.get(`/approvals?task_attempt_id=${attempt.id}`))[0].answer, 'Redis, and e a d');
});

journey('what cannot be seen in a command, or turns it round, is shown as marks before it is allowed', async (world) => {
  const project = await world.project();
  const command = 'rm -rf ./tmp\u202egpj.\u200bx\u{e0041}';
  await world.start(project, 'Clean up', `permit Bash ${JSON.stringify({ command, description: 'tidy\u2066 up' })}`);
  const shown = 'rm -rf ./tmpU+202Egpj.U+200BxU+E0041';
  const tab = await world.open('/');
  // A card has text alone.
  await tab.page.getByText('Run: rm -rf ./tmp<U+202E>gpj.<U+200B>x<U+E0041>').first().waitFor();
  await tab.page.goto('/inbox');
  const request = tab.page.getByRole('region', { name: 'Preview' });
  await until('the marks in the inbox', async () => (await request.locator('pre').allInnerTexts()).includes(shown));
  await request.getByText('why: tidy<U+2066> up').waitFor();
  await request.getByRole('link', { name: 'Open' }).click();
  const card = log(tab).getByRole('group', { name: 'Approval: Run' });
  await until('the marks at the attempt', async () => (await card.locator('pre').allInnerTexts()).includes(shown));
});

journey('every way to a question puts the caret into it, and the message box can answer it', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Asks once', `${'say a line of the conversation\n'.repeat(60)}ask Which name?\nask And then?\nsay over`);
  await world.settled(attempt.id, 'waiting');
  const tab = await world.open('/');
  const { page } = tab;
  const inQuestion = () => page.evaluate(() => document.activeElement?.closest('[data-ask]') !== null);
  const reached = (how) => until(`the caret in the question after ${how}`, inQuestion);
  await page.getByRole('link', { name: 'Answer: Asks once' }).first().click();
  await reached('Answer');
  // What is typed there is no key of the page.
  await page.keyboard.type('Le Shop, made daily');
  assert.equal(await page.evaluate(() => document.activeElement.value), 'Le Shop, made daily');
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('r');
  await reached('r');
  await page.goto('/');
  await page.getByRole('link', { name: 'Answer: Asks once' }).first().waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('n');
  await reached('g n');
  await page.goto('/inbox');
  await page.getByRole('list', { name: 'Inbox' }).getByRole('listitem').first().waitFor();
  await page.keyboard.press('r');
  await reached('r in the inbox');
  // A message that is written below answers it as well.
  const box = page.getByRole('textbox', { name: 'Reply' });
  await box.fill('From the box');
  await answer(world, attempt, () => page.getByRole('button', { name: 'Send as answer' }).click({ timeout: 1000 }));
  await log(tab).getByText('From the box').first().waitFor();
  assert.equal(await box.inputValue(), '');
  assert.deepEqual((await world.get(`/approvals?task_attempt_id=${attempt.id}`)).map((ask) => ask.answer).filter(Boolean), ['From the box']);
});
