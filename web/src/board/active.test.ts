import { afterEach, expect, test, vi } from "vitest";
import { active, focusCard, giveFocus, setActive } from "./active";

afterEach(() => vi.unstubAllGlobals());

/** A link that cannot have the focus yet, and the frames that it waits for. */
function hidden() {
  const frames: Array<() => void> = [];
  vi.stubGlobal("document", { activeElement: null });
  vi.stubGlobal("requestAnimationFrame", (frame: () => void) => frames.push(frame));
  const link = { isConnected: true, focus: vi.fn() };
  return { link: link as unknown as HTMLElement, focus: link.focus, frames };
}

test("a card takes the focus as soon as it can have it", () => {
  const { link, focus, frames } = hidden();
  focusCard("moved");
  giveFocus("moved", link);
  expect([focus.mock.calls.length, active().wantsFocus]).toEqual([1, true]);
  vi.stubGlobal("document", { activeElement: link });
  frames.shift()?.();
  expect([focus.mock.calls.length, active().wantsFocus, frames.length]).toEqual([2, false, 0]);
});

test("a card that comes late takes the focus from nobody who has gone elsewhere", () => {
  const { link, focus, frames } = hidden();
  focusCard("moved");
  giveFocus("moved", link);
  setActive("other");
  frames.shift()?.();
  giveFocus("moved", link);
  expect([focus.mock.calls.length, active().card]).toEqual([1, "other"]);
});
