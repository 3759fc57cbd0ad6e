// The sections of the settings, in one list for the settings page and the palette.

export const SECTIONS = [
  { id: "general", words: "General" },
  { id: "agents", words: "Agents" },
  { id: "mcp", words: "MCP servers" },
  { id: "notifications", words: "Notifications" },
  { id: "editor", words: "Editor" },
  { id: "git", words: "Git" },
  { id: "snippets", words: "Snippets" },
  { id: "disk", words: "Disk" },
  { id: "trash", words: "Trash" },
  { id: "keys", words: "Keys" },
] as const;

export type SectionId = (typeof SECTIONS)[number]["id"];
