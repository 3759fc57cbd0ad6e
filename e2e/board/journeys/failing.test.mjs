// What a page asks for and does not get is missing, not empty: the page says so, and asks again when it is told to.

import assert from 'node:assert/strict';
import { journey } from '../journey.mjs';
import { until } from '../world.mjs';

const NO = 'The disk of the server is broken.';
const PICTURE = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

/** An option of a closed choice counts as unseen, so all of this is counted rather than looked at. */
const option = (page, words) => page.locator('option', { hasText: words });
const button = (page, name) => page.getByRole('button', { name, exact: true });
const dialog = (page) => page.getByRole('dialog');

const newTask = (page) => button(page, 'New task').first().click();
const createPullRequest = async (page) => {
  await button(page, 'Other ways to land').click();
  await page.getByRole('menuitem', { name: /^Create pull request/ }).click();
};

/**
 * By page, what it needs: the GETs by their `path`, where they are made (`at`, and `then` what is pressed there), the
 * words for their absence, what is `there` once they are answered, and what is said to be loading while they are not.
 */
const PAGES = {
  'the conversation': [
    { path: /\/api\/board/, at: attempt, says: 'The attempt is not shown', there: (page) => page.getByRole('log', { name: 'Conversation' }), loads: 'the attempt' },
    { path: /\/entries\?/, at: attempt, says: 'The conversation is not shown', there: (page) => page.getByRole('log', { name: 'Conversation' }).getByText('I am done.'), loads: 'the conversation' },
    { path: /\/execution-processes\?/, at: attempt, says: 'What comes next is not shown', there: (page) => page.getByRole('tab', { name: /^Runs \d/ }) },
    { path: /\/queue$/, at: ({ busy }) => `/a/${busy.attempt.id}`, says: 'Queued messages are not shown', there: (page) => page.getByRole('list', { name: 'Queued messages' }) },
    { path: /\/branch-status$/, at: attempt, says: 'The branch is not shown', there: (page) => button(page, 'Other ways to land') },
    { path: /\/branches$/, at: attempt, then: createPullRequest, says: 'The branches are not shown', there: (page) => option(dialog(page), 'release') },
  ],
  'the tabs of an attempt': [
    { path: /\/comments$/, at: attempt, says: 'Comments are not shown', there: (page) => page.getByRole('region', { name: 'Comments' }).getByText('1 comment in 1 file') },
    { path: /\/diff\?path=/, at: attempt, says: 'Not shown', there: (page) => page.getByRole('table', { name: 'README.md, changes' }) },
    { path: /\/execution-processes\?/, at: tab('runs'), says: 'Runs are not shown', there: (page) => page.getByRole('list', { name: 'Runs' }), loads: 'the runs' },
    { path: /\/snapshots$/, at: tab('snapshots'), says: 'Snapshots are not shown', there: (page) => button(page, 'Restore after turn 1'), loads: 'the snapshots' },
    { path: /\/diff\?stats_only=true&from=/, at: turn, says: 'The changes are not shown', there: (page) => page.getByRole('list', { name: 'Changed files' }), loads: 'the changes' },
    { path: /\/findings$/, at: ({ careless }) => `/a/${careless.attempt.id}?tab=snapshots`, says: 'Changes outside the worktree are not shown', there: (page) => page.getByRole('region', { name: 'Changed outside the worktree' }) },
  ],
  'a wish': [
    { path: /\/api\/board/, at: wish, says: 'The task is not shown', there: (page) => page.getByRole('heading', { name: 'A wish' }), loads: 'the task' },
    { path: /\/images\/task\//, at: wish, says: 'Pictures are not shown', there: (page) => page.getByRole('img', { name: 'screen.png' }) },
    { path: /\/images\/task\//, at: wish, then: (page) => button(page, 'Edit').click(), says: 'The task is not shown', there: (page) => dialog(page).getByRole('textbox', { name: 'Title' }), loads: 'the task' },
    { path: /\/api\/info$/, at: wish, then: (page) => button(page, 'Start with…').click(), says: 'Agents are not shown', there: (page) => dialog(page).locator('optgroup') },
  ],
  'the comparison': [
    { path: /\/api\/board/, at: compare, says: 'The task is not shown', there: (page) => page.getByRole('article', { name: 'Attempt 1' }), loads: 'the task' },
    { path: /\/entries\?/, at: compare, says: 'Its words are not shown', there: (page) => page.getByRole('article').getByText('I am done.') },
    { path: /\/branch-status$/, at: compare, says: 'Its branch is not shown', there: (page) => button(page, 'Merge this one') },
    { path: /\/diff\?stats_only=true$/, at: compare, says: 'The files are not shown', there: (page) => page.getByRole('table', { name: 'Who changed what' }), loads: 'the files' },
  ],
  'the dialog of a new task': [
    { path: /\/api\/info$/, at: board, then: newTask, says: 'Agents are not shown', there: (page) => dialog(page).locator('optgroup') },
    { path: /\/branches$/, at: board, then: newTask, says: 'Branches are not shown', there: (page) => option(dialog(page), 'release') },
  ],
  'the settings': [
    { path: /\/api\/info$/, at: () => '/settings/git', says: 'The settings are not shown', there: (page) => page.getByLabel('Branch prefix'), loads: 'the settings' },
    { path: /\/api\/info$/, at: () => '/settings/mcp', says: 'Agents are not shown', there: (page) => page.getByRole('textbox', { name: 'MCP servers as JSON' }), loads: 'the agents' },
    { path: /\/mcp-config\?/, at: () => '/settings/mcp', says: 'MCP servers are not shown', there: (page) => page.getByRole('textbox', { name: 'MCP servers as JSON' }), loads: 'the MCP servers' },
    { path: /\/profiles$/, at: () => '/settings/agents', says: 'Profiles are not shown', there: (page) => page.getByRole('combobox', { name: 'Profile', exact: true }), loads: 'the profiles' },
    { path: /\/tags$/, at: () => '/settings/snippets', says: 'Snippets are not shown', there: (page) => page.getByRole('form', { name: 'New snippet' }), loads: 'the snippets' },
  ],
  'the settings of disk, trash and a project': [
    { path: /\/disk$/, at: () => '/settings/disk', says: 'The disk usage is not shown', there: (page) => page.getByRole('table', { name: /taken/ }), loads: 'the disk usage' },
    { path: /\/removed$/, at: () => '/settings/trash', says: 'The trash is not shown', there: (page) => page.getByText('The trash is empty.'), loads: 'the trash' },
    { path: /\/api\/board/, at: settings, says: 'The project is not shown', there: (page) => page.getByLabel('Setup script'), loads: 'the project' },
    { path: /\/branches$/, at: settings, says: 'Branches are not shown', there: (page) => option(page, 'release') },
    { path: /\/rules$/, at: settings, says: 'Rules are not shown', there: (page) => page.getByRole('form', { name: 'New rule' }), loads: 'the rules' },
  ],
};

function attempt({ ready }) { return `/a/${ready.attempt.id}`; }
function tab(name) { return (made) => `${attempt(made)}?tab=${name}`; }
function turn(made) { return `${attempt(made)}?tab=snapshots&from=start&to=${made.snapshot.id}`; }
function wish(made) { return `/t/${made.wish.id}`; }
function compare({ ready }) { return `/t/${ready.task.id}/compare`; }
function board({ project }) { return `/p/${project.id}`; }
function settings({ project }) { return `/settings/project/${project.id}`; }

/** Everything that the table asks for is there, so that nothing is empty by itself. */
async function furnish(world) {
  const project = await world.project('shop-api');
  project.git('branch', 'release');
  const { config } = await world.get('/info');
  await world.put('/config', { ...config, executor_profile: { executor: 'SCRIPTED' } });
  const form = new FormData();
  form.append('image', new Blob([PICTURE], { type: 'image/png' }), 'screen.png');
  const { data: picture } = await fetch(`${world.base}/api/images/upload`, { method: 'POST', body: form }).then((it) => it.json());
  const wish = await world.post('/tasks', { project_id: project.id, title: 'A wish', description: 'say hello', image_ids: [picture.id] });
  const ready = await world.start(project, 'Ready', 'edit README.md # Shop of the agent\nsay I am done.');
  await world.settled(ready.attempt.id, 'finished');
  await world.post(`/task-attempts/${ready.attempt.id}/comments`, { path: 'README.md', side: 'new', line: 1, end_line: 1, quote: '# Shop of the agent', text: 'Why?' });
  const snapshot = await until('a snapshot of the turn', async () => (await world.get(`/task-attempts/${ready.attempt.id}/snapshots`)).find(({ why }) => why === 'turn'));
  const careless = await world.start(project, 'Careless', `run echo new > ${project.path}/left.txt`);
  await world.settled(careless.attempt.id, 'finished');
  const busy = await world.start(project, 'Busy', 'sleep 600000');
  await world.settled(busy.attempt.id, 'running');
  await world.put(`/task-attempts/${busy.attempt.id}/draft?type=follow_up`, { prompt: 'say more' });
  await world.post(`/task-attempts/${busy.attempt.id}/draft/queue?type=follow_up`, { queued: true });
  return { project, wish, ready, snapshot, careless, busy };
}

/** Stands between a page and its server: what is asked for by a path that fits is refused or held back, the rest goes through. */
async function stand(page) {
  const held = [];
  let path = null;
  let isRefused = false;
  await page.route('**/api/**', (route) => {
    const { pathname, search } = new URL(route.request().url());
    if (route.request().method() !== 'GET' || !path?.test(pathname + search)) return route.fallback();
    if (isRefused) return route.fulfill({ status: 500, json: { success: false, data: null, error_data: null, message: NO } });
    held.push(route);
  });
  return {
    refuse(what) { [path, isRefused] = [what, true]; },
    hold(what) { [path, isRefused] = [what, false]; },
    async stepAside() {
      path = null;
      // Whoever asked may not wait for it any more.
      for (const route of held.splice(0)) await route.fallback().catch(() => {});
    },
  };
}

for (const [place, rows] of Object.entries(PAGES)) {
  journey(`what ${place} could not get is said to be missing, and comes with another try`, async (world) => {
    const made = await furnish(world);
    const { page } = await world.open('about:blank');
    const between = await stand(page);
    for (const { path, at, then, says, there } of rows) {
      between.refuse(path);
      await page.goto(at(made));
      await then?.(page);
      const alert = page.getByRole('alert').filter({ hasText: `${says}: ${NO}` }).first();
      const again = alert.getByRole('button', { name: 'Try again' });
      await again.waitFor();
      assert.equal(await there(page).count(), 0, `${says}, and is there`);
      await between.stepAside();
      // An event about an attempt asks again by itself, and may take the button away before it is pressed.
      await until(`what was "${says}"`, async () => {
        await again.click({ timeout: 1000 }).catch(() => {});
        return (await there(page).count()) > 0 && (await alert.count()) === 0;
      });
    }
  });

  const slow = rows.filter(({ loads }) => loads);
  if (slow.length > 0) {
    journey(`what ${place} waits for is said to be loading until it is there`, async (world) => {
      const made = await furnish(world);
      const { page } = await world.open('about:blank');
      const between = await stand(page);
      for (const { path, at, then, there, loads } of slow) {
        between.hold(path);
        await page.goto(at(made));
        await then?.(page);
        const loading = page.getByText(`Loading ${loads}…`).first();
        await loading.waitFor();
        assert.equal(await there(page).count(), 0, `${loads} is there while it loads`);
        await between.stepAside();
        await loading.waitFor({ state: 'detached' });
        await until(loads, async () => (await there(page).count()) > 0);
      }
    });
  }
}
