import { expect, test } from "vitest";
import { anchor } from "./anchors";
import { foldedBecause, kindOf, ordered, spoken, treeOf } from "./files";
import { asWritten, composed, stands } from "./message";
import { compared, rowsOf } from "./rows";
import { changed as diff } from "./sample";

test("code comes first, tests second, and what a machine wrote last", () => {
  const files = ordered([
    diff("package-lock.json"),
    diff("src/a/deep.ts"),
    diff("test/a.test.ts"),
    diff("src/z.ts"),
    diff("README.md"),
  ]);
  expect(files.map((file) => file.path)).toEqual([
    "README.md",
    "src/z.ts",
    "src/a/deep.ts",
    "test/a.test.ts",
    "package-lock.json",
  ]);
  expect(treeOf(files).map((row) => (row.type === "file" ? row.file.path : row.words))).toEqual([
    "README.md",
    "src/",
    "src/z.ts",
    "src/a/",
    "src/a/deep.ts",
    "Tests",
    "test/",
    "test/a.test.ts",
    "Generated",
    "package-lock.json",
  ]);
  expect(kindOf("pkg/thing_test.go")).toBe("test");
  expect(kindOf("src/contest.ts")).toBe("code");
  expect(kindOf("web/app.min.js")).toBe("generated");
});

test("a file says what happened to it, and a long or generated one begins folded", () => {
  const [renamed, made, gone] = ordered([
    diff("a.ts", { oldPath: "b.ts", change: "renamed", additions: 0 }),
    diff("run.sh", { oldPath: null, oldMode: null, newMode: "100755", change: "added", additions: 500 }),
    diff("z.png", { newPath: null, oldPath: "z.png", change: "deleted", isBinary: true, newMode: null }),
  ]);
  expect(renamed && spoken(renamed)).toBe("a.ts, renamed from b.ts");
  expect(made && foldedBecause(made)).toBe("500 changed lines.");
  expect(gone?.about).toEqual(["deleted", "binary"]);
  const [lock] = ordered([diff("yarn.lock", { additions: 2405 })]);
  expect(lock && foldedBecause(lock)).toBe("Generated file, 2,405 lines.");
});

test("lines far from a change are folded, and shown step by step", () => {
  const before = Array.from({ length: 300 }, (_, n) => `line ${n}`);
  const after = before.with(150, "another");
  const both = compared(before.join("\n"), after.join("\n"), false);
  const rows = rowsOf(both, { isSplit: false, opened: new Map() });
  expect(rows.map((row) => row.type)).toEqual([
    "fold",
    ...["same", "same", "same", "gone", "came", "same", "same", "same"],
    "fold",
  ]);
  expect(rows[0]).toEqual({ type: "fold", at: 0, count: 147 });
  const more = rowsOf(both, { isSplit: false, opened: new Map([[0, 100]]) });
  expect(more[0]).toEqual({ type: "fold", at: 0, count: 47 });
  expect(more.length).toBe(rows.length + 100);
  const split = rowsOf(both, { isSplit: true, opened: new Map() });
  expect(split.filter((row) => row.type === "pair").length).toBe(1);
});

test("a comment goes where its line went, and is stale when the line is no more", () => {
  const comment = { line: 2, end_line: 3, quote: "const gained = 1;\nreturn gained;" };
  expect(anchor(comment, ["a", "const gained = 1;", "return gained;"])).toEqual({ line: 3, isStale: false });
  expect(anchor(comment, ["a", "b", "c", "const gained = 1;", "return gained;"])).toEqual({
    line: 5,
    isStale: false,
  });
  expect(anchor(comment, ["a", "const gained = 2;", "return gained;"])).toEqual({ line: 3, isStale: true });
  expect(anchor(comment, ["a"])).toEqual({ line: 1, isStale: true });
});

test("the message quotes the lines and says what the person wrote", () => {
  const said = {
    path: "src/a.ts",
    side: "new" as const,
    line: 4,
    end_line: 5,
    quote: "one\ntwo",
    text: "Why? ",
  };
  expect(composed([said])).toBe(
    "A comment on your changes:\n\n`src/a.ts`, lines 4 to 5:\n> one\n> two\n\nWhy?",
  );
});

test("what is being written counts as it reads now", () => {
  const place = { path: "a.ts", side: "new" as const, line: 1, quote: "one" };
  const [saved, other] = [
    { ...place, id: "1", text: "Why?" },
    { ...place, id: "2", text: "Hm." },
  ];
  const texts = (writing: typeof place & { id: string | null; text: string }) =>
    asWritten([saved, other], writing).map(({ text }) => text);
  expect(texts({ ...saved, text: "Why not?" })).toEqual(["Why not?", "Hm."]);
  expect(texts({ ...saved, text: " " })).toEqual(["Why?", "Hm."]);
  expect(texts({ ...place, id: null, text: "Third." })).toEqual(["Why?", "Hm.", "Third."]);
  expect(texts({ ...place, id: null, text: "" })).toEqual(["Why?", "Hm."]);
});

test("a changed message stands as long as it says what there is to say", () => {
  const place = { path: "a.ts", side: "new" as const, line: 1, quote: "one" };
  const [why, hm, third] = ["Why?", "Hm.", "Third."].map((text) => ({ ...place, text }));
  if (!why || !hm || !third) throw new Error("three comments");
  const edited = { of: [why, hm], text: "Both, please." };
  expect(stands(edited, [why, hm])).toBe(true);
  expect(stands(edited, [hm])).toBe(false);
  expect(stands(edited, [why, hm, third])).toBe(false);
  // Another tab sent the comments, so it was refused: that takes nobody's words away.
  const refused = { ...edited, isRefused: true };
  for (const written of [[why, hm], [hm], []]) expect(stands(refused, written)).toBe(true);
  expect(stands(refused, [hm, third])).toBe(false);
});
