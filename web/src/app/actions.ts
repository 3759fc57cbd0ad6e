// Every action of the board, once: its words, its keys and where it works. The key dispatcher, the palette and the
// help page all read this table, so none of them can say something that is not so.

export type Scope = "everywhere" | "board" | "inbox" | "attempt" | "changes";

export type ActionId = keyof typeof ACTIONS;

export type Action = {
  words: string;
  scope: Scope;
  /** Each is one chord, or chords in a row divided by a blank: `g i`. `Mod` is Ctrl, or Cmd on a Mac. */
  keys: readonly string[];
  /** Works while the person types into a field, too. */
  whileTyping?: boolean;
  /** Not offered in the palette: it only makes sense under a finger. */
  keyOnly?: boolean;
};

const action = (
  scope: Scope,
  words: string,
  keys: string | readonly string[],
  more: Partial<Action> = {},
): Action => ({
  scope,
  words,
  keys: typeof keys === "string" ? [keys] : keys,
  ...more,
});

export const ACTIONS = {
  palette: action("everywhere", "Commands", "Mod+k", { whileTyping: true, keyOnly: true }),
  filter: action("everywhere", "Filter tasks", "/"),
  newTask: action("everywhere", "New task", "c"),
  help: action("everywhere", "Keys", "?"),
  goInbox: action("everywhere", "Go to the inbox", "g i"),
  goBoard: action("everywhere", "Go to the board of this project", "g b"),
  goAll: action("everywhere", "Go to all projects", "g a"),
  goSettings: action("everywhere", "Go to settings", "g s"),
  goNext: action("everywhere", "Go to the next thing that needs you", "g n"),
  previousAttempt: action("everywhere", "Previous attempt", "Alt+ArrowUp"),
  nextAttempt: action("everywhere", "Next attempt", "Alt+ArrowDown"),
  toggleRail: action("everywhere", "Fold the rail", "["),
  undo: action("everywhere", "Undo", "z"),
  addProject: action("everywhere", "Add a project", []),
  toggleTheme: action("everywhere", "Switch between light and dark", []),

  left: action("board", "Column to the left", ["ArrowLeft", "h"], { keyOnly: true }),
  right: action("board", "Column to the right", ["ArrowRight", "l"], { keyOnly: true }),
  up: action("board", "Card above", ["ArrowUp", "k"], { keyOnly: true }),
  down: action("board", "Card below", ["ArrowDown", "j"], { keyOnly: true }),
  first: action("board", "First card", "Home", { keyOnly: true }),
  last: action("board", "Last card", "End", { keyOnly: true }),
  peek: action("board", "Peek", "Space", { keyOnly: true }),
  startTask: action("board", "Start", "s"),
  moveTask: action("board", "Move to…", "m"),
  moveLeft: action("board", "Move one column to the left", "Shift+h"),
  moveRight: action("board", "Move one column to the right", "Shift+l"),
  moveUp: action("board", "Move up", "Shift+k"),
  moveDown: action("board", "Move down", "Shift+j"),
  cardMenu: action("board", "Actions of the card", ".", { keyOnly: true }),
  allowCard: action("board", "Allow", "a"),
  denyCard: action("board", "Deny", "d"),
  editTask: action("board", "Edit", "Shift+e"),
  replyTask: action("board", "Reply", "r"),
  selectTask: action("board", "Select", "x"),
  selectRange: action("board", "Select up to here", "Shift+x", { keyOnly: true }),
  duplicateTask: action("board", "Duplicate", []),
  subtask: action("board", "New subtask", []),
  archiveTask: action("board", "Archive", "e"),
  deleteTask: action("board", "Delete", "Delete"),
  stopTask: action("board", "Stop the agent", "Shift+i"),
  toggleView: action("board", "Board or list", "v"),
  showCancelled: action("board", "Show cancelled", []),

  inboxDown: action("inbox", "Next", ["j", "ArrowDown"], { keyOnly: true }),
  inboxUp: action("inbox", "Previous", ["k", "ArrowUp"], { keyOnly: true }),
  inboxOpen: action("inbox", "Open", "Enter", { keyOnly: true }),
  inboxAllow: action("inbox", "Allow", "a"),
  inboxDeny: action("inbox", "Deny", "d"),
  inboxDismiss: action("inbox", "Dismiss", "e"),
  inboxLater: action("inbox", "Later", "Shift+z"),
  inboxReply: action("inbox", "Reply", "r"),

  reply: action("attempt", "Reply", "r"),
  interrupt: action("attempt", "Interrupt the turn", "i"),
  stop: action("attempt", "Stop the agent", "Shift+i"),
  allow: action("attempt", "Allow", "a"),
  deny: action("attempt", "Deny", "d"),
  allowAlways: action("attempt", "Allow and remember", "Shift+a"),
  allowAll: action("attempt", "Allow all that wait…", []),
  foldTools: action("attempt", "Fold all tool calls", "t"),
  nextMark: action("attempt", "Next error or question", "e"),
  previousMark: action("attempt", "Previous error or question", "Shift+e"),
  find: action("attempt", "Find in this attempt", "f"),
  firstEntry: action("attempt", "Go to the beginning", "Home", { keyOnly: true }),
  followLog: action("attempt", "Follow the newest", "End", { keyOnly: true }),
  paneConversation: action("attempt", "Conversation", "1"),
  paneNeighbours: action("attempt", "Neighbours", "2"),
  paneChanges: action("attempt", "Changes", "3"),
  paneRuns: action("attempt", "Runs", "4"),
  panePreview: action("attempt", "Preview", "5"),
  togglePane: action("attempt", "Fold the right pane", "\\"),
  land: action("attempt", "Land: the next step", "Shift+m"),
  anotherAttempt: action("attempt", "Another attempt", []),
  compare: action("attempt", "Compare attempts", []),

  nextFile: action("changes", "Next file", "n"),
  previousFile: action("changes", "Previous file", "p"),
  nextHunk: action("changes", "Next change", "j", { keyOnly: true }),
  previousHunk: action("changes", "Previous change", "k", { keyOnly: true }),
  comment: action("changes", "Comment on the line", "c", { keyOnly: true }),
  sendComments: action("changes", "Send the comments to the agent", "Mod+Enter"),
  viewed: action("changes", "Mark the file as viewed", "v"),
  openEditor: action("changes", "Open in the editor", "o"),
  splitDiff: action("changes", "Unified or split", "u"),
  whitespace: action("changes", "Show or hide changes of whitespace", "w"),
} as const satisfies Record<string, Action>;

export const actionOf = (id: ActionId): Action => ACTIONS[id];

export const SCOPES: Record<Scope, string> = {
  everywhere: "Everywhere",
  board: "Board",
  inbox: "Inbox",
  attempt: "Attempt",
  changes: "Changes",
};
