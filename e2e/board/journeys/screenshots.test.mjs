// The pictures of the main pages, light and dark, on a desk and on a phone. FORGE_E2E_PICTURES names where they are kept.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { journey } from '../journey.mjs';
import { takePictures } from '../screenshots.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

journey('the pictures that the README shows are taken of what is there', async (world) => {
  const directory = process.env.FORGE_E2E_PICTURES ?? join(world.directory, 'pictures');
  const names = await takePictures(world, directory);
  for (const name of names) assert.ok(statSync(join(directory, name)).size > 10_000, `${name} shows something`);
  assert.deepEqual(readdirSync(join(root, 'docs/screenshots')).sort(), names.toSorted());
  const shown = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/docs\/screenshots\/([\w-]+\.png)/g)].map(([, name]) => name);
  assert.ok(shown.length > 0);
  assert.deepEqual(shown.filter((name) => !names.includes(name)), []);
});
