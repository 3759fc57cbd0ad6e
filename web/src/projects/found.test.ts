import { expect, test } from "vitest";
import { nameOf, splitTyped, suggest } from "./found";

test("a lock file says how the packages are fetched, and only one of a kind counts", () => {
  expect(suggest(["package.json", "package-lock.json", "src"])).toEqual({
    setup: "npm ci",
    dev: 'npm run dev -- --port "$FORGE_DEV_PORT"',
    about: ["npm"],
  });
  expect(suggest(["package.json", "pnpm-lock.yaml"]).setup).toBe("pnpm install --frozen-lockfile");
});

test("a folder with two languages is set up for both", () => {
  expect(suggest(["Cargo.toml", "package.json"]).setup).toBe("npm install\ncargo fetch");
});

test("a folder that says nothing suggests nothing", () => {
  expect(suggest(["README.md"])).toEqual({ setup: "", dev: "", about: [] });
});

test("a typed path is a folder and the beginning of a name in it", () => {
  expect(splitTyped("/home/me/co")).toEqual({ folder: "/home/me", begin: "co" });
  expect(splitTyped("/home/me/")).toEqual({ folder: "/home/me", begin: "" });
  expect(splitTyped("/co")).toEqual({ folder: "/", begin: "co" });
  expect(splitTyped("co")).toEqual({ folder: "", begin: "co" });
  expect(nameOf("/home/me/shop-api/")).toBe("shop-api");
});
