// What surrounds every page.

import assert from 'node:assert/strict';
import { journey } from '../journey.mjs';

journey('a project that is made elsewhere appears in the rail', async (world) => {
  const tab = await world.open('/');
  await world.project('shop-api');
  const link = tab.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^shop-api/ });
  await link.click();
  await tab.page.waitForURL(/\/p\//);
  assert.equal(await tab.page.getByRole('status', { name: 'Connection' }).textContent(), 'online');
  await tab.accessible();
  await tab.named();
});

journey('what keys open is also under a finger, and the bar of a phone keeps all of it in sight', async (world) => {
  const project = await world.project('a-project-with-quite-a-long-name');
  await world.project('web');
  const { attempt } = await world.start(project, 'Says something', 'say the needle');
  await world.settled(attempt.id, 'finished');
  const tab = await world.open(`/a/${attempt.id}`, { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true });
  const { page } = tab;
  const bar = page.getByRole('navigation', { name: 'Main' });
  const inSight = async (entry) => {
    const { x, width } = await entry.boundingBox();
    assert.ok(x >= 0 && x + width <= 375, `${await entry.textContent()} is from ${x} to ${x + width}`);
  };
  await inSight(bar.getByRole('button', { name: 'Search', exact: true }));
  for (const name of ['All projects', 'Settings']) await inSight(bar.getByRole('link', { name, exact: true }));
  await bar.getByRole('button', { name: 'Search', exact: true }).tap();
  const palette = page.getByRole('dialog', { name: 'Commands' });
  await palette.getByRole('combobox', { name: 'Commands' }).fill('web');
  await palette.getByRole('option', { name: /^web/ }).tap();
  await page.getByRole('region', { name: 'Board of web' }).waitFor();

  // To find something shows the conversation, whatever was shown.
  await page.goto(`/a/${attempt.id}?tab=changes`);
  await page.getByRole('button', { name: 'More about this attempt' }).tap();
  await page.getByRole('menuitem', { name: 'Find in this attempt' }).tap();
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Find in this attempt');
  await page.keyboard.insertText('needle');
  await page.keyboard.press('Enter');
  await page.getByRole('list', { name: 'Found' }).getByRole('button', { name: /needle/ }).first().waitFor();
  await tab.accessible();
});
