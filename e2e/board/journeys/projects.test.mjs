// Projects: adding one, its settings, removing it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

/** A repository that is no project yet. */
function repository(world, name) {
  const path = join(world.directory, 'code', name);
  mkdirSync(path, { recursive: true });
  const git = (...args) => execFileSync('git', ['-C', path, '-c', 'user.name=A', '-c', 'user.email=a@example.invalid', ...args], { stdio: 'pipe' });
  git('init', '-q', '-b', 'main');
  writeFileSync(join(path, 'package.json'), '{}\n');
  writeFileSync(join(path, 'package-lock.json'), '{}\n');
  git('add', '-A');
  git('commit', '-qm', 'first');
  return path;
}

journey('a project is added through the folder browser', async (world) => {
  const path = repository(world, 'web-shop');
  mkdirSync(join(world.directory, 'code', 'plain'));
  await world.project('first');
  const tab = await world.open('/');
  await tab.page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Add a project' }).click();
  const dialog = tab.page.getByRole('dialog', { name: 'Add a project' });
  const folders = dialog.getByRole('list', { name: 'Folders' });
  await folders.getByRole('button', { name: 'code' }).click();
  await tab.accessible();
  // What is typed completes: the list keeps what begins so.
  await until('the listing of code', async () => (await folders.getByRole('button').count()) === 2);
  await dialog.getByRole('textbox', { name: 'Folder' }).press('End');
  await dialog.getByRole('textbox', { name: 'Folder' }).pressSequentially('web');
  await until('one folder', async () => (await folders.getByRole('button').count()) === 1);
  await folders.getByRole('button', { name: /^web-shop git/ }).click();
  await dialog.getByText('Found: git, npm.').waitFor();
  assert.equal(await dialog.getByLabel('Name').inputValue(), 'web-shop');
  assert.equal(await dialog.getByLabel('Setup script').inputValue(), 'npm ci');
  await dialog.getByRole('button', { name: 'Add project' }).click();
  await tab.page.waitForURL(/\/p\//);
  const project = (await world.get('/projects')).find((it) => it.name === 'web-shop');
  assert.equal(project.git_repo_path, path);
  assert.equal(project.setup_script, 'npm ci');
  await tab.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^web-shop/ }).waitFor();
});

journey('a folder without git becomes a repository when that is asked for', async (world) => {
  const path = join(world.directory, 'fresh');
  mkdirSync(path);
  const tab = await world.open('/');
  await tab.page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Add a project' }).click();
  const dialog = tab.page.getByRole('dialog', { name: 'Add a project' });
  await dialog.getByRole('textbox', { name: 'Folder' }).fill(path);
  await dialog.getByRole('textbox', { name: 'Folder' }).press('Enter');
  await dialog.getByText('This folder has no git history.').waitFor();
  await dialog.getByRole('button', { name: 'Create it here' }).click();
  await tab.page.waitForURL(/\/p\//);
  const branch = execFileSync('git', ['-C', path, 'rev-parse', '--is-inside-work-tree'], { encoding: 'utf8' }).trim();
  assert.equal(branch, 'true');
});

journey('the settings of a project are saved field by field, its rules too', async (world) => {
  const project = await world.project('shop-api');
  project.git('branch', 'release');
  const tab = await world.open(`/settings/project/${project.id}`);
  const { page } = tab;
  const type = async (label, text) => {
    await page.getByLabel(label, { exact: true }).fill(text);
    await page.getByLabel(label, { exact: true }).blur();
  };
  await type('Name', 'shop');
  await type('Setup script', 'npm ci\nnpm run build');
  await type('Dev server', 'npm run dev');
  await type('Cleanup script', 'npm run format');
  await type('Files to copy', '.env');
  await page.getByLabel('Base branch').selectOption('release');
  await until('the project to be saved', async () => {
    const now = await world.get(`/projects/${project.id}`);
    return now.name === 'shop' && now.setup_script === 'npm ci\nnpm run build' && now.dev_script === 'npm run dev' && now.cleanup_script === 'npm run format' && now.copy_files === '.env' && now.default_base_branch === 'release';
  });
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^shop/ }).waitFor();
  await type('Name', ' ');
  await page.getByRole('alert').filter({ hasText: 'needs a name' }).waitFor();

  const rule = page.getByRole('form', { name: 'New rule' });
  await rule.getByLabel('First words of the command').fill('npm test');
  await rule.getByRole('button', { name: 'Add rule' }).click();
  await page.getByRole('list', { name: 'Rules' }).getByRole('listitem', { name: /npm test/ }).waitFor();
  const rules = await world.get(`/projects/${project.id}/rules`);
  assert.deepEqual(rules.map((it) => [it.effect, it.about, it.pattern]), [['allow', 'command', 'npm test']]);

  // The first that fits counts, so their order is the person's, and each goes when it is not wanted.
  await rule.getByLabel('Effect').selectOption('Deny');
  await rule.getByLabel('First words of the command').fill('npm publish');
  await rule.getByRole('button', { name: 'Add rule' }).click();
  const patterns = async () => (await world.get(`/projects/${project.id}/rules`)).map((it) => it.pattern);
  await page.getByRole('button', { name: /^Move up: .*npm publish/ }).click();
  await until('the other order', async () => JSON.stringify(await patterns()) === '["npm publish","npm test"]');
  await page.getByRole('button', { name: /^Delete: .*npm test/ }).click();
  await until('one rule', async () => JSON.stringify(await patterns()) === '["npm publish"]');
  await page.getByRole('list', { name: 'Rules' }).getByRole('listitem', { name: /npm test/ }).waitFor({ state: 'detached' });
  await tab.accessible();
});

journey('a project is removed after its name was confirmed, its code stays, and undo brings it back', async (world) => {
  const project = await world.project('shop-api');
  await world.task(project, 'A wish');
  const tab = await world.open(`/settings/project/${project.id}`);
  await tab.page.getByRole('button', { name: 'Remove shop-api' }).click();
  const dialog = tab.page.getByRole('alertdialog', { name: 'Remove shop-api from Forge?' });
  await dialog.getByText('Your code stays. 1 task and 0 branches go to the trash.').waitFor();
  await dialog.getByRole('button', { name: 'Remove shop-api' }).click();
  await until('the project to be gone', async () => (await world.get('/projects')).length === 0);
  assert.equal(project.git('rev-parse', '--abbrev-ref', 'HEAD').trim(), 'main');
  await tab.page.getByRole('region', { name: 'Notices' }).getByRole('button', { name: 'Undo' }).click();
  await until('the project to be back', async () => (await world.get('/projects')).length === 1);
  await tab.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^shop-api/ }).waitFor();
});

journey('the first page leads to a project', async (world) => {
  repository(world, 'web-shop');
  const tab = await world.open('/');
  await tab.page.getByRole('heading', { name: /^Forge runs coding agents/ }).waitFor();
  await tab.accessible();
  await tab.named();
  // Who has a board elsewhere is told how to bring it along.
  await tab.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await tab.page.getByText('docs/moving-in.md').waitFor();
  await tab.page.getByRole('button', { name: 'Copy command' }).click();
  await tab.page.getByRole('status').filter({ hasText: 'The command is copied.' }).waitFor();
  assert.equal(await tab.page.evaluate(() => navigator.clipboard.readText()), 'forge import vibe-kanban');
  await tab.page.getByRole('main').getByRole('button', { name: 'Add a project' }).click();
  const dialog = tab.page.getByRole('dialog', { name: 'Add a project' });
  await dialog.getByRole('list', { name: 'Changed last' }).getByRole('button', { name: /web-shop git/ }).click();
  await dialog.getByRole('button', { name: 'Add project' }).click();
  await tab.page.waitForURL(/\/p\//);
  assert.deepEqual((await world.get('/projects')).map((it) => it.name), ['web-shop']);
});

journey('one click on the first page makes the demo, and within 20 s it shows its four states', async (world) => {
  const tab = await world.open('/');
  const begun = Date.now();
  await tab.page.getByRole('button', { name: 'Try the demo' }).click();
  await tab.page.waitForURL(/\/p\//);
  for (const state of ['running', 'asks: approval', 'conflict', 'to review']) {
    await tab.page.getByRole('listitem').getByRole('img', { name: state, exact: true }).first().waitFor({ timeout: Math.max(1, begun + 20_000 - Date.now()) });
  }
  await tab.accessible();
  const [project] = await world.get('/projects');
  const attempts = await world.get('/task-attempts');
  assert.ok(attempts.every((attempt) => attempt.project_id === project.id));
  const states = new Set(attempts.map(({ state }) => state));
  assert.ok(states.has('running') && states.has('waiting') && states.has('finished'), [...states].join());
});
