// Which editor opens a worktree or a file, on the server's machine or on this one.

import { ChoiceSetting, TextSetting } from "./Setting";
import { saveConfig } from "./saving";
import { WithConfig } from "./WithConfig";

export function Editor() {
  return (
    <WithConfig>
      {({ editor }) => {
        const save = (change: Partial<typeof editor>) => saveConfig({ editor: change });
        return (
          <>
            <ChoiceSetting
              label="Editor"
              value={editor.editor_type}
              onSave={(value) => save({ editor_type: value as typeof editor.editor_type })}
              choices={[
                ["VS_CODE", "VS Code"],
                ["CURSOR", "Cursor"],
                ["WINDSURF", "Windsurf"],
                ["INTELLI_J", "IntelliJ"],
                ["ZED", "Zed"],
                ["XCODE", "Xcode"],
                ["CUSTOM", "A command of yours"],
              ]}
            />
            {editor.editor_type === "CUSTOM" && (
              <TextSetting
                label="Command"
                help="The path is added at its end."
                placeholder="subl --new-window"
                value={editor.custom_command ?? ""}
                onSave={(value) => save({ custom_command: value.trim() || null })}
              />
            )}
            <h2>When the server is on another machine</h2>
            <TextSetting
              label="SSH host"
              help="Your editor opens the folder over SSH on this host, instead of on the server."
              placeholder="build.example.org"
              value={editor.remote_ssh_host ?? ""}
              onSave={(value) => save({ remote_ssh_host: value.trim() || null })}
            />
            <TextSetting
              label="SSH user"
              value={editor.remote_ssh_user ?? ""}
              onSave={(value) => save({ remote_ssh_user: value.trim() || null })}
            />
          </>
        );
      }}
    </WithConfig>
  );
}
