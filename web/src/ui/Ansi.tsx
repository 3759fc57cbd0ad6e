// Output of a terminal as text with colours. Only colour, weight and underline are taken; everything else that a
// terminal would obey is dropped.

import Anser from "anser";
import { memo } from "react";

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

export const Ansi = memo(function Ansi({ text }: { text: string }) {
  if (!text.includes("\u001b")) return <>{text}</>;
  return (
    <>
      {Anser.ansiToJson(text, { use_classes: true, remove_empty: true }).map((piece, index) => {
        const colour = colourOf(piece.fg);
        const isBold = piece.decorations?.includes("bold");
        const isUnderlined = piece.decorations?.includes("underline");
        const text = piece.content.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "");
        if (!colour && !isBold && !isUnderlined) return text;
        return (
          <span
            key={index}
            style={{
              color: colour,
              fontWeight: isBold ? 600 : undefined,
              textDecoration: isUnderlined ? "underline" : undefined,
            }}
          >
            {text}
          </span>
        );
      })}
    </>
  );
});

function colourOf(name: string | null | undefined) {
  const plain = name?.replace(/^ansi-(bright-)?/, "");
  return plain && NAMES.includes(plain) ? `var(--ansi-${plain})` : undefined;
}
