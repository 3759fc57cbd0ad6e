import { describe, expect, test } from "vitest";
// The style sheet itself, not a copy of its numbers.
import css from "./tokens.css?raw";

function tokensOf(selector: string): Record<string, string> {
  const begin = css.indexOf(`${selector} {`);
  const block = css.slice(begin, css.indexOf("}", begin));
  return Object.fromEntries(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, hex]) => [name, hex]),
  );
}

const THEMES = { light: tokensOf(":root"), dark: tokensOf(':root[data-theme="dark"]') };

function luminance(hex: string) {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string) {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

const GROUNDS = ["page", "card", "sunken"];
/** What must be read, on what it stands. */
const TEXT: ReadonlyArray<readonly [text: string, grounds: readonly string[]]> = [
  [
    "text",
    [...GROUNDS, "accent-soft", "ask-soft", "fail-soft", "done-soft", "add", "add-word", "del", "del-word"],
  ],
  ["text-2", [...GROUNDS, "accent-soft"]],
  ["text-3", [...GROUNDS, "add", "del"]],
  ["accent", GROUNDS],
  ["on-accent", ["accent"]],
  ["on-ask", ["ask"]],
  ["ask-text", ["ask-soft"]],
  ["fail", [...GROUNDS, "fail-soft"]],
  ["done", [...GROUNDS, "done-soft"]],
  ...["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"].map(
    (colour) => [`ansi-${colour}`, ["sunken"]] as const,
  ),
];

describe.each(Object.entries(THEMES))("%s", (_, tokens) => {
  const ratio = (a: string, b: string) => {
    const [first, second] = [tokens[a], tokens[b]];
    if (!first || !second) throw new Error(`${first ? b : a} has no colour`);
    return contrast(first, second);
  };

  test.each(TEXT.flatMap(([text, grounds]) => grounds.map((ground) => [text, ground] as const)))(
    "%s can be read on %s",
    (text, ground) => expect(ratio(text, ground)).toBeGreaterThanOrEqual(4.5),
  );

  test.each(GROUNDS)("the edge of a field stands out from %s", (ground) => {
    expect(ratio("edge", ground)).toBeGreaterThanOrEqual(3);
  });

  test("the edge of what asks stands out from a card", () => {
    expect(ratio("ask-edge", "card")).toBeGreaterThanOrEqual(3);
  });
});

test("the ratios are those that were decided on", () => {
  const { light, dark } = THEMES;
  expect(contrast(light.text ?? "", light.page ?? "")).toBeCloseTo(16.7, 1);
  expect(contrast(light["text-3"] ?? "", light.sunken ?? "")).toBeCloseTo(5.2, 1);
  expect(contrast(dark.accent ?? "", dark.card ?? "")).toBeCloseTo(8.0, 1);
  expect(contrast(dark.done ?? "", dark["done-soft"] ?? "")).toBeCloseTo(4.9, 1);
});
