// Where the page begins: the world, the socket and the keys are started once, then the frame is drawn.

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { live } from "./api/live";
import { takeToken } from "./api/token";
import { startWorld } from "./api/world";
import { App } from "./app/App";
import { lookAhead } from "./app/ahead";
import { listenToKeys } from "./app/keys";
import { followPreferences } from "./app/preferences";
import "./ui/base.css";

followPreferences();
listenToKeys();
// Nothing is asked of the server before it knows who asks.
void takeToken().then(() => {
  startWorld();
  lookAhead(location);
  live.start();
});
// Neither is needed for the first look.
void import("./app/notify").then(({ startNotices }) => startNotices());
void import("./app/install").then(({ install }) => install());

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
