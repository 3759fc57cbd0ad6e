import { expect, test } from "vitest";
import type { Project } from "../api/types";
import { projectsByName } from "./projects";

const named = (...names: string[]) => ({
  projects: new Map(names.map((name, id) => [String(id), { id: String(id), name } as Project])),
});
const order = (...names: string[]) => projectsByName(named(...names)).map(({ name }) => name);

test("projects stand by name, whatever the case of their letters", () => {
  expect(order("web", "Api", "shop", "Shop-2")).toEqual(["Api", "shop", "Shop-2", "web"]);
});

test("names with other letters stand where their language has them", () => {
  expect(order("zoo", "Ärger", "boot")).toEqual(["Ärger", "boot", "zoo"]);
});
