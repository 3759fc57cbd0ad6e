import { expect, test } from "vitest";
import { parseJson, rangeOfLine } from "./json";

const words = (text: string) => parseJson(text).problem?.words;

test("JSON is read", () => {
  expect(parseJson('{"a": [1, -2.5e3, "x\\u00e9", {}, []], "b": null}').problem).toBeNull();
});

test("what is no JSON names its line and what should be there", () => {
  expect(words('{\n  "a": 1,\n  "b" 2\n}')).toBe('Line 3: there is "2" where ":" should be.');
  expect(words('{\n  "a": 1,\n')).toBe('Line 3: the text ends where a name in "…" should be.');
  expect(words('{\n  "a": tru\n}')).toBe('Line 2: there is "t" where a value should be.');
  expect(words('{\n  "a": 1\n  "b": 2\n}')).toBe('Line 3: there is "\\"" where "," or "}" should be.');
  expect(words('{\n  "a": "x\n}')).toBe(
    'Line 2: there is "\\"" where a text that ends in its own line should be.',
  );
  expect(words("[1] 2")).toBe('Line 1: there is "2" where the end should be.');
  expect(words("")).toBe("Line 1: the text ends where a value should be.");
});

test("a line is found in the text", () => {
  expect(rangeOfLine("a\nbcd\ne", 2)).toEqual([2, 5]);
});
