import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

/**
 * Words that once made this code hard to read, with what to write instead. A file that quotes one on purpose belongs into `quotes`.
 */
const unwanted: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(told|tells?|telling)\b/i, "reports, returns, logs, notifies or shows"],
  [/\b(nobody|whoever|somebody|anybody)\b/i, "the actor: owner, caller, client, runner"],
  [/\b(aside|anew|needless|for ever|reckon\w*|mend(s|ed)?)\b/i, "overflow, again, unnecessary, forever, compute, fix"],
  [/\bmeanwhile\b/i, "in the meantime"],
  [/\bmessage server\b/i, "NATS"],
  [/\bin good order\b/i, "gracefully"],
  // `mostAttachmentBytes` is a prop of a published component.
  [/\b(most(?!AttachmentBytes)|longest|largest)[A-Z]\w*/, "max…"],
];

const root = join(import.meta.dirname, "../..");
/** Not our prose: dependencies, data, user code, and this list. */
const skipped = /^(node_modules|\.|fixtures|test\/upgrade\/release|test\/docs\/language\.test\.ts)|\/(node_modules|golden|fixtures)\//;
/** A file that quotes such a word: the text of a component. */
const quotes: readonly string[] = ["registry/mail/component.ts"];

const files = readdirSync(root, { withFileTypes: true })
  .filter(({ name }) => !skipped.test(name))
  .flatMap((entry) =>
    entry.isDirectory()
      ? readdirSync(join(root, entry.name), { recursive: true, encoding: "utf8" }).map((file) => `${entry.name}/${file}`)
      : [entry.name],
  )
  .filter((file) => /\.(ts|md)$/.test(file) && !skipped.test(file) && !quotes.includes(file));

it("no file contains a word of the old dialect", () => {
  const found = files.flatMap((file) =>
    readFileSync(join(root, file), "utf8")
      .split("\n")
      .flatMap((line, index) =>
        unwanted.flatMap(([pattern, instead]) => {
          const [word] = pattern.exec(line) ?? [];
          return word === undefined ? [] : [`${file}:${index + 1} "${word}": write ${instead}`];
        }),
      ),
  );
  expect(found).toEqual([]);
});
