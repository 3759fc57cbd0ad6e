import { expect, it } from "vitest";
import { cut, lastLine } from "./output";

it("short output is shown whole", () => {
  expect(cut("a\nb\n", false)).toEqual({ head: "a\nb", hidden: 0, tail: "" });
});

it("of long output the first 20 and last 80 lines are shown, and all when asked", () => {
  const text = Array.from({ length: 4412 }, (_, i) => `line ${i + 1}`).join("\n");
  const { head, hidden, tail } = cut(text, false);
  expect(hidden).toBe(4312);
  expect(head.split("\n").at(-1)).toBe("line 20");
  expect(tail.split("\n")[0]).toBe("line 4333");
  expect(cut(text, true).hidden).toBe(0);
});

it("a line that is too wide is cut and says so", () => {
  expect(cut("x".repeat(2600), false).head).toMatch(/x… 600 more characters$/);
});

it("the last line has no colours", () => {
  expect(lastLine("one\n\u001b[32m12 ok\u001b[0m\n\n")).toBe("12 ok");
});
