// The settings of one profile as fields, which its agent's schema describes.

import { fieldsOf, type Profiles, readAs, shownAs, withSetting } from "./profile";
import { ChoiceSetting, TextSetting } from "./Setting";
import styles from "./Settings.module.css";

const SCHEMAS = import.meta.glob<Parameters<typeof fieldsOf>[0]>("../../../shared/schemas/*.json", {
  eager: true,
  import: "default",
});

type Props = {
  profiles: Profiles;
  agent: string;
  variant: string;
  onSave: (profiles: Profiles) => Promise<unknown>;
};

export function ProfileForm({ profiles, agent, variant, onSave }: Props) {
  const schema = SCHEMAS[`../../../shared/schemas/${agent.toLowerCase()}.json`];
  const settings = profiles.executors[agent]?.[variant]?.[agent] ?? {};
  return (
    <div className={styles.box}>
      {fieldsOf(schema ?? {}).map((field) => {
        const common = {
          label: wordsOf(field.name),
          help: field.about,
          value: shownAs(field, settings[field.name]),
          onSave: (text: string) =>
            onSave(withSetting(profiles, agent, variant, field.name, readAs(field, text))),
        };
        if (field.kind === "flag" || field.kind === "choice")
          return (
            <ChoiceSetting
              key={field.name}
              {...common}
              choices={[
                ["", "as the agent has it"],
                ...(field.kind === "flag" ? ["yes", "no"] : field.of).map((it) => [it, it] as const),
              ]}
            />
          );
        const isLong = field.kind !== "text" || field.name === "append_prompt";
        return (
          <TextSetting
            key={field.name}
            {...common}
            lines={isLong ? 2 : undefined}
            placeholder={
              field.kind === "words"
                ? "one a line"
                : field.kind === "variables"
                  ? "NAME=value, one a line"
                  : ""
            }
          />
        );
      })}
    </div>
  );
}

/** `append_prompt` as "Append prompt". */
const wordsOf = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
