import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { Markdown } from "./Markdown";

const html = (text: string) => renderToStaticMarkup(<Markdown text={text} />).replace(/ class="[^"]*"/g, "");

it("a plain line is a paragraph, and what has signs is read", () => {
  expect(html("T=1794829590.080536 line 273")).toBe("<div><p>T=1794829590.080536 line 273</p></div>");
  expect(html("1. one")).toContain("<ol");
  expect(html("- one")).toContain("<ul");
  expect(html("see www.example.org: ok")).toContain("<a ");
  expect(html("**bold**")).toContain("<strong>");
});

it("html stays text, and a link that runs something is only its words", () => {
  expect(html("<img src=x onerror=alert(1)>")).not.toContain("<img");
  expect(html("[go](javascript:alert(1))")).not.toContain("<a");
});
