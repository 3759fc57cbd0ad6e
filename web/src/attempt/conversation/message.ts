// What a person sent: its words, and the pictures beside them. Only what the server lists as a picture of the task is one, and it is
// shown from its own address there: whatever else is written as a picture stays words, so that no text makes the page
// fetch anything.

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useParams } from "wouter";
import { get } from "../../api/client";
import type { ImageResponse } from "../../api/types";
import { useWorld } from "../../api/world";
import { keyOf } from "../../app/queries";

export type Sent = { id: string; name: string };
export type Message = { text: string; pictures: readonly Sent[] };

type Listed = Pick<ImageResponse, "id" | "file_path" | "original_name">;

/** A picture as Markdown writes it. A worktree's path may have brackets in pairs. */
const WRITTEN = /!\[([^\]\n]*)\]\(((?:[^()\n]|\([^()\n]*\))+)\)/g;

const NONE: readonly Listed[] = [];

/** Takes a message of the attempt that is open apart. */
export function useMessage(content: string): Message {
  const { attempt = "" } = useParams();
  const task = useWorld((world) => world.attempts.get(attempt)?.task_id ?? null);
  // It belongs to the attempt, so that it is asked for again when something was sent.
  const { data = NONE } = useQuery({
    queryKey: keyOf.attempt(attempt, "pictures"),
    queryFn: ({ signal }) => get<ImageResponse[]>(`/images/task/${task}`, signal),
    enabled: task !== null && content.search(WRITTEN) >= 0,
  });
  return useMemo(() => messageOf(content, data), [content, data]);
}

/** The words of a message, and the pictures beside them. One within a sentence leaves its name there. */
export function messageOf(content: string, listed: readonly Listed[]): Message {
  const byFile = new Map(listed.map((image) => [fileOf(image.file_path), image]));
  const pictures = new Map<string, Sent>();
  const lines = content.split("\n").flatMap((line) => {
    let isFound = false;
    let isWithin = false;
    const words = line.replace(WRITTEN, (written, alt: string, path: string) => {
      const image = byFile.get(fileOf(path));
      if (!image) return written;
      const name = alt.trim() || image.original_name;
      pictures.set(image.id, { id: image.id, name });
      isFound = true;
      isWithin ||= line.trim() !== written;
      return name;
    });
    return isFound && !isWithin ? [] : [words];
  });
  const text = lines.join("\n").replace(/\n{3,}/g, "\n\n");
  return { text: (pictures.size > 0 ? text : content).trim(), pictures: [...pictures.values()] };
}

/** An agent is told where a picture is in its worktree; the file is named by what is in it, wherever it is. */
const fileOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
