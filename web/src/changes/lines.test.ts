import { expect, test } from "vitest";
import { compare, type Edit, linesOf, withoutSpace } from "./lines";
import { wordMarks } from "./words";

/** Plays the edits: what stays must be equal on both sides, and nothing may be left out. */
function check(before: readonly string[], after: readonly string[], edits: readonly Edit[]) {
  let [i, j] = [0, 0];
  for (const edit of edits) {
    if (edit.old !== i || edit.new !== j)
      throw new Error(`after ${i} and ${j} comes ${JSON.stringify(edit)}`);
    if (edit.kind === "same") {
      const isEqual = before.slice(i, i + edit.count).every((line, n) => line === after[j + n]);
      if (!isEqual) throw new Error(`lines ${i} and ${j} are not the same`);
      i += edit.count;
      j += edit.count;
    } else {
      i += edit.gone;
      j += edit.came;
    }
  }
  expect([i, j]).toEqual([before.length, after.length]);
}

const cost = (edits: readonly Edit[]) =>
  edits.reduce((sum, edit) => sum + (edit.kind === "change" ? edit.gone + edit.came : 0), 0);

/** The least number of lines that must go and come, by the plain table. */
function least(a: readonly string[], b: readonly string[]) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1)
      next.push(a[i - 1] === b[j - 1] ? (row[j - 1] ?? 0) : 1 + Math.min(row[j] ?? 0, next[j - 1] ?? 0));
    row = next;
  }
  return row[b.length];
}

test("lines end with a line end, and the last one does not begin another", () => {
  expect(linesOf(null)).toEqual([]);
  expect(linesOf("")).toEqual([]);
  expect(linesOf("a")).toEqual(["a"]);
  expect(linesOf("a\n\nb\n")).toEqual(["a", "", "b"]);
});

test("a line that came in the middle is one change", () => {
  expect(compare(["a", "b", "c"], ["a", "x", "b", "c"])).toEqual([
    { kind: "same", old: 0, new: 0, count: 1 },
    { kind: "change", old: 1, new: 1, gone: 0, came: 1 },
    { kind: "same", old: 1, new: 2, count: 2 },
  ]);
});

test("of short texts the edits are right and as few as can be", () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % below;
  };
  for (let round = 0; round < 400; round += 1) {
    const a = Array.from({ length: random(14) }, () => "abcde"[random(5)] ?? "a");
    const b = Array.from({ length: random(14) }, () => "abcde"[random(5)] ?? "a");
    const edits = compare(a, b);
    check(a, b, edits);
    expect(cost(edits)).toBe(least(a, b));
  }
});

test("a long text with many changes is compared rightly and soon", () => {
  const a = Array.from({ length: 20_000 }, (_, n) => (n % 7 === 0 ? "}" : `line ${n}`));
  const b = a.flatMap((line, n) => (n % 11 === 0 ? [] : n % 13 === 0 ? [`${line}!`, "new"] : [line]));
  const began = performance.now();
  const edits = compare(a, b);
  expect(performance.now() - began).toBeLessThan(5000);
  check(a, b, edits);
});

test("two texts with nothing in common are replaced, in little time", () => {
  const a = Array.from({ length: 30_000 }, (_, n) => `a${n % 100}`);
  const b = Array.from({ length: 30_000 }, (_, n) => `b${n % 100}`);
  const began = performance.now();
  const edits = compare(a, b);
  expect(performance.now() - began).toBeLessThan(5000);
  check(a, b, edits);
  expect(edits).toEqual([{ kind: "change", old: 0, new: 0, gone: 30_000, came: 30_000 }]);
});

test("without whitespace an indented line is the same line", () => {
  const edits = compare(["if (a) {", "b()", "}"], ["if  (a) {", "    b()", "}"], withoutSpace);
  expect(edits).toEqual([{ kind: "same", old: 0, new: 0, count: 3 }]);
});

test("words are marked where lines differ, and lines that share little have no marks", () => {
  const marks = wordMarks("const port = 80;", "const port = 8080;");
  expect(marks).toEqual({ before: [[13, 15]], after: [[13, 17]] });
  expect(wordMarks("return one", "throw new Error('two')")).toBeNull();
  expect(wordMarks("same", "same")).toEqual({ before: [], after: [] });
});
