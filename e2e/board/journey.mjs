// One journey is one test with a world of its own; it ends by checking every tab it opened.

import { after, test } from 'node:test';
import { endBrowser, World } from './world.mjs';

after(endBrowser);

/** Runs a journey: `walk` gets a fresh world. */
export function journey(name, walk) {
  test(name, { timeout: 120_000 }, async () => {
    const world = await World.start();
    try {
      await walk(world);
      for (const tab of world.tabs) tab.check();
    } catch (error) {
      const last = world.tabs.at(-1);
      if (last && process.env.FORGE_E2E_SHOTS) {
        await last.page.screenshot({ path: `${process.env.FORGE_E2E_SHOTS}/${name.replace(/\W+/g, '-')}.png` }).catch(() => {});
      }
      for (const tab of world.tabs) if (tab.faults.length > 0) error.message += `\nfaults: ${tab.faults.join('\n')}`;
      throw error;
    } finally {
      await world.end();
    }
  });
}
