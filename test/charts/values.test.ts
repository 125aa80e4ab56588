import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { chart } from "../support/helm.ts";

interface Described {
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, Described>> | undefined;
}
const schema: z.ZodType<Described> = z.lazy(() =>
  z.object({ description: z.string().optional(), properties: z.record(z.string(), schema).optional() }),
);

/** Comments of values.yaml by the path of the value below them. Read line by line, unlike the generator of the schema. */
function commentsOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const path: string[] = [];
  let comment: string[] = [];
  for (const line of text.split("\n")) {
    const [, indent = "", hash, words = ""] = /^( *)(#)? ?(.*)$/.exec(line) ?? [];
    const [, name, rest = ""] = /^(\w+):(.*)$/.exec(words) ?? [];
    if (hash !== undefined) comment.push(words);
    else {
      if (name !== undefined) path.splice(indent.length / 2, path.length, name);
      const isGroup = indent === "" && rest === "";
      if (name !== undefined && comment.length > 0 && !isGroup) found.set(path.join("."), comment.join(" "));
      comment = [];
    }
  }
  return found;
}

const values = commentsOf(readFileSync(join(chart, "values.yaml"), "utf8"));
const root = schema.parse(JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8")));

it("describes each value in the schema by its comment in values.yaml", () => {
  const inSchema = (path: string): string | undefined =>
    path.split(".").reduce<Described | undefined>((at, name) => at?.properties?.[name], root)?.description;
  expect(values.size).toBeGreaterThan(100);
  expect(Object.fromEntries([...values.keys()].map((path) => [path, inSchema(path)]))).toEqual(Object.fromEntries(values));
});

it("has no value in the schema that values.yaml does not describe, except settings of the environment", () => {
  const described = (at: Described, path: string): readonly string[] =>
    at.description === undefined
      ? Object.entries(at.properties ?? {}).flatMap(([name, inner]) => described(inner, path === "" ? name : `${path}.${name}`))
      : [path];
  expect(described(root, "").toSorted()).toEqual([...values.keys()].toSorted());
});
