// What a browser that was never here fetches of scripts to show the board, as large as they travel.

import { gzipSync } from 'node:zlib';

/** Opens `/` anew, and tells the scripts that came by themselves and what they weigh in bytes, compressed. */
export async function firstLoad(world) {
  const tab = await world.open('about:blank');
  const scripts = new Map();
  tab.page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.endsWith('.js')) scripts.set(pathname, response);
  });
  await tab.page.goto('/', { waitUntil: 'networkidle' });
  await tab.page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
  let bytes = 0;
  for (const response of scripts.values()) bytes += gzipSync(await response.body(), { level: 9 }).length;
  await tab.close();
  return { bytes, names: [...scripts.keys()] };
}
