import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { isInOwnBox } from "./scroll-box";

type Box = { id?: string; tabIndex?: number; overflowY?: string; scrollHeight?: number };

/** Boxes within one another, the outermost first; the last one has the focus. */
const focusIn = (...boxes: Box[]) =>
  boxes.reduce<object | null>(
    (parentElement, box) => ({
      id: "",
      tabIndex: -1,
      overflowY: "visible",
      scrollHeight: 900,
      clientHeight: 300,
      ...box,
      parentElement,
    }),
    null,
  ) as HTMLElement;

const LOG: Box = { id: "log", tabIndex: 0, overflowY: "auto" };
const BOX: Box = { tabIndex: 0, overflowY: "auto" };

beforeEach(() => void vi.stubGlobal("getComputedStyle", (box: Box) => box));
afterEach(() => void vi.unstubAllGlobals());

it("Home and End belong to the diff, the raw log or the output that has the focus, or has it within", () => {
  expect(isInOwnBox(focusIn(BOX))).toBe(true);
  expect(isInOwnBox(focusIn(BOX, {}))).toBe(true);
  expect(isInOwnBox(focusIn(LOG, {}, BOX))).toBe(true);
});

it("they lead through the whole conversation from all else in it, and from where nothing scrolls", () => {
  expect(isInOwnBox(focusIn(LOG))).toBe(false);
  expect(isInOwnBox(focusIn(LOG, {}))).toBe(false);
  expect(isInOwnBox(focusIn(LOG, { ...BOX, scrollHeight: 300 }))).toBe(false);
  expect(isInOwnBox(focusIn({}))).toBe(false);
});

it("a column that only scrolls leaves them to its cards", () => {
  expect(isInOwnBox(focusIn({ overflowY: "auto" }, { tabIndex: 0 }))).toBe(false);
});
