import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { INFO } from "./info";
import { Warnings } from "./Warnings";

function shown(info: unknown): string {
  const client = new QueryClient();
  client.setQueryData(INFO, info);
  return renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <Warnings />
    </QueryClientProvider>,
  );
}

it("each warning of the server is a line, and a server without any shows none", () => {
  const html = shown({ warnings: ["The database is damaged", "The disk is full"] });
  expect(html.match(/role="alert"/g)).toHaveLength(2);
  expect(html).toContain("The database is damaged");
  expect(shown({ warnings: [] })).toBe("");
  expect(shown({})).toBe("");
});
