// Images for a prompt: pasted, dropped or chosen, uploaded at once, each a chip with what became of it.

import { useRef, useState } from "react";
import { sentenceOf, upload } from "../api/client";
import type { ImageResponse } from "../api/types";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import styles from "./Task.module.css";

export type Image = { id: string; name: string; path: string };
type Pending = { key: number; name: string; problem: string | null };

let nextKey = 1;

/** Uploads what it is given. `added` gets each image with the words that refer to it in a prompt. */
export function useImages(added: (image: Image, reference: string) => void) {
  const [pending, setPending] = useState<readonly Pending[]>([]);
  const drop = (key: number) => setPending((all) => all.filter((it) => it.key !== key));
  const add = (files: Iterable<File>) => {
    for (const file of files) {
      if (!file.type.startsWith("image/")) continue;
      const key = nextKey++;
      const name = file.name || "image.png";
      setPending((all) => [...all, { key, name, problem: null }]);
      upload<ImageResponse>("/images/upload", file, name).then(
        (image) => {
          drop(key);
          added(
            { id: image.id, name: image.original_name, path: image.file_path },
            `![${bare(name)}](${image.file_path})`,
          );
        },
        (error) =>
          setPending((all) =>
            all.map((it) =>
              it.key === key ? { ...it, problem: `${name} was not uploaded: ${sentenceOf(error)}` } : it,
            ),
          ),
      );
    }
  };
  return { pending, add, drop, isBusy: pending.some(({ problem }) => !problem) };
}

const bare = (name: string) => name.replace(/[[\]()\\]/g, "");

type Props = {
  images: readonly Image[];
  pending: readonly Pending[];
  onFiles: (files: Iterable<File>) => void;
  onRemove: (image: Image) => void;
  onDrop: (key: number) => void;
};

export function Images({ images, pending, onFiles, onRemove, onDrop }: Props) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className={styles.images}>
      {images.map((image) => (
        <span key={image.id} className={styles.chip}>
          <img src={`/api/images/${image.id}/file`} alt={image.name} />
          <span>{image.name}</span>
          <Button
            kind="quiet"
            size="small"
            icon="close"
            label={`Remove ${image.name}`}
            onClick={() => onRemove(image)}
          />
        </span>
      ))}
      {pending.map(({ key, name, problem }) => (
        <span
          key={key}
          className={styles.chip}
          data-problem={problem ? true : undefined}
          role={problem ? "alert" : undefined}
        >
          <span>{problem ?? `${name}, uploading…`}</span>
          {problem && (
            <Button
              kind="quiet"
              size="small"
              icon="close"
              label={`Remove ${name}`}
              onClick={() => onDrop(key)}
            />
          )}
        </span>
      ))}
      <input
        ref={input}
        type="file"
        accept="image/*"
        multiple
        hidden
        aria-label="Images"
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
      <button type="button" className={styles.addImage} onClick={() => input.current?.click()}>
        <Icon name="image" size={14} /> Drop or paste images, or choose
      </button>
    </div>
  );
}
