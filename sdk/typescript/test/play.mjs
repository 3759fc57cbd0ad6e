// A server on loopback that answers as a test tells it to, and records what it was asked.

import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

/** Starts a server; `answer(request, response, body, n)` answers its n-th request. */
export async function play(t, answer) {
  const asked = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString();
    asked.push({ method: request.method, url: request.url, headers: request.headers, body });
    await answer(request, response, body, asked.length);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, server, baseUrl: `http://127.0.0.1:${server.address().port}` };
}

/** Lets a server take WebSockets too; `talk(socket, url, n)` speaks on its n-th. */
export function takeSockets(t, { server }, talk) {
  const sockets = new WebSocketServer({ server });
  const opened = [];
  sockets.on('connection', (socket, request) => {
    opened.push({ url: request.url, headers: request.headers });
    talk(socket, request.url, opened.length);
  });
  t.after(() => sockets.close());
  return opened;
}

export function envelope(response, data) {
  json(response, 200, { success: true, data, error_data: null, message: null });
}

export function json(response, status, value, headers = {}) {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

export function refused(response, status, message, headers = {}) {
  json(response, status, { success: false, data: null, error_data: null, message }, headers);
}
