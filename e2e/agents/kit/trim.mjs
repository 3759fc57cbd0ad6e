// Makes a fixture of a recording: what belongs to this machine gets plain names, and long lists and texts that no test
// looks at are cut.

/** Lists that a CLI tells at its start; two of each show the shape. */
const LISTS = new Set([
  "agents", "availableCommands", "availableModels", "commands", "models", "output_styles", "plugins", "skills",
  "slash_commands", "tools",
]);
const LONGEST = 2000;

/** `names` are pairs of a text of this machine and what stands for it, the more particular first. */
export function trimmed(lines, names) {
  const plain = (text) => {
    const named = names.reduce((all, [here, there]) => all.replaceAll(here, there), text);
    return named.length > LONGEST ? `${named.slice(0, LONGEST)}…` : named;
  };
  const walk = (value, key) => {
    if (typeof value === "string") return plain(value);
    if (Array.isArray(value)) return (LISTS.has(key) ? value.slice(0, 2) : value).map((one) => walk(one, key));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [plain(name), walk(inner, name)]));
  };
  return lines.map(({ dir, msg }) => ({ dir, msg: walk(msg) }));
}
