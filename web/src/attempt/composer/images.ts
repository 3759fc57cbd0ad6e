// Pictures on their way to the server: each is uploaded when it is given, and says so when it was not taken.

import { useState } from "react";
import { sentenceOf, upload } from "../../api/client";
import type { ImageResponse } from "../../api/types";
import type { Picture } from "./words";

export type Uploading = { number: number; name: string; problem: string | null };

let next = 1;

export function useUploads(onDone: (image: Picture) => void) {
  const [pending, setPending] = useState<readonly Uploading[]>([]);
  const drop = (number: number) => setPending((list) => list.filter((it) => it.number !== number));
  const add = (files: Iterable<File>) => {
    for (const file of files) {
      if (!file.type.startsWith("image/")) continue;
      const number = next++;
      const name = file.name || "picture.png";
      setPending((list) => [...list, { number, name, problem: null }]);
      upload<ImageResponse>("/images/upload", file, name).then(
        (image) => {
          drop(number);
          onDone({ id: image.id, name: image.original_name, path: image.file_path });
        },
        (error) => {
          const problem = `${name} was not uploaded: ${sentenceOf(error)}`;
          setPending((list) => list.map((it) => (it.number === number ? { ...it, problem } : it)));
        },
      );
    }
  };
  return { pending, add, drop };
}
