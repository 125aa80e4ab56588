import type { Readable } from "node:stream";

/** Of what a child writes to its standard error in its life, and of one piece of it: each piece is a line in the log. */
const maxCharacters = 32 * 1024;
const maxLine = 2_000;

export function readStderr(stderr: Readable | undefined, onText: (text: string) => void): void {
  let left = maxCharacters;
  stderr?.setEncoding("utf8").on("data", (text: string) => {
    if (left > 0) onText(text.slice(0, Math.min(left, maxLine)));
    left -= text.length;
  });
}
