// The one policy by which a URL becomes a script's: only files that were built with the board, from its own server.

type Policy = { createScriptURL(url: string): unknown };
type Factory = {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): Policy;
};

function own(url: string): string {
  const { origin, pathname, href } = new URL(url, location.href);
  const isBuilt = pathname === "/sw.js" || pathname.startsWith("/assets/");
  if (origin !== location.origin || !isBuilt) throw new TypeError(`${url} is no script of the board`);
  return href;
}

const factory = (globalThis as { trustedTypes?: Factory }).trustedTypes;
const policy: Policy = factory?.createPolicy("forge", { createScriptURL: own }) ?? { createScriptURL: own };

/** A URL for `new Worker` or for the service worker. Browsers without the policy get the checked text. */
export const scriptUrl = (url: string | URL) => policy.createScriptURL(String(url)) as string;
