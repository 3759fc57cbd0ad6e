import { expect, it } from "vitest";
import { changeOf, firstChanged } from "./change";

const DIFF = "--- a/x\n+++ b/x\n@@ -4,3 +4,4 @@\n same\n-old\n+new\n+newer\n end\n";

it("the lines of a unified diff have signs and the numbers they have now", () => {
  const { lines, added, deleted } = changeOf([
    { action: "edit", unified_diff: DIFF, has_line_numbers: true },
  ]);
  expect([added, deleted]).toEqual([2, 1]);
  expect(lines.map(({ sign, number, text }) => `${sign}${number ?? ""} ${text}`)).toEqual([
    " 4 same",
    "- old",
    "+5 new",
    "+6 newer",
    " 7 end",
  ]);
});

it("a written file is all added, and only so many changed lines are shown first", () => {
  const content = Array.from({ length: 30 }, (_, i) => `l${i}`).join("\n");
  const { lines, added } = changeOf([{ action: "write", content }]);
  expect(added).toBe(30);
  expect(firstChanged(lines, 12)).toHaveLength(12);
});

it("a deleted or renamed file says so", () => {
  expect(changeOf([{ action: "delete" }]).words).toBe("deleted");
  expect(changeOf([{ action: "rename", new_path: "b.ts" }]).words).toBe("renamed to b.ts");
});
