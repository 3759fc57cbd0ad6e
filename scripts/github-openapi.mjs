// Writes the part of GitHub's published OpenAPI description that Forge calls, for the tests of crates/hosts: the npm
// package `@octokit/openapi` (MIT) is too large to be kept here whole.
// With --check it writes nothing, and fails when the file is not what the package says.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PACKAGE = "@octokit/openapi@23.0.2";
const SHA256 = "71a18407dd5e8464f4e0525daf03deabbe65abd9287d6adc7b5d98f516cd0d0c";
const TARGET = new URL("../crates/hosts/tests/it/github.openapi.json", import.meta.url);
const OPERATIONS = [
  ["/user", "get"],
  ["/user/emails", "get"],
  ["/repos/{owner}/{repo}/pulls", "get"],
  ["/repos/{owner}/{repo}/pulls", "post"],
  ["/repos/{owner}/{repo}/pulls/{pull_number}", "get"],
  ["/repos/{owner}/{repo}/commits/{ref}/check-runs", "get"],
  ["/repos/{owner}/{repo}/commits/{ref}/status", "get"],
];

/** Fetches the package, or takes it from npm's cache, and reads the description in it. */
function description() {
  const directory = mkdtempSync(join(tmpdir(), "forge-openapi-"));
  try {
    const quiet = { cwd: directory, stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" };
    const packed = execFileSync("npm", ["pack", "--silent", "--prefer-offline", PACKAGE], quiet).trim();
    const archive = readFileSync(join(directory, packed.split("\n").at(-1)));
    const sum = createHash("sha256").update(archive).digest("hex");
    if (sum !== SHA256) throw new Error(`${PACKAGE} is not the one that was reviewed: ${sum}`);
    const name = "package/generated/api.github.com.json";
    execFileSync("tar", ["-xzf", packed.split("\n").at(-1), name], quiet);
    return JSON.parse(readFileSync(join(directory, name), "utf8"));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function extract(whole) {
  const lookUp = (value) =>
    value?.$ref ? value.$ref.slice(2).split("/").reduce((at, key) => at[key], whole) : value;
  const bare = (value) => {
    if (Array.isArray(value)) return value.map(bare);
    if (value === null || typeof value !== "object") return value;
    const kept = Object.entries(lookUp(value)).filter(([key]) => key !== "description" && key !== "example");
    return Object.fromEntries(kept.map(([key, inner]) => [key, bare(inner)]));
  };
  const json = (holder) => holder?.content?.["application/json"];
  const paths = {};
  for (const [path, method] of OPERATIONS) {
    const operation = whole.paths[path][method];
    const responses = Object.entries(operation.responses).map(([status, response]) => {
      const examples = Object.values(json(lookUp(response))?.examples ?? {});
      return [status, examples.length ? lookUp(examples[0]).value : null];
    });
    paths[path] ??= {};
    paths[path][method] = {
      operationId: operation.operationId,
      parameters: operation.parameters.map(bare),
      body: operation.requestBody ? bare(json(operation.requestBody).schema) : null,
      responses: Object.fromEntries(responses),
    };
  }
  return { from: PACKAGE, license: "MIT", paths };
}

const text = `${JSON.stringify(extract(description()), null, 1)}\n`;
if (process.argv.includes("--check")) {
  if (readFileSync(TARGET, "utf8") !== text) {
    console.error("crates/hosts/tests/it/github.openapi.json is not what the package says; run scripts/github-openapi.mjs");
    process.exit(1);
  }
} else {
  writeFileSync(TARGET, text);
}
