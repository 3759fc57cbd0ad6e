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
