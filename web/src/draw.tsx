// Draws the board: the frame and the page of this address. Called once, by `main.ts`.

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { listenToKeys } from "./app/keys";
import { startNotices } from "./app/notify";

export function draw() {
  listenToKeys();
  const root = document.getElementById("root");
  if (root)
    createRoot(root).render(
      <StrictMode>
        <App />
      </StrictMode>,
    );
  startNotices();
  whenIdle(installed);
}

/** What installs the board waits until there is nothing else to do. Where the server went away meanwhile, the next visit does. */
function installed() {
  import("./app/install").then(({ install }) => install()).catch(() => {});
}

const whenIdle = (act: () => void) =>
  // Not every browser tells.
  "requestIdleCallback" in window ? requestIdleCallback(act, { timeout: 2000 }) : setTimeout(act, 500);
