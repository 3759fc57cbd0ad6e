// Names of branches, and how pull requests reach GitHub.

import { useQuery } from "@tanstack/react-query";
import { get } from "../api/client";
import type { CheckTokenResponse, Config } from "../api/types";
import { keyOf, queries } from "../app/queries";
import { Button } from "../ui/Button";
import { SecretSetting, TextSetting } from "./Setting";
import styles from "./Settings.module.css";
import { saveConfig } from "./saving";
import { WithConfig } from "./WithConfig";

const CHECK = keyOf.settings("github");

export function Git() {
  return (
    <WithConfig>
      {(config) => (
        <>
          <TextSetting
            label="Branch prefix"
            help={`An attempt's branch is called ${config.git_branch_prefix || "forge"}/…; branches that are there keep their names.`}
            value={config.git_branch_prefix}
            onSave={(value) => saveConfig({ git_branch_prefix: value.trim() })}
          />
          <h2>Pull requests</h2>
          <TextSetting
            label="Base branch of pull requests"
            value={config.github.default_pr_base ?? ""}
            onSave={(value) => saveGitHub({ default_pr_base: value.trim() || null })}
          />
          <SecretSetting
            label="GitHub token"
            what="token"
            help="It needs the scope repo. Without one, GH_TOKEN and `gh auth token` are asked. It is never shown again."
            isStored={Boolean(config.github.pat)}
            onSave={(pat) => saveGitHub({ pat })}
          />
          <TokenState hasToken={Boolean(config.github.pat || config.github.oauth_token)} />
        </>
      )}
    </WithConfig>
  );
}

async function saveGitHub(change: Partial<Config["github"]>) {
  await saveConfig({ github: change });
  void queries.invalidateQueries({ queryKey: CHECK });
}

/** Whether GitHub takes the token. It is asked only when a person presses the button. */
function TokenState({ hasToken }: { hasToken: boolean }) {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: CHECK,
    queryFn: ({ signal }) => get<CheckTokenResponse>("/auth/github/check", signal),
    enabled: false,
  });
  return (
    <div className={styles.line}>
      <Button
        busy={isFetching && "Checking"}
        disabled={!hasToken && "No token is stored."}
        onClick={() => void refetch()}
      >
        Check the token
      </Button>
      {!hasToken && <span>No token is stored.</span>}
      {hasToken && data && (
        <span role="status">{data === "VALID" ? "GitHub takes it." : "GitHub does not take it."}</span>
      )}
      {error && (
        <span role="alert" className={styles.problem}>
          {error.message}
        </span>
      )}
    </div>
  );
}
