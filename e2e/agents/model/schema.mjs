// Small values that fit a JSON schema, for clients that ask for JSON about their own affairs.

export function sample(schema) {
  if (schema.enum) return schema.enum[0];
  const [variant] = schema.anyOf ?? schema.oneOf ?? [];
  if (variant) return sample(variant);
  switch (String(schema.type ?? "object").toLowerCase()) {
    case "object": {
      const properties = schema.properties ?? {};
      const wanted = schema.required ?? Object.keys(properties);
      return Object.fromEntries(wanted.map((key) => [key, sample(properties[key] ?? { type: "string" })]));
    }
    case "integer":
    case "number":
      return 1;
    case "boolean":
      return false;
    case "array":
      return [];
    default:
      return "sample";
  }
}
