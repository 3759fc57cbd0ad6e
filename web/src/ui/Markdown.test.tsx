import { renderToStaticMarkup } from "react-dom/server";
import { expect, it, vi } from "vitest";
import { Markdown } from "./Markdown";

// What says that something is copied asks the browser for its keys.
vi.hoisted(() => vi.stubGlobal("navigator", { platform: "" }));

const html = (text: string) => renderToStaticMarkup(<Markdown text={text} />).replace(/ class="[^"]*"/g, "");

it("a plain line is a paragraph, and what has signs is read", () => {
  expect(html("T=1794829590.080536 line 273")).toBe("<div><p>T=1794829590.080536 line 273</p></div>");
  expect(html("1. one")).toContain("<ol");
  expect(html("- one")).toContain("<ul");
  expect(html("see www.example.org: ok")).toContain("<a ");
  expect(html("**bold**")).toContain("<strong>");
});

it("code has a button to copy it, which is no part of it", () => {
  const [code = "", rest = ""] = html("```js\nlet a = 1;\n```").split("</pre>");
  expect(code).toContain('<pre data-language="js"><code>let a = 1;</code>');
  expect(code).not.toContain("<button");
  expect(rest).toContain('aria-label="Copy code"');
  // Nothing of it is selected with what stands around it.
  expect(rest.replace(/<[^>]*>/g, "")).toBe("");
});

it("html stays text, and a link that runs something is only its words", () => {
  expect(html("<img src=x onerror=alert(1)>")).not.toContain("<img");
  expect(html("[go](javascript:alert(1))")).not.toContain("<a");
});
