// The fields of a task, and what becomes of them: saved as a wish, started at once, or changed.

import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { sentenceOf } from "../api/client";
import { sameList, useWorld } from "../api/world";
import { aboutAgents, likelyBase, likelyProfile, usualProfile, whyNotAll } from "../app/agents";
import { useAway } from "../app/away";
import { useInfo } from "../app/info";
import { shown } from "../app/keys";
import { say } from "../app/notices";
import { profileKey } from "../facts/agents";
import { projectsByName } from "../facts/projects";
import { Button } from "../ui/Button";
import { CheckField, SelectField } from "../ui/Field";
import { MentionArea } from "../ui/MentionArea";
import { Agents } from "./Agents";
import { BaseChoice } from "./BaseChoice";
import {
  fromPasted,
  isOvertaken,
  keepDraft,
  NO_DRAFT,
  type TaskDraft,
  type Words,
  withoutPicture,
} from "./draft";
import { Images, useImages } from "./Images";
import { canBranchOff, Memory, whyNoMemory } from "./Memory";
import { Risk } from "./Risk";
import { saveTask, saveWish, sayStarted, startNew } from "./save";
import styles from "./Task.module.css";

type Props = {
  project: string;
  task?: string;
  /** What the task that is changed reads now. */
  words?: Words;
  parent?: string;
  draftKey: string;
  begun: TaskDraft;
  onClose: () => void;
};

export function TaskForm({ project: first, task, words, parent, draftKey, begun, onClose }: Props) {
  const [project, setProject] = useState(first);
  const [draft, setDraft] = useState(begun);
  const { data: info } = useInfo();
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const [base, setBase] = useState<string | null>(likelyBase(first));
  const [keepsOpen, setKeepsOpen] = useState(false);
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const away = useAway();
  const titleBox = useRef<HTMLInputElement>(null);
  const promptBox = useRef<HTMLTextAreaElement>(null);
  // The words of an older task come after the dialog, which had nothing to give the focus to.
  useEffect(() => titleBox.current?.focus(), []);
  const projects = useWorld(projectsByName, sameList);
  const whole = useWorld((world) => (parent ? world.attempts.get(parent) : undefined));
  const partOf = useWorld((world) => (whole?.task_id ? world.tasks.get(whole.task_id)?.title : undefined));
  const [isRemembering, setRemembering] = useState(false);
  const isAside = whole?.project_id === project && canBranchOff(whole, info);
  const remembered = isAside && isRemembering ? whole : undefined;

  const change = (part: Partial<TaskDraft>) =>
    setDraft((before) => {
      const after = { ...before, ...part };
      keepDraft(draftKey, after);
      return after;
    });
  const images = useImages((image, reference) =>
    setDraft((before) => {
      const prompt = before.prompt + (before.prompt && !before.prompt.endsWith("\n") ? "\n" : "") + reference;
      const isThere = before.images.some(({ id }) => id === image.id);
      const after = { ...before, prompt, images: isThere ? before.images : [...before.images, image] };
      keepDraft(draftKey, after);
      return after;
    }),
  );

  const profiles = chosen ?? [likelyProfile(project, info) ?? ""];
  const noMemory = (agents: readonly string[]) => (remembered ? whyNoMemory(remembered, agents) : null);
  const notReady = whyNotAll(profiles, info) ?? noMemory(profiles);
  const isEmpty = draft.title.trim() === "";
  const whyNot = away ?? (images.isBusy ? "Images are still being uploaded." : null);

  const send = async (act: "save" | "start") => {
    if (busy) return;
    if (isEmpty) {
      setProblem("A task needs a title.");
      titleBox.current?.focus();
      return;
    }
    if (whyNot) return setProblem(whyNot);
    setProblem(null);
    setBusy(act === "start" ? "Starting" : "Saving");
    const about = { project, title: draft.title.trim(), prompt: draft.prompt, images: draft.images, parent };
    try {
      if (act === "start") {
        const agents = (chosen ?? [(await usualProfile(project)) ?? ""]).filter(Boolean);
        const why = whyNotAll(agents, await aboutAgents()) ?? noMemory(agents);
        if (why) throw new Error(why);
        sayStarted(agents, await startNew(about, agents, base, remembered?.id));
      } else if (task) {
        await saveTask(about, task);
        say("Saved.");
      } else {
        // What nobody chose is not kept, so that the wish goes along with what its project is started with by then.
        const isUsual = base === likelyBase(project);
        await saveWish(about, chosen?.[0] || undefined, (!isUsual && base) || undefined);
        say("Saved as a wish.");
      }
      keepDraft(draftKey, null);
      if (!keepsOpen) return onClose();
      setDraft(NO_DRAFT);
      titleBox.current?.focus();
    } catch (error) {
      setProblem(sentenceOf(error));
    }
    setBusy(null);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void send(task || event.shiftKey ? "save" : "start");
  };
  const takeFiles = (event: ClipboardEvent | DragEvent) => {
    const data = "clipboardData" in event ? event.clipboardData : event.dataTransfer;
    const files = [...data.files].filter((file) => file.type.startsWith("image/"));
    if (files.length === 0) return;
    event.preventDefault();
    images.add(files);
  };

  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        void send(task ? "save" : "start");
      }}
      onKeyDown={onKeyDown}
      onPaste={takeFiles}
      onDragOver={(event) => event.preventDefault()}
      onDrop={takeFiles}
    >
      <div className={styles.fields}>
        {!task && (
          <div className={styles.where}>
            <SelectField
              label="Project"
              value={project}
              onChange={(event) => {
                setProject(event.target.value);
                setChosen(null);
                setRemembering(false);
                setBase(likelyBase(event.target.value));
              }}
            >
              {projects.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </SelectField>
            {partOf && <p className={styles.partOf}>part of {partOf}</p>}
          </div>
        )}
        <input
          ref={titleBox}
          className={styles.title}
          aria-label="Title"
          placeholder="Title, or paste a whole prompt"
          data-autofocus
          maxLength={400}
          value={draft.title}
          onChange={(event) => change({ title: event.target.value })}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
            event.preventDefault();
            promptBox.current?.focus();
          }}
          onPaste={(event) => {
            const made = draft.title === "" ? fromPasted(event.clipboardData.getData("text/plain")) : null;
            if (!made) return;
            event.preventDefault();
            change({ title: made.title, prompt: draft.prompt || made.prompt });
          }}
        />
        <div className={styles.prompt}>
          <MentionArea
            ref={promptBox}
            project={project || null}
            offersAt="below"
            aria-label="What should be done"
            placeholder="What should be done? Markdown. @ inserts a file or snippet."
            rows={7}
            value={draft.prompt}
            onChange={(prompt) => change({ prompt })}
          />
        </div>
        <Images
          images={draft.images}
          pending={images.pending}
          onFiles={images.add}
          onRemove={({ id, path }) =>
            change({
              images: draft.images.filter((image) => image.id !== id),
              prompt: withoutPicture(draft.prompt, path),
            })
          }
          onDrop={images.drop}
        />
        {!task && (
          <>
            <div className={styles.choices}>
              <Agents profiles={profiles} onChange={setChosen} />
              <BaseChoice key={project} project={project} value={base} onChange={setBase} />
            </div>
            {isAside && (
              <Memory
                attempt={whole}
                isOn={isRemembering}
                why={noMemory(profiles)}
                onChange={(isOn) => {
                  setRemembering(isOn);
                  setChosen(isOn ? [profileKey(whole.executor_profile_id)] : null);
                  // One in the person's own checkout has no branch of its own.
                  setBase(isOn && !whole.in_place ? whole.branch : likelyBase(project));
                }}
              />
            )}
            <Risk project={project} profiles={profiles} />
          </>
        )}
        {words && isOvertaken(draft, words) && (
          <p className={styles.why} role="status">
            <span>
              The task was changed since you began. Saving puts your words in place of the newer ones.
            </span>
            <Button size="small" onClick={() => change({ ...words, basis: words })}>
              Take the newer words
            </Button>
          </p>
        )}
        {problem && (
          <p className={styles.problem} role="alert">
            {problem}
          </p>
        )}
      </div>
      <footer className={styles.foot}>
        {task ? (
          <>
            <span className={styles.space} />
            <Button
              onClick={() => {
                keepDraft(draftKey, null);
                onClose();
              }}
            >
              Cancel
            </Button>
            <Button kind="primary" submit busy={busy} hint={shown("Mod+Enter")} disabled={whyNot}>
              Save
            </Button>
          </>
        ) : (
          <>
            <CheckField
              label="Keep open for the next one"
              checked={keepsOpen}
              onChange={(event) => setKeepsOpen(event.target.checked)}
            />
            <span className={styles.space} />
            <Button busy={busy === "Saving" && busy} disabled={whyNot} onClick={() => void send("save")}>
              Save as wish
            </Button>
            <Button
              kind="primary"
              submit
              busy={busy === "Starting" && busy}
              hint={shown("Mod+Enter")}
              disabled={whyNot ?? notReady}
              onClick={(event) => {
                event.preventDefault();
                void send("start");
              }}
            >
              {profiles.length > 1 ? `Start ${profiles.length} attempts` : "Start"}
            </Button>
          </>
        )}
      </footer>
    </form>
  );
}
