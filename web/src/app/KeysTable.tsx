// All keys, by where they work, out of the one table of actions.

import { ACTIONS, type Action, SCOPES, type Scope } from "./actions";
import styles from "./KeysTable.module.css";
import { shown } from "./keys";

/** Keys of a text field, which are the field's own and no actions. */
const WRITING: ReadonlyArray<readonly [keys: string, words: string]> = [
  ["Enter", "Send (or Ctrl+Enter only: Settings, General)"],
  ["⇧Enter", "New line"],
  ["Ctrl+Enter", "Send, start or save"],
  ["Ctrl+⇧Enter", "Send now; save as a wish"],
  ["@", "Insert a file or a snippet"],
  ["Esc", "One step back; the text is kept"],
];

export function KeysTable() {
  const scopes = Object.entries(SCOPES) as Array<[Scope, string]>;
  return (
    <div className={styles.tables}>
      {scopes.map(([scope, words]) => (
        <Table
          key={scope}
          words={words}
          rows={Object.values<Action>(ACTIONS)
            .filter((action) => action.scope === scope && action.keys.length > 0)
            .map((action) => [action.keys.map(shown), action.words])}
        />
      ))}
      <Table words="Writing" rows={WRITING.map(([keys, words]) => [[keys], words])} />
    </div>
  );
}

function Table({ words, rows }: { words: string; rows: ReadonlyArray<[keys: string[], words: string]> }) {
  return (
    <table className={styles.table}>
      <caption>{words}</caption>
      <tbody>
        {rows.map(([keys, words]) => (
          <tr key={words}>
            <th scope="row">{words}</th>
            <td>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
