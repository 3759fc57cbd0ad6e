// The package itself: what is generated is fresh, what the README shows compiles, and nothing is depended on.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

const root = fileURLToPath(new URL('..', import.meta.url));

test('what is made from the OpenAPI document of the server is fresh', () => {
  execFileSync(process.execPath, ['scripts/generate.mjs', '--check'], { cwd: root, stdio: 'pipe' });
});

test('every snippet of the README compiles as it stands there', (t) => {
  // Inside the package, so that its own name leads to it.
  const dir = mkdtempSync(join(root, 'dist', 'readme-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const snippets = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)];
  assert.ok(snippets.length >= 2);
  const files = snippets.map(([, code], at) => {
    const file = join(dir, `snippet${at}.mts`);
    writeFileSync(file, code);
    return file;
  });
  const flags = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom,dom.iterable,dom.asynciterable'];
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  try {
    execFileSync(process.execPath, [tsc, ...flags, ...files], { cwd: root, stdio: 'pipe' });
  } catch (error) {
    assert.fail(`${error.stdout}`);
  }
});

test('the package depends on nothing at run time', () => {
  const { dependencies, peerDependencies, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.deepEqual([dependencies, peerDependencies], [undefined, undefined]);
  assert.ok(exports['.'].default.startsWith('./dist/'));
  for (const file of readdirSync(join(root, 'dist')).filter((name) => name.endsWith('.js'))) {
    for (const [, from] of readFileSync(join(root, 'dist', file), 'utf8').matchAll(/from '([^']+)'/g)) {
      assert.match(from, /^\.\//, `${file} takes ${from}`);
    }
  }
});
