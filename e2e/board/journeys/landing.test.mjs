// From an attempt's branch to its target.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGitHub } from '../github.mjs';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

async function finished(world, script = 'edit README.md # Shop of the agent') {
  const project = await world.project();
  const { task, attempt } = await world.start(project, 'Rewrite the README', script);
  await world.settled(attempt.id, 'finished');
  return { project, task, attempt };
}

async function opened(world, { attempt }) {
  const tab = await world.open(`/a/${attempt.id}`);
  const strip = tab.page.getByRole('region', { name: 'Landing' });
  return { tab, page: tab.page, strip, dialog: tab.page.getByRole('alertdialog') };
}

/** Somebody else's commit on main. */
function move(project, text = 'moved\n', file = 'other.txt') {
  writeFileSync(join(project.path, file), text);
  project.git('add', '-A');
  project.git('commit', '-qm', 'moved on');
}

const onMain = (project, file = 'README.md') => project.git('show', `main:${file}`);
const verb = async (page, name) => {
  await page.getByRole('region', { name: 'Landing' }).getByRole('button', { name: 'Other ways to land' }).click();
  await page.getByRole('menuitem', { name }).click();
};

/** How the branch stands, in the words of the strip. */
const standing = async (strip) => (await strip.getByRole('status').innerText()).replace(/\s+/g, ' ').trim();

journey('an attempt is merged, and its work is on main', async (world) => {
  const made = await finished(world);
  const { tab, page, strip, dialog } = await opened(world, made);
  await strip.getByRole('button', { name: 'Merge into main' }).waitFor();
  assert.equal(await standing(strip), '↑1 ahead ↓0 behind');
  await strip.getByText('clean', { exact: true }).waitFor();
  await tab.accessible();
  await page.keyboard.press('Shift+M');
  await dialog.getByText('Merge 1 commit into main?').waitFor();
  await tab.accessible();
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Notices' }).getByText('Merged into main.').waitFor();
  await strip.getByRole('button', { name: 'Nothing to merge' }).waitFor();
  await strip.getByText('merged', { exact: true }).waitFor();
  assert.equal(onMain(made.project), '# Shop of the agent\n');
  assert.equal((await world.attempt(made.attempt.id)).is_merged, true);
  assert.equal((await world.get(`/tasks/${made.task.id}`)).status, 'done');
});

journey('a merge is undone from its notice and from the menu, and says why when somebody has built on it', async (world) => {
  const made = await finished(world);
  const before = made.project.git('rev-parse', 'main');
  const { tab, page, strip, dialog } = await opened(world, made);
  tab.expects(409);
  const notices = page.getByRole('region', { name: 'Notices' });
  const merge = async () => {
    await strip.getByRole('button', { name: 'Merge into main' }).click();
    await dialog.getByRole('button', { name: 'Merge 1 commit' }).click();
    await strip.getByRole('button', { name: 'Nothing to merge' }).waitFor();
  };
  await merge();
  await notices.getByRole('status').filter({ hasText: 'Merged into main.' }).getByRole('button', { name: 'Undo' }).click();
  await notices.getByText('main is as it was before the merge.').waitFor();
  assert.equal(made.project.git('rev-parse', 'main'), before);
  assert.equal((await world.get(`/tasks/${made.task.id}`)).status, 'inreview');
  await merge();
  await verb(page, 'Undo the merge');
  await strip.getByRole('button', { name: 'Merge into main' }).waitFor();
  assert.equal(made.project.git('rev-parse', 'main'), before);
  assert.equal((await world.attempt(made.attempt.id)).is_merged, false);
  await merge();
  move(made.project);
  await verb(page, 'Undo the merge');
  await page.getByRole('alert').filter({ hasText: "'main' has moved on since; run `git revert" }).waitFor();
  assert.equal(onMain(made.project), '# Shop of the agent\n');
  assert.equal((await world.attempt(made.attempt.id)).is_merged, true);
});

journey('main moved on: one confirm rebases and then merges', async (world) => {
  const made = await finished(world);
  move(made.project);
  const { strip, dialog, page } = await opened(world, made);
  await strip.getByRole('button', { name: 'Rebase then merge' }).waitFor();
  assert.equal(await standing(strip), '↑1 ahead ↓1 behind');
  await strip.getByRole('button', { name: 'Rebase then merge' }).click();
  await dialog.getByText('main moved on by 1 commit.').waitFor();
  await dialog.getByRole('button', { name: 'Rebase then merge' }).click();
  await page.getByRole('region', { name: 'Notices' }).getByText('Merged into main.').waitFor();
  assert.equal(onMain(made.project), '# Shop of the agent\n');
  assert.equal(onMain(made.project, 'other.txt'), 'moved\n');
});

journey('a merge that comes too late says why, and what to do is beside it', async (world) => {
  const made = await finished(world);
  const { tab, strip, dialog, page } = await opened(world, made);
  tab.expects(409);
  await strip.getByRole('button', { name: 'Merge into main' }).click();
  await dialog.waitFor();
  move(made.project);
  await dialog.getByRole('button', { name: /^Merge/ }).click();
  const refusal = strip.getByRole('alert');
  await refusal.getByText(/^Not merged: .*main/).waitFor();
  await refusal.getByRole('button', { name: 'Rebase then merge' }).click();
  await page.getByRole('region', { name: 'Notices' }).getByText('Merged into main.').waitFor();
  assert.equal(onMain(made.project, 'other.txt'), 'moved\n');
});

journey('what is not committed is committed first, and a hook that refuses it can be left out', async (world) => {
  const made = await finished(world);
  const { container_ref: worktree } = await world.attempt(made.attempt.id);
  writeFileSync(join(worktree, 'notes.txt'), 'by hand\n');
  writeFileSync(join(made.project.path, '.git/hooks/pre-commit'), '#!/bin/sh\necho no notes here >&2\nexit 1\n', { mode: 0o755 });
  const { tab, strip, dialog, page } = await opened(world, made);
  tab.expects(409);
  await strip.getByText('1 not committed').waitFor();
  await strip.getByRole('button', { name: 'Merge into main' }).click();
  await dialog.getByText('What is not committed yet is committed first.').waitFor();
  await dialog.getByRole('button', { name: /^Merge/ }).click();
  const refusal = strip.getByRole('alert');
  await refusal.getByText(/^Not merged: [^]*no notes here/).waitFor();
  assert.equal(onMain(made.project), '# Shop\n');
  await refusal.getByRole('button', { name: 'Merge without hooks' }).click();
  await page.getByRole('region', { name: 'Notices' }).getByText('Merged into main.').waitFor();
  assert.equal(onMain(made.project, 'notes.txt'), 'by hand\n');
});

journey('a conflict is given to the agent, and lands when it is resolved', async (world) => {
  const made = await finished(world);
  move(made.project, '# Shop of somebody\n', 'README.md');
  const { tab, strip, dialog, page } = await opened(world, made);
  await strip.getByRole('button', { name: 'Rebase then merge' }).click();
  await dialog.getByRole('button', { name: 'Rebase then merge' }).click();
  const alert = strip.getByRole('alert');
  await alert.getByText('Rebase stopped: README.md conflicts with main.').waitFor();
  await strip.getByRole('button', { name: 'Let the agent resolve 1 conflict' }).waitFor();
  // The key of merging asks before an agent works on it.
  await page.keyboard.press('Shift+M');
  await dialog.getByText('README.md').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await world.attempt(made.attempt.id)).state, 'finished');
  await tab.accessible();
  await alert.getByRole('button', { name: 'Let the agent resolve it' }).click();
  await until('the agent to be told', async () => {
    const { entries } = await world.get(`/task-attempts/${made.attempt.id}/entries?limit=100`);
    return entries.some(({ entry }) => entry.entry_type.type === 'user_message' && entry.content.includes('- README.md'));
  });
  await world.settled(made.attempt.id, 'finished', 'failed');
  // The scripted agent does what a prompt says word by word, so the resolution is one more.
  await world.post(`/task-attempts/${made.attempt.id}/follow-up`, { prompt: 'edit README.md # Shop of both' });
  await alert.waitFor({ state: 'detached' });
  await strip.getByRole('button', { name: 'Merge into main' }).click();
  await dialog.getByRole('button', { name: /^Merge/ }).click();
  await page.getByRole('region', { name: 'Notices' }).getByText('Merged into main.').waitFor();
  assert.equal(onMain(made.project), '# Shop of both\n');
});

journey('a person resolves a conflict in the file, goes on with the rebase, and merges', async (world) => {
  const made = await finished(world);
  move(made.project, '# Shop of somebody\n', 'README.md');
  const { tab, strip, dialog, page } = await opened(world, made);
  await verb(page, 'Rebase onto main');
  const conflict = strip.getByRole('alert').filter({ hasText: 'Rebase stopped: README.md conflicts with main.' });
  await conflict.getByRole('button', { name: 'Continue rebase' }).click();
  await strip.getByText(/^Not finished: .*README\.md/).waitFor();
  const { worktree_path: worktree } = await world.get(`/task-attempts/${made.attempt.id}`);
  writeFileSync(join(worktree, 'README.md'), '# Shop of both\n');
  await conflict.getByRole('button', { name: 'Continue rebase' }).click();
  await conflict.waitFor({ state: 'detached' });
  await strip.getByText(/^Not finished/).waitFor({ state: 'detached' });
  const status = await world.get(`/task-attempts/${made.attempt.id}/branch-status`);
  assert.deepEqual([status.conflict_op, status.commits_ahead, status.commits_behind], [null, 1, 0]);
  // Staged by hand, it is not gone on with yet: that is the next step then.
  move(made.project, '# Shop of somebody else\n', 'README.md');
  await strip.getByRole('button', { name: 'Rebase then merge' }).waitFor();
  await verb(page, 'Rebase onto main');
  // It is staged before the page has asked how the branch stands after the refusal.
  let isStaged;
  const staged = new Promise((done) => { isStaged = done; });
  await conflict.waitFor();
  await page.route('**/branch-status', async (route) => {
    await staged;
    await route.continue().catch(() => {});
  });
  await conflict.getByRole('button', { name: 'Continue rebase' }).click();
  await strip.getByText(/^Not finished/).waitFor();
  writeFileSync(join(worktree, 'README.md'), '# Shop of all\n');
  execFileSync('git', ['-C', worktree, 'add', 'README.md']);
  isStaged();
  await strip.getByText('Rebase is not finished: every conflict is resolved.').waitFor();
  // What was said of the conflict that waited is over with it.
  await strip.getByText(/^Not finished/).waitFor({ state: 'detached' });
  await tab.accessible();
  await strip.getByRole('button', { name: 'Continue rebase' }).last().click();
  await strip.getByRole('button', { name: 'Merge into main' }).click();
  await dialog.getByRole('button', { name: /^Merge/ }).click();
  await page.getByRole('region', { name: 'Notices' }).getByText('Merged into main.').waitFor();
  assert.equal(onMain(made.project), '# Shop of all\n');
});

journey('a rebase that stopped is aborted, and the attempt is as it was', async (world) => {
  const made = await finished(world);
  move(made.project, '# Shop of somebody\n', 'README.md');
  const { strip, dialog, page } = await opened(world, made);
  await verb(page, 'Rebase onto main');
  await strip.getByRole('alert').getByRole('button', { name: 'Abort rebase' }).click();
  await dialog.getByText('A snapshot keeps what the files are now.').waitFor();
  await dialog.getByRole('button', { name: 'Abort rebase' }).click();
  await strip.getByRole('button', { name: 'Rebase then merge' }).waitFor();
  const status = await world.get(`/task-attempts/${made.attempt.id}/branch-status`);
  assert.deepEqual([status.conflict_op, status.commits_ahead, status.commits_behind], [null, 1, 1]);
});

journey('a rebase onto another branch is done, and one that stops at a conflict says so', async (world) => {
  const made = await finished(world);
  for (const [branch, file, text] of [['release', 'other.txt', 'released\n'], ['rewrite', 'README.md', '# Shop of somebody\n']]) {
    made.project.git('checkout', '-q', '-b', branch, 'main');
    move(made.project, text, file);
  }
  made.project.git('checkout', '-q', 'main');
  const { strip, page } = await opened(world, made);
  const onto = async (branch) => {
    await verb(page, /^Rebase onto another branch/);
    const dialog = page.getByRole('dialog', { name: 'Rebase onto another branch' });
    await dialog.getByRole('combobox', { name: 'Branch' }).selectOption(branch);
    await dialog.getByRole('button', { name: 'Rebase', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await onto('release');
  await strip.getByRole('button', { name: 'Merge into release' }).waitFor();
  const { branch } = await world.attempt(made.attempt.id);
  assert.equal(made.project.git('show', `${branch}:other.txt`), 'released\n');
  await onto('rewrite');
  await strip.getByRole('alert').getByText('Rebase stopped: README.md conflicts with rewrite.').waitFor();
  assert.deepEqual((await world.get(`/task-attempts/${made.attempt.id}/branch-status`)).conflicted_files, ['README.md']);
});

journey('a branch is pushed to its remote', async (world) => {
  const made = await finished(world);
  const remote = join(world.directory, 'remote.git');
  execFileSync('git', ['init', '-q', '--bare', remote]);
  made.project.git('remote', 'add', 'origin', remote);
  const { page } = await opened(world, made);
  await verb(page, 'Push the branch');
  await page.getByRole('region', { name: 'Notices' }).getByText('Pushed.').waitFor();
  const { branch } = await world.attempt(made.attempt.id);
  assert.equal(execFileSync('git', ['-C', remote, 'show', `${branch}:README.md`], { encoding: 'utf8' }), '# Shop of the agent\n');
});

journey('a pull request is created, pushed to, opened and found merged', async (world) => {
  const hosted = join(world.directory, 'hosted');
  const github = await startGitHub(hosted);
  try {
    await world.kill();
    world.environment = github.environment;
    await world.serve();
    const made = await finished(world);
    const remote = join(hosted, 'octocat/shop.git');
    execFileSync('git', ['clone', '-q', '--bare', made.project.path, remote]);
    made.project.git('remote', 'add', 'origin', `${github.url}/octocat/shop.git`);
    const { tab, strip, page } = await opened(world, made);
    await verb(page, /^Create pull request/);
    const dialog = page.getByRole('dialog', { name: 'Create pull request' });
    await dialog.getByRole('textbox', { name: 'Text' }).fill('By an agent.');
    await dialog.getByRole('button', { name: 'Create pull request' }).click();
    await dialog.waitFor({ state: 'detached' });
    const [pull] = github.pulls;
    const link = strip.getByRole('link', { name: '#7 open' });
    assert.equal(await link.getAttribute('href'), pull.html_url);
    const { branch } = await world.attempt(made.attempt.id);
    assert.deepEqual([pull.title, pull.body, pull.branch, pull.base.ref], ['Rewrite the README', 'By an agent.', branch, 'main']);
    const there = (file) => execFileSync('git', ['-C', remote, 'show', `${branch}:${file}`], { encoding: 'utf8' });
    assert.equal(there('README.md'), '# Shop of the agent\n');
    await strip.getByRole('button', { name: 'Open #7' }).waitFor();
    await tab.accessible();

    await world.post(`/task-attempts/${made.attempt.id}/follow-up`, { prompt: 'edit more.txt more' });
    await strip.getByRole('button', { name: 'Push 1 commit' }).click();
    await page.getByRole('region', { name: 'Notices' }).getByText('Pushed.').waitFor();
    assert.equal(there('more.txt'), 'more\n');
    const [shown] = await Promise.all([tab.context.waitForEvent('page'), strip.getByRole('button', { name: 'Open #7' }).click()]);
    await shown.waitForURL(pull.html_url, { waitUntil: 'commit' });

    // Checks are looked at now and then, and when somebody asks for the pull request.
    const attach = async () => {
      await verb(page, /^Attach a pull request/);
      const dialog = page.getByRole('dialog', { name: 'Attach a pull request' });
      await dialog.getByRole('button', { name: 'Attach', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    github.checks.push('success', 'failure', null);
    await attach();
    await strip.getByText('1 of 3 checks failed').waitFor();
    assert.deepEqual((await world.attempt(made.attempt.id)).pull_request.checks, { passed: 1, failed: 1, waiting: 1 });
    github.checks.splice(0, 3, 'success', 'success', 'neutral');
    await attach();
    await strip.getByText('3 checks passed').waitFor();

    Object.assign(pull, { state: 'closed', merged_at: '2026-11-16T04:05:06Z', merge_commit_sha: 'e5bd3914e2e596debea16f433f57875b5b90bcd6' });
    await attach();
    await strip.getByRole('link', { name: '#7 merged' }).waitFor();
    const { merges } = await world.get(`/task-attempts/${made.attempt.id}/branch-status`);
    assert.deepEqual(merges.map(({ pr_info }) => [pr_info.number, pr_info.status]), [[7, 'merged']]);
  } finally {
    await github.end();
  }
});

journey('a pull request without a login says what to do', async (world) => {
  const made = await finished(world);
  made.project.git('remote', 'add', 'origin', 'https://github.com/somebody/shop.git');
  const { page } = await opened(world, made);
  await verb(page, /^Create pull request/);
  const dialog = page.getByRole('dialog', { name: 'Create pull request' });
  assert.equal(await dialog.getByRole('textbox', { name: 'Title' }).inputValue(), 'Rewrite the README');
  await dialog.getByRole('button', { name: 'Create pull request' }).click();
  await dialog.getByRole('alert').getByText(/^Pull request not created: .*(gh auth login|token)/).waitFor();
  assert.equal((await world.get(`/task-attempts/${made.attempt.id}/branch-status`)).merges.length, 0);
});

journey('the target branch is changed', async (world) => {
  const made = await finished(world);
  made.project.git('branch', 'release');
  const { strip, page } = await opened(world, made);
  await verb(page, /^Change target branch/);
  const dialog = page.getByRole('dialog', { name: 'Change target branch' });
  await dialog.getByRole('combobox', { name: 'Branch' }).selectOption('release');
  await dialog.getByRole('button', { name: 'Change target' }).click();
  await strip.getByRole('button', { name: 'Merge into release' }).waitFor();
  assert.equal((await world.attempt(made.attempt.id)).target_branch, 'release');
});

journey('unsaved work in the way is named, and nothing is merged', async (world) => {
  const made = await finished(world);
  writeFileSync(join(made.project.path, 'README.md'), '# My own words\n');
  const { tab, strip, dialog } = await opened(world, made);
  tab.expects(409);
  await strip.getByRole('button', { name: 'Merge into main' }).click();
  await dialog.getByRole('button', { name: /^Merge/ }).click();
  await strip.getByRole('alert').getByText(/^Not merged: .*README\.md/).waitFor();
  assert.equal(onMain(made.project), '# Shop\n');
  assert.equal((await world.attempt(made.attempt.id)).is_merged, false);
});

journey('while the agent is at work nothing can be merged, and the button says so', async (world) => {
  const project = await world.project();
  const { attempt } = await world.start(project, 'Long', 'edit a.txt a\nsleep 60000');
  await world.settled(attempt.id, 'running');
  const { strip } = await opened(world, { attempt });
  await strip.getByText('The agent is at work.').first().waitFor();
  assert.equal((await world.attempt(attempt.id)).is_merged, false);
});

journey('two attempts are compared, and one of them is used', async (world) => {
  const { project, task, attempt } = await finished(world);
  await world.put(`/tasks/${task.id}`, { description: 'edit notes.txt from the second\nsay I wrote notes.' });
  const second = await world.post('/task-attempts', { task_id: task.id, executor_profile_id: { executor: 'SCRIPTED', variant: null }, base_branch: 'main' });
  await world.settled(second.id, 'finished');
  const away = await world.open('about:blank');
  await away.page.route('**/api/board*', (route) => route.abort());
  await away.page.goto(`/t/${task.id}/compare`);
  await away.page.getByRole('alert').getByText('The task is not known while the server is away.').waitFor();
  const tab = await world.open(`/t/${task.id}/compare`);
  const columns = (n) => tab.page.getByRole('article', { name: `Attempt ${n}` });
  await columns(2).getByText('I wrote notes.').waitFor();
  const row = tab.page.getByRole('row', { name: /^notes.txt/ });
  await row.getByText('new +1').waitFor();
  // How a file was changed leads to its lines.
  assert.equal(await row.getByRole('link', { name: 'new +1' }).getAttribute('href'), `/a/${second.id}?tab=changes&file=notes.txt`);
  await tab.accessible();
  await tab.named();
  await columns(2).getByRole('button', { name: 'Merge this one' }).click();
  await tab.page.getByRole('alertdialog').getByRole('button', { name: /^Merge/ }).click();
  await until('the second to be merged', async () => (await world.attempt(second.id)).is_merged);
  assert.equal(onMain(project, 'notes.txt'), 'from the second\n');
  assert.equal((await world.attempt(attempt.id)).is_merged, false);
});
