// Runs the journeys of the board: `node e2e/board/run.mjs [--only NAME]`. FORGE_BIN names the forge to try. With
// `--screenshots` only the pictures are taken, into docs/screenshots.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const isPictures = process.argv[2] === '--screenshots';
const only = isPictures ? 'screenshots' : process.argv[2] === '--only' ? process.argv[3] : null;
if (isPictures) process.env.FORGE_E2E_PICTURES = join(here, '../../docs/screenshots');
const files = readdirSync(join(here, 'journeys'))
  .filter((name) => name.endsWith('.test.mjs') && (!only || name.startsWith(only)))
  .map((name) => join(here, 'journeys', name));
// Two at once: a browser and a server each are enough for two cores.
const { status } = spawnSync(process.execPath, ['--test', '--test-reporter=tap', '--test-concurrency=2', ...files], { stdio: 'inherit' });
process.exit(status ?? 1);
