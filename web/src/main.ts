// Where the page begins: what it shows is asked for at once, and what draws it comes meanwhile.

import { live } from "./api/live";
import { takeToken } from "./api/token";
import { startWorld } from "./api/world";
import { lookAhead } from "./app/ahead";
import { followPreferences } from "./app/preferences";
import { watchStyles } from "./app/styles";
import "./ui/base.css";

followPreferences();
watchStyles();
const drawing = import("./draw");
// Nothing is asked of the server before it knows who asks.
void takeToken().then(async () => {
  startWorld();
  live.start();
  await lookAhead(location);
  (await drawing).draw();
});
