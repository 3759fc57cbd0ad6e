// Snippets: texts with a short name, which `@` inserts while writing.

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { get, post, put, remove, sentenceOf } from "../api/client";
import type { Tag } from "../api/types";
import { say, sayError } from "../app/notices";
import { keyOf, queries } from "../app/queries";
import { Button } from "../ui/Button";
import { TextArea, TextField } from "../ui/Field";
import { Failed, Loading } from "../ui/Nothing";
import { TextSetting } from "./Setting";
import styles from "./Settings.module.css";

const TAGS = keyOf.settings("tags");
const again = () => queries.invalidateQueries({ queryKey: TAGS });

export function Snippets() {
  const { data, error, refetch } = useQuery({
    queryKey: TAGS,
    queryFn: ({ signal }) => get<Tag[]>("/tags", signal),
  });
  if (error) return <Failed what="Snippets are" error={error} again={() => void refetch()} />;
  if (!data) return <Loading what="the snippets" />;
  return (
    <>
      <p>Type @ and a name while writing a task or a reply, and the text is put in.</p>
      <NewSnippet />
      {data.length === 0 && <p>No snippets yet.</p>}
      <ul className={styles.list} aria-label="Snippets">
        {data.map((tag) => (
          <li key={tag.id} aria-label={tag.tag_name}>
            <Snippet tag={tag} />
          </li>
        ))}
      </ul>
    </>
  );
}

function NewSnippet() {
  const [name, setName] = useState("");
  const [content, setContent] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const add = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      await post("/tags", { tag_name: name.trim().replace(/^@/, ""), content });
      await again();
      setName("");
      setContent("");
    } catch (error) {
      setProblem(sentenceOf(error));
    }
    setBusy(false);
  };
  const missing = !name.trim() || !content.trim();
  return (
    <form className={styles.box} onSubmit={add} aria-label="New snippet">
      <TextField
        label="Name"
        placeholder="careful"
        value={name}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setName(event.target.value)}
      />
      <TextArea
        label="Text"
        rows={3}
        placeholder="Run the tests before you say that you are done."
        value={content}
        problem={problem}
        onChange={(event) => setContent(event.target.value)}
      />
      <div className={styles.line}>
        <Button
          kind="primary"
          submit
          busy={isBusy && "Adding"}
          disabled={missing && "It needs a name and a text."}
        >
          Add snippet
        </Button>
      </div>
    </form>
  );
}

function Snippet({ tag }: { tag: Tag }) {
  const change = async (body: { tag_name?: string; content?: string }) => {
    await put(`/tags/${tag.id}`, body);
    await again();
  };
  const [problem, setProblem] = useState<string | null>(null);
  const drop = async () => {
    setProblem(null);
    try {
      await remove(`/tags/${tag.id}`);
      await again();
      say(`Snippet @${tag.tag_name} deleted`, {
        undo: () =>
          void post("/tags", { tag_name: tag.tag_name, content: tag.content }).then(again, sayError),
      });
    } catch (error) {
      setProblem(`@${tag.tag_name} is not deleted: ${sentenceOf(error)}`);
    }
  };
  return (
    <div className={styles.box}>
      <TextSetting label="Name" value={tag.tag_name} onSave={(value) => change({ tag_name: value.trim() })} />
      <TextSetting
        label="Text"
        lines={3}
        value={tag.content}
        onSave={(value) => change({ content: value })}
      />
      <div className={styles.line}>
        <Button size="small" label={`Delete snippet ${tag.tag_name}`} onClick={() => void drop()}>
          Delete
        </Button>
        {problem && (
          <span role="alert" className={styles.problem}>
            {problem}
          </span>
        )}
      </div>
    </div>
  );
}
