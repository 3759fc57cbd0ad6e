import { expect, test } from "vitest";
import { languageOf, Painted } from "./highlight";

const painted = (path: string, text: string) => {
  const lines = text.split("\n");
  const language = languageOf(path);
  if (!language) return null;
  const paint = new Painted(lines, language);
  return lines.map((line, n) =>
    paint.line(n + 1).map(([from, to, kind]) => `${kind}:${line.slice(from, to)}`),
  );
};

test("comments, strings, numbers, keywords and calls are told apart", () => {
  expect(painted("a.ts", `const n = take("a \\" b", 4.5); // why`)).toEqual([
    ["keyword:const", "name:take", 'string:"a \\" b"', "number:4.5", "comment:// why"],
  ]);
});

test("a comment or a template goes on over lines, and a line can be asked for out of order", () => {
  const language = languageOf("x.rs");
  if (!language) throw new Error("no language");
  const paint = new Painted(["/* one", "let two", "*/ let x"], language);
  expect(paint.line(3)).toEqual([
    [0, 2, "comment"],
    [3, 6, "keyword"],
  ]);
  expect(paint.line(2)).toEqual([[0, 7, "comment"]]);
});

test("a sign inside a word begins no comment, and an unknown file has no colours", () => {
  expect(painted("a.sh", "echo a#b # c")).toEqual([["comment:# c"]]);
  expect(painted("notes.txt", "const")).toBeNull();
});

test("many lines are coloured soon", () => {
  const language = languageOf("a.js");
  if (!language) throw new Error("no language");
  const paint = new Painted(
    Array.from({ length: 20_000 }, () => "const a = take('b', 1); // c"),
    language,
  );
  const began = performance.now();
  expect(paint.line(20_000).length).toBe(5);
  expect(performance.now() - began).toBeLessThan(5000);
});
