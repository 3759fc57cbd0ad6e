// A GitHub on this machine: bare repositories over HTTP, and the calls about pull requests and their checks that a journey needs.

import { execFileSync, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';

const TOKEN = 'ghp_planted';

/** Starts one whose repositories are in `root`; it lets nobody in without the token. */
export async function startGitHub(root) {
  const pulls = [];
  const checks = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://github');
    if (/\/pull\/\d+$/.test(pathname)) {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>A pull request</title>');
    } else if (!request.headers.authorization) {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic' }).end();
    } else if (pathname.startsWith('/api/v3/repos/')) {
      text(request).then((body) => {
        const [status, answer] = about(pathname, searchParams, body);
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
      });
    } else backend(root, request, pathname, searchParams, response);
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  const url = `http://127.0.0.1:${server.address().port}`;

  /** Opens a pull request, lists those of a branch, or looks at one or at the checks of its commit. */
  function about(pathname, query, body) {
    const [owner, repository, kind, number, list] = pathname.split('/').slice(4);
    if (kind === 'commits') return [200, list === 'status' ? { statuses: [] } : { check_runs: checks.map((conclusion) => ({ conclusion })) }];
    const newest = (pull) => ({
      ...pull,
      head: { ref: pull.branch, sha: execFileSync('git', ['-C', join(root, owner, `${repository}.git`), 'rev-parse', pull.branch], { encoding: 'utf8' }).trim() },
    });
    if (number) return [200, newest(pulls.find((pull) => pull.number === Number(number)))];
    if (!body) return [200, pulls.filter(({ branch }) => `${owner}:${branch}` === query.get('head')).map(newest)];
    const { title, body: words, head, base } = JSON.parse(body);
    const made = { number: 7 + pulls.length, title, body: words, branch: head, state: 'open', merged_at: null, merge_commit_sha: null, base: { ref: base, sha: '0'.repeat(40) } };
    pulls.push({ ...made, html_url: `${url}/${owner}/${repository}/pull/${made.number}` });
    return [201, newest(pulls.at(-1))];
  }

  return {
    url,
    pulls,
    /** How each check of every commit ended; null is one that has not. */
    checks,
    /** What a server has to be told to find it. */
    environment: { GITHUB_BASE_URL: url, GITHUB_ENTERPRISE_TOKEN: TOKEN },
    end: () => new Promise((done) => { server.close(done); server.closeAllConnections(); }),
  };
}

async function text(request) {
  let all = '';
  for await (const part of request.setEncoding('utf8')) all += part;
  return all;
}

/** Git's own server, as a web server runs it. */
function backend(root, request, pathname, query, response) {
  const git = spawn('git', ['http-backend'], {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: query.toString(),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: request.headers['git-protocol'] ?? '',
      REMOTE_USER: 'somebody',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  request.pipe(git.stdin);
  const parts = [];
  git.stdout.on('data', (part) => parts.push(part));
  git.on('close', () => {
    const all = Buffer.concat(parts);
    const end = all.indexOf('\r\n\r\n');
    const headers = Object.fromEntries(all.subarray(0, end).toString().split('\r\n').map((line) => line.split(/:\s*/, 2)));
    const { Status: status = '200', ...others } = headers;
    response.writeHead(Number(status.split(' ')[0]), others).end(all.subarray(end + 4));
  });
}
