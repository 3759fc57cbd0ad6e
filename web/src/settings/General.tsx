// How the board looks and what the keys do, in this browser.

import { type Preferences, prefer, usePreferences } from "../app/preferences";
import { CheckSetting, ChoiceSetting } from "./Setting";

const keep = async (change: Partial<Preferences>) => prefer(change);

export function General() {
  const { theme, singleKeys, sendWith, diffColours } = usePreferences();
  return (
    <>
      <p>These are kept in this browser.</p>
      <ChoiceSetting
        label="Theme"
        value={theme}
        onSave={(value) => keep({ theme: value as Preferences["theme"] })}
        choices={[
          ["system", "As the system"],
          ["light", "Light"],
          ["dark", "Dark"],
        ]}
      />
      <CheckSetting
        label="Single-key shortcuts"
        help="Keys such as c and / without Ctrl. Switch them off if you speak to the computer or type with help."
        value={singleKeys}
        onSave={(value) => keep({ singleKeys: value })}
      />
      <ChoiceSetting
        label="Send a message with"
        value={sendWith}
        onSave={(value) => keep({ sendWith: value as Preferences["sendWith"] })}
        choices={[
          ["Enter", "Enter (Shift+Enter for a new line)"],
          ["Mod+Enter", "Ctrl+Enter (Enter for a new line)"],
        ]}
      />
      <ChoiceSetting
        label="Colours of a diff"
        help="Added and removed lines also carry + and −."
        value={diffColours}
        onSave={(value) => keep({ diffColours: value as Preferences["diffColours"] })}
        choices={[
          ["red-green", "Green and red"],
          ["blue-orange", "Blue and orange"],
        ]}
      />
    </>
  );
}
