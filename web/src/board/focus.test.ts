import { expect, test } from "vitest";
import { afterLeaving, neighbour } from "./focus";

const board = [["a", "b", "c"], [], ["d"], ["e", "f"]];

test("the focus goes up and down in a column and stops at its ends", () => {
  expect(neighbour(board, "a", "down")).toBe("b");
  expect(neighbour(board, "c", "down")).toBe("c");
  expect(neighbour(board, "a", "up")).toBe("a");
  expect(neighbour(board, "b", "first")).toBe("a");
  expect(neighbour(board, "a", "last")).toBe("c");
});

test("sideways it passes empty columns and keeps its height", () => {
  expect(neighbour(board, "c", "right")).toBe("d");
  expect(neighbour(board, "b", "left")).toBe("b");
  expect(neighbour(board, "f", "left")).toBe("d");
});

test("without a focus, or with one that has gone, it begins at the first card", () => {
  expect(neighbour(board, null, "down")).toBe("a");
  expect(neighbour(board, "gone", "up")).toBe("a");
  expect(neighbour([[], []], null, "down")).toBe(null);
});

test("a card that leaves gives the focus to the next one", () => {
  expect(afterLeaving(board, "b")).toBe("c");
  expect(afterLeaving(board, "c")).toBe("b");
  expect(afterLeaving(board, "d")).toBe(null);
});
