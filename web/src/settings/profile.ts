// Profiles as the server keeps them, and the fields of a form made from the schema of an agent.

/** `{"executors": {AGENT: {VARIANT: {AGENT: {setting: value}}}}}` */
export type Profiles = { executors: Record<string, Record<string, Record<string, Settings>>> };
export type Settings = Record<string, unknown>;

export type Kind =
  | { kind: "text" }
  | { kind: "flag" }
  | { kind: "words" }
  | { kind: "variables" }
  | { kind: "choice"; of: readonly string[] };
export type FieldOf = { name: string; about: string } & Kind;

type Schema = {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  $ref?: string;
  properties?: Record<string, Schema>;
  $defs?: Record<string, Schema>;
};

/** Those that come first; the rest by name. */
const FIRST = ["model", "approvals", "plan", "append_prompt", "base_command_override", "additional_params"];

/** The fields that a schema describes. */
export function fieldsOf(schema: Schema): FieldOf[] {
  const rank = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return Object.entries(schema.properties ?? {})
    .map(([name, property]) => ({
      name,
      about: property.description ?? "",
      ...kindOf(property, schema.$defs ?? {}),
    }))
    .sort((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name));
}

function kindOf(property: Schema, defs: Record<string, Schema>): Kind {
  const parts = [property, ...(property.anyOf ?? []), ...(property.oneOf ?? [])].flatMap((part) => {
    const named = part.$ref ? defs[part.$ref.replace("#/$defs/", "")] : undefined;
    return [part, ...(named ? [named, ...(named.anyOf ?? []), ...(named.oneOf ?? [])] : [])];
  });
  const has = (type: string) => parts.some((part) => [part.type].flat().includes(type));
  const choices = parts.flatMap((part) => part.enum ?? (part.const === undefined ? [] : [part.const]));
  const words = choices.filter((it) => typeof it === "string");
  if (words.length > 0) return { kind: "choice", of: words };
  if (has("boolean")) return { kind: "flag" };
  if (has("object")) return { kind: "variables" };
  if (has("string")) return { kind: "text" };
  if (has("array")) return { kind: "words" };
  return { kind: "text" };
}

/** A value as the field shows it. */
export function shownAs(field: FieldOf, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (field.kind === "flag") return value ? "yes" : "no";
  if (field.kind === "variables" && typeof value === "object")
    return Object.entries(value)
      .map(([name, it]) => `${name}=${it}`)
      .join("\n");
  if (Array.isArray(value)) return value.join(field.kind === "words" ? "\n" : " ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What was put into the field, as the value to keep; null takes it away. */
export function readAs(field: FieldOf, text: string): unknown {
  const lines = text.split("\n").map((line) => line.trim());
  if (text.trim() === "") return null;
  switch (field.kind) {
    case "flag":
      return text === "yes";
    case "words":
      return lines.filter(Boolean);
    case "variables":
      return Object.fromEntries(
        lines.filter(Boolean).map((line) => {
          const at = line.indexOf("=");
          return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
        }),
      );
    default:
      return text;
  }
}

/** The same profiles with one setting of a variant changed; null leaves it out. */
export function withSetting(
  { executors }: Profiles,
  agent: string,
  variant: string,
  name: string,
  value: unknown,
): Profiles {
  const { [name]: _, ...rest } = executors[agent]?.[variant]?.[agent] ?? {};
  const settings = value === null ? rest : { ...rest, [name]: value };
  return withVariant({ executors }, agent, variant, settings);
}

/** The same profiles with a variant put in; null takes it out. */
export function withVariant(
  { executors }: Profiles,
  agent: string,
  variant: string,
  settings: Settings | null,
): Profiles {
  const { [variant]: _, ...others } = executors[agent] ?? {};
  const variants = settings === null ? others : { ...executors[agent], [variant]: { [agent]: settings } };
  return { executors: { ...executors, [agent]: variants } };
}

/** A name as variants are written: `HIGH_EFFORT`. */
export const variantName = (typed: string) =>
  typed
    .trim()
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
