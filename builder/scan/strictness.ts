import type { Message } from "esbuild";

/**
 * CommonJS is not strict in Node, and esbuild puts all modules of a bundle into one scope. What it writes as an ES module is strict, so it
 * refuses code there that strict code may not hold: `var package`, `with`, `delete x`.
 */
export const cannotBeStrict = ({ text }: Pick<Message, "text">): boolean => text.endsWith("due to strict mode");

const awaitAsName = 'Cannot use "await" as an identifier here';

/** Whether a sloppy module uses `await` as a name: esbuild would read it as a top-level await. */
export const usesAwaitAsName = ({ text }: Pick<Message, "text">): boolean => text.startsWith(awaitAsName);

/** Of the same length as `await`, so that columns stay what they are. */
const standIn = "$wait";

/** Renames variables called `await`; members and keys stay. */
export function withoutAwaitAsName(text: string): string {
  return text.replaceAll(/(?<![\w$.])await(?![\w$]|\s{0,100}:)/g, standIn);
}

export const isTopLevelAwait = ({ text }: Pick<Message, "text">): boolean => text.startsWith("Top-level await is currently not supported");
