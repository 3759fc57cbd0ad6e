import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { watchHand } from "./follow";

/** A box of 300 px on 2000; `scrollTo` is the person's hand. */
function watched(isEndHere: () => boolean) {
  const box = Object.assign(new EventTarget(), { scrollTop: 0, scrollHeight: 2000, clientHeight: 300 });
  const told: boolean[] = [];
  const stop = watchHand(box as unknown as HTMLElement, (to) => void told.push(to), isEndHere);
  const scrollTo = (top: number) => {
    box.scrollTop = top;
    box.dispatchEvent(new Event("scroll"));
  };
  return { told, scrollTo, stop };
}

beforeEach(() => {
  vi.stubGlobal("addEventListener", () => {});
  vi.stubGlobal("removeEventListener", () => {});
  // Long after the last step up.
  vi.spyOn(performance, "now").mockReturnValue(60_000);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

it("who scrolls down to the end follows it", () => {
  const { told, scrollTo, stop } = watched(() => true);
  scrollTo(1000);
  expect(told).toEqual([]);
  scrollTo(1690);
  expect(told).toEqual([true]);
  stop();
});

it("the bottom of a part is no end to follow, until the last page has come", () => {
  let isEndHere = false;
  const { told, scrollTo, stop } = watched(() => isEndHere);
  scrollTo(1690);
  expect(told).toEqual([]);
  isEndHere = true;
  scrollTo(1700);
  expect(told).toEqual([true]);
  stop();
});
