// Sends one request. An act arrives although its page is left or loaded anew right after it: the page may have shown it
// as done. What asks only, and what is too large for that, ends with the page.

/** A browser fails whatever is beyond: the standard says 64 KiB of bodies at once, and some take 256 requests of all tabs. */
const MOST = { bytes: 48 * 1024, requests: 100 };
const underway = { bytes: 0, requests: 0 };

export async function send(url: string, request: RequestInit): Promise<Response> {
  const bytes = request.method === "GET" ? null : sizeOf(request.body);
  const isKept = bytes !== null && underway.bytes + bytes <= MOST.bytes && underway.requests < MOST.requests;
  if (!isKept) return fetch(url, request);

  underway.bytes += bytes;
  underway.requests += 1;
  try {
    return await fetch(url, { ...request, keepalive: true });
  } finally {
    underway.bytes -= bytes;
    underway.requests -= 1;
  }
}

/** At most so many bytes; null for a form, which is files. */
function sizeOf(body: RequestInit["body"]): number | null {
  if (typeof body === "string") return 3 * body.length;
  return body ? null : 0;
}
