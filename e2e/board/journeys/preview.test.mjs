// The dev server of an attempt, and its page beside the conversation.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

const SERVER = `
  const page = '<!doctype html><h1>The shop</h1><p id="what"></p><script>let seen; try { seen = parent.document.title } catch { seen = "nothing" } document.getElementById("what").textContent = "sees " + seen + " as " + self.origin</script>';
  require('http').createServer((_, answer) => answer.end(page)).listen(process.env.FORGE_DEV_PORT, '127.0.0.1', () => console.log('ready'));
`;

journey('a dev server is started, its page is shown in a closed frame, and it is stopped', async (world) => {
  const project = await world.project('shop', { 'dev.cjs': SERVER });
  await world.put(`/projects/${project.id}`, { dev_script: 'node dev.cjs' });
  const { attempt } = await world.start(project, 'Shop page', 'say hello');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}?tab=preview`);
  await tab.page.getByRole('button', { name: 'Start', exact: true }).click();
  const { dev_server: server } = await until('the dev server to run', async () => {
    const now = await world.attempt(attempt.id);
    return now.dev_server && now;
  });
  await tab.page.getByText(`Running on port ${server.port}.`).waitFor();
  const frame = tab.page.frameLocator('iframe[title="Preview"]');
  await frame.getByRole('heading', { name: 'The shop' }).waitFor();
  // Without an origin of its own: no cookie, no storage, and nothing of the board.
  await frame.getByText('sees nothing as null').waitFor();
  const address = new RegExp(`^http://[0-9a-f]+\\.localhost:${server.port}/$`);
  assert.match(await tab.page.getByTitle('Preview').getAttribute('src'), address);
  assert.doesNotMatch(await tab.page.getByTitle('Preview').getAttribute('sandbox'), /allow-same-origin|allow-top-navigation|allow-popups/);
  assert.match(await tab.page.getByRole('link', { name: 'Open', exact: true }).getAttribute('href'), address);
  await tab.page.getByRole('button', { name: 'Log', exact: true }).click();
  await tab.page.getByRole('log', { name: 'Dev server log' }).getByText('ready').waitFor();
  await tab.page.getByRole('radio', { name: '375' }).click();
  assert.equal((await tab.page.getByTitle('Preview').boundingBox()).width, 375);
  await tab.named();
  await tab.page.getByRole('button', { name: 'Stop', exact: true }).click();
  await tab.page.getByText('The dev server was stopped.').waitFor();
  await until('the dev server to be gone', async () => (await world.attempt(attempt.id)).dev_server === null);
});

journey('without a dev script the preview says what is missing', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'No page', 'say hello');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}?tab=preview`);
  await tab.page.getByRole('button', { name: 'Start', exact: true }).click();
  await tab.page.getByRole('alert').getByText(/^Not started: /).waitFor();
  await tab.page.getByRole('button', { name: 'Project settings' }).waitFor();
  assert.equal((await world.attempt(attempt.id)).state, 'finished');
  await tab.accessible();
});

journey('a dev command that ends says so', async (world) => {
  const project = await world.project();
  writeFileSync(join(project.path, 'x'), '');
  await world.put(`/projects/${project.id}`, { dev_script: 'echo cannot start; sleep 1; exit 3' });
  const { attempt } = await world.start(project, 'Broken page', 'say hello');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}?tab=preview`);
  await tab.page.getByRole('button', { name: 'Start', exact: true }).click();
  await tab.page.getByText('The dev command ended with 3.').waitFor();
  await tab.page.getByRole('button', { name: 'Log', exact: true }).click();
  await tab.page.getByRole('log', { name: 'Dev server log' }).getByText('cannot start').waitFor();
  assert.equal((await world.attempt(attempt.id)).dev_server, null);
});
