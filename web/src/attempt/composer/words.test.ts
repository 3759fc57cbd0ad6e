import { expect, it } from "vitest";
import { keyMeans, promptOf, sendWord } from "./words";

it("the button says what happens", () => {
  expect(sendWord("running")).toBe("Queue");
  expect(sendWord("waiting")).toBe("Queue");
  expect(sendWord("finished")).toBe("Send");
  expect(sendWord("limited")).toBe("Send");
});

it("Enter sends on a desktop and makes a new line on a phone", () => {
  const enter = { key: "Enter", shiftKey: false, isMod: false };
  expect(keyMeans(enter, "Enter", false)).toBe("send");
  expect(keyMeans(enter, "Enter", true)).toBeNull();
  expect(keyMeans(enter, "Mod+Enter", false)).toBeNull();
  expect(keyMeans({ ...enter, shiftKey: true }, "Enter", false)).toBeNull();
  expect(keyMeans({ ...enter, isMod: true }, "Mod+Enter", true)).toBe("send");
  expect(keyMeans({ ...enter, isMod: true, shiftKey: true }, "Enter", false)).toBe("send now");
});

it("pictures are named in the prompt", () => {
  expect(promptOf(" look \n", [{ name: "a[1].png", path: ".forge-images/x.png" }])).toBe(
    "look\n\n![a1.png](.forge-images/x.png)",
  );
});
