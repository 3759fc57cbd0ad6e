// Runs the journeys of the board: `node e2e/board/run.mjs [--only NAME]`. FORGE_BIN names the forge to try.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const only = process.argv[2] === '--only' ? process.argv[3] : null;
const files = readdirSync(join(here, 'journeys'))
  .filter((name) => name.endsWith('.test.mjs') && (!only || name.startsWith(only)))
  .map((name) => join(here, 'journeys', name));
// Two at once: a browser and a server each are enough for two cores.
const { status } = spawnSync(process.execPath, ['--test', '--test-reporter=tap', '--test-concurrency=2', ...files], { stdio: 'inherit' });
process.exit(status ?? 1);
