// Makes the board installable: registers the service worker where the context is secure. Elsewhere it works without.

import { scriptUrl } from "../ui/trusted";
import { openOverlay } from "./overlays";

export const isInstallable = () => window.isSecureContext && "serviceWorker" in navigator;

/** Registers the worker; called once, by `draw.tsx`. */
export async function install() {
  // The app's shortcut "New task".
  if (location.pathname === "/" && location.search === "?new")
    openOverlay({ name: "new task", project: null });
  if (!isInstallable()) return;
  // Without it the board only loads anew each time; that is worth no message.
  await navigator.serviceWorker.register(scriptUrl("/sw.js")).catch(() => {});
  navigator.serviceWorker.addEventListener("message", (event: MessageEvent<{ to?: unknown }>) => {
    const to = event.data?.to;
    if (typeof to === "string" && to.startsWith("/")) history.pushState(null, "", to);
  });
}
