import { expect, test } from "vitest";
import codex from "../../../shared/schemas/codex.json";
import { fieldsOf, readAs, shownAs, variantName, withSetting, withVariant } from "./profile";

const fields = fieldsOf(codex);
const field = (name: string) => {
  const found = fields.find((it) => it.name === name);
  if (!found) throw new Error(name);
  return found;
};

test("the schema of an agent says what kind of field each setting is", () => {
  expect(fields[0]?.name).toBe("model");
  expect(field("plan").kind).toBe("flag");
  expect(field("additional_params").kind).toBe("words");
  expect(field("env").kind).toBe("variables");
  expect(field("base_command_override").kind).toBe("text");
  expect(field("sandbox")).toMatchObject({ kind: "choice", of: expect.arrayContaining(["workspace-write"]) });
});

test("what a field shows is what it reads", () => {
  for (const [name, value] of [
    ["plan", false],
    ["additional_params", ["--a b", "-c"]],
    ["env", { A: "1", B: "x=y" }],
    ["model", "gpt-5"],
    ["model", null],
  ] as const) {
    expect(readAs(field(name), shownAs(field(name), value))).toEqual(value);
  }
});

test("a setting is changed or left out, and nothing else is touched", () => {
  const before = { executors: { CODEX: { GENIE: { CODEX: { a: 1, b: 2 } } }, AMP: {} } };
  expect(withSetting(before, "CODEX", "GENIE", "a", null).executors.CODEX?.GENIE).toEqual({
    CODEX: { b: 2 },
  });
  expect(withSetting(before, "CODEX", "GENIE", "c", true).executors).toEqual({
    CODEX: { GENIE: { CODEX: { a: 1, b: 2, c: true } } },
    AMP: {},
  });
  expect(withVariant(before, "CODEX", "GENIE", null).executors.CODEX).toEqual({});
});

test("a variant's name is in capitals", () => {
  expect(variantName(" high effort! ")).toBe("HIGH_EFFORT");
});
