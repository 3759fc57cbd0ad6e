import { expect, test } from "vitest";
import { clock } from "./clock";

test("a time of day has two digits each, whatever the browser's language", () => {
  expect(clock(new Date(2026, 0, 1, 0, 5).getTime())).toBe("00:05");
  expect(clock(new Date(2026, 0, 1, 13, 50).toISOString())).toBe("13:50");
});
