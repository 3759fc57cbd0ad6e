import { expect, it } from "vitest";
import { joined, shownLine } from "./rawlog";

const out = (content: string) => ({ type: "STDOUT", content });

it("pieces become lines, also when a line comes in parts", () => {
  const first = joined([], [out("one\ntw")]);
  const lines = joined(first, [out("o\nthree"), out("!\n")]);
  expect(lines.map(shownLine)).toEqual(["one", "two", "three!"]);
  expect(lines.map((line) => line.number)).toEqual([1, 2, 3]);
});

it("an error does not go on in the middle of a line of output", () => {
  const lines = joined([], [out("a"), { type: "STDERR", content: "b\n" }]);
  expect(lines.map((line) => [shownLine(line), line.isError])).toEqual([
    ["a", false],
    ["b", true],
  ]);
});

it("empty lines stay", () => {
  expect(joined([], [out("a\n\nb\n")]).map(shownLine)).toEqual(["a", "", "b"]);
});
