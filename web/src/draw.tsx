// Draws the board: the frame and the page of this address. Called once, by `main.ts`.

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { listenToKeys } from "./app/keys";

export function draw() {
  listenToKeys();
  const root = document.getElementById("root");
  if (root)
    createRoot(root).render(
      <StrictMode>
        <App />
      </StrictMode>,
    );
  // Neither is needed for the first look; what installs the board waits until there is nothing else to do.
  void import("./app/notify").then(({ startNotices }) => startNotices());
  whenIdle(() => void import("./app/install").then(({ install }) => install()));
}

const whenIdle = (act: () => void) =>
  // Not every browser tells.
  "requestIdleCallback" in window ? requestIdleCallback(act, { timeout: 2000 }) : setTimeout(act, 500);
