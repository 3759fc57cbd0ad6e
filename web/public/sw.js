// The service worker: keeps the built files of the board, and nothing that the server says. Without the server the page
// still opens, and says that the server is away; an old answer can never pose as a new one.

const CACHE = 'forge-shell';
const MOST = 120;

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== location.origin) return;
  if (url.pathname.startsWith('/assets/')) event.respondWith(built(request));
  else if (request.mode === 'navigate' && !/^\/(api|docs|health|metrics)(\/|$)/.test(url.pathname)) event.respondWith(page(request));
});

// A built file has its hash in its name, so the first copy is good for ever.
async function built(request) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request);
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.ok) {
    await cache.put(request, answer.clone());
    const keys = await cache.keys();
    for (const old of keys.slice(0, Math.max(0, keys.length - MOST))) await cache.delete(old);
  }
  return answer;
}

// The page itself is asked for each time; the kept one is only for when nobody answers.
async function page(request) {
  try {
    const answer = await fetch(request);
    if (answer.ok) {
      const cache = await caches.open(CACHE);
      await cache.put('/', answer.clone());
    }
    return answer;
  } catch (error) {
    const kept = await caches.match('/');
    if (kept) return kept;
    throw error;
  }
}

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data?.to ?? '/inbox'));
});

async function show(to) {
  const [open] = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  if (!open) return self.clients.openWindow(to);
  open.postMessage({ to });
  return open.focus();
}
