// Runs the journeys of the board: `node e2e/board/run.mjs [--only NAME]`. FORGE_BIN names the forge to try. With
// `--screenshots` only the pictures are taken, into docs/screenshots.

import { readdirSync, statSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from 'node:test';
import { tap } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const isPictures = process.argv[2] === '--screenshots';
const only = isPictures ? 'screenshots' : process.argv[2] === '--only' ? process.argv[3] : null;
if (isPictures) process.env.FORGE_E2E_PICTURES = join(here, '../../docs/screenshots');
// The longest first, so that no long file is left when the others have ended.
const files = readdirSync(join(here, 'journeys'))
  .filter((name) => name.endsWith('.test.mjs') && (!only || name.startsWith(only)))
  .map((name) => join(here, 'journeys', name))
  .sort((one, other) => statSync(other).size - statSync(one).size);
if (files.length === 0) {
  console.error(`no file of journeys begins with ${only}`);
  process.exit(1);
}
// A file has a browser and one server at a time, and waits for them half of its time.
const concurrency = Math.max(2, Math.ceil(cpus().length * 1.5));
run({ files, concurrency })
  .on('test:fail', ({ todo }) => { if (!todo) process.exitCode = 1; })
  .compose(tap)
  .pipe(process.stdout);
