// Which news are told, and how. The browser's permission is asked for only by a click.

import { useState } from "react";
import type { Config } from "../api/types";
import { isInstallable } from "../app/install";
import { wayOf } from "../app/noticeRules";
import { notice } from "../app/notify";
import { prefer, usePreferences } from "../app/preferences";
import { playSound } from "../app/sound";
import { KINDS, type Kind } from "../facts/inbox";
import { Button } from "../ui/Button";
import { ChoiceSetting } from "./Setting";
import styles from "./Settings.module.css";
import { saveConfig } from "./saving";
import { WithConfig } from "./WithConfig";

const ABOUT: Record<Kind, string> = {
  approval: "An agent wants to do something",
  question: "An agent asks",
  plan: "A plan is ready",
  failed: "An attempt failed",
  conflict: "A rebase or merge has conflicts",
  stall: "An agent seems stuck",
  limit: "A usage limit was reached",
  finished: "An attempt of more than 2 min is ready for review",
};

export function Notifications() {
  return (
    <>
      <Permission />
      <Kinds />
      <WithConfig>{(config) => <Sound config={config} />}</WithConfig>
    </>
  );
}

function Permission() {
  const [permission, setPermission] = useState(() =>
    "Notification" in window ? Notification.permission : null,
  );
  if (!isInstallable() || permission === null)
    return (
      <p>
        This browser shows notices only on localhost or over TLS:{" "}
        <code>forge serve --tls-cert … --tls-key …</code>
      </p>
    );
  return (
    <div className={styles.line}>
      {permission === "default" && (
        <Button
          kind="primary"
          onClick={() => void Notification.requestPermission().then((it) => setPermission(it))}
        >
          Let this browser show notices
        </Button>
      )}
      {permission === "denied" && (
        <span>This browser was told not to show notices of Forge. Change that beside its address bar.</span>
      )}
      {permission === "granted" && (
        <>
          <span>This browser shows notices.</span>
          <Button
            onClick={() =>
              void notice("A notice of Forge", {
                body: "This is how one looks.",
                tag: "test",
                to: "/settings/notifications",
              })
            }
          >
            Show a test notice
          </Button>
        </>
      )}
    </div>
  );
}

function Kinds() {
  const { notices } = usePreferences();
  return (
    <div className={styles.wide}>
      <table className={styles.table}>
        <caption>Nothing is told about an attempt you are looking at. Kept in this browser.</caption>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Notice</th>
            <th scope="col">Sound</th>
          </tr>
        </thead>
        <tbody>
          {KINDS.map((kind) => {
            const way = wayOf(notices, kind);
            const set = (change: Partial<typeof way>) =>
              prefer({ notices: { ...notices, [kind]: { ...way, ...change } } });
            return (
              <tr key={kind}>
                <th scope="row">{ABOUT[kind]}</th>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Notice: ${ABOUT[kind]}`}
                    checked={way.browser}
                    onChange={(event) => set({ browser: event.target.checked })}
                  />
                </td>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Sound: ${ABOUT[kind]}`}
                    checked={way.sound}
                    onChange={(event) => set({ sound: event.target.checked })}
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Sound({ config: { notifications } }: { config: Config }) {
  const { sound_file } = notifications;
  return (
    <div className={styles.line}>
      <ChoiceSetting
        label="Sound"
        value={sound_file}
        onSave={(value) => saveConfig({ notifications: { sound_file: value } })}
        choices={[
          ["ABSTRACT_SOUND1", "Chime 1"],
          ["ABSTRACT_SOUND2", "Chime 2"],
          ["ABSTRACT_SOUND3", "Chime 3"],
          ["ABSTRACT_SOUND4", "Chime 4"],
          ["GENIE_NOTIFY1", "Bell 1"],
          ["GENIE_NOTIFY2", "Bell 2"],
          ["PHONE_VIBRATION", "Hum"],
        ]}
      />
      <Button icon="play" onClick={() => void playSound(sound_file)}>
        Play
      </Button>
    </div>
  );
}
