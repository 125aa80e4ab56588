import type { ReadStream } from "node:tty";

/** What a person can press while `hw dev` runs. */
export const keys = [
  { key: "r", does: "run now" },
  { key: "l", does: "last event again" },
  { key: "o", does: "open the endpoint" },
  { key: "q", does: "quit" },
] as const;
export type Key = (typeof keys)[number]["key"];

const isKey = (text: string): text is Key => keys.some(({ key }) => key === text);
const controlC = "\u0003";
const controlD = "\u0004";

/** Reads single keys of a terminal. Ctrl-C is a signal as always; end of input quits. @returns a function that gives the terminal back */
export function readKeys(input: ReadStream, onKey: (key: Key) => void): () => void {
  const onData = (chunk: Buffer): void => {
    for (const character of chunk.toString()) {
      if (character === controlC) process.kill(process.pid, "SIGINT");
      else if (character === controlD) onKey("q");
      else if (isKey(character.toLowerCase())) onKey(character.toLowerCase() as Key); // As just checked.
    }
  };
  input.setRawMode(true);
  input.resume();
  input.on("data", onData);
  return () => {
    input.off("data", onData);
    input.setRawMode(false);
    input.pause();
  };
}
