// The help: every key there is.

import { Dialog } from "../ui/Dialog";
import { KeysTable } from "./KeysTable";
import styles from "./KeysTable.module.css";
import { usePreferences } from "./preferences";

export function KeysHelp({ onClose }: { onClose: () => void }) {
  const { singleKeys } = usePreferences();
  return (
    <Dialog title="Keys" width="wide" onClose={onClose}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box is reached by key. */}
      <div className={styles.dialog} tabIndex={0}>
        {!singleKeys && (
          <p>Single keys are switched off in Settings, General; those with Ctrl or Alt work.</p>
        )}
        <KeysTable />
      </div>
    </Dialog>
  );
}
