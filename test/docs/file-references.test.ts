import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const files = globSync(["*/**/*.{ts,tsx,md}", "*.{ts,md}"], {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|generated|dist)$/.test(path),
});
const paths = new Set(files);
const names = new Set(files.map((path) => path.split("/").at(-1)));

const referencesIn = (text: string): readonly string[] => [...text.matchAll(/(?<![\w./*>-])[\w./-]*[\w-]\.tsx?\b/g)].map(([name]) => name);

const missingIn = (file: string, find: (line: string) => readonly string[], exists: (name: string) => boolean): readonly string[] =>
  readFileSync(join(root, file), "utf8")
    .split("\n")
    .flatMap((line, index) => find(line).flatMap((name) => (exists(name) ? [] : [`${file}:${index + 1} ${name}`])));

/** With dots at its start a name is relative, otherwise it is the end of a path. */
const existsFrom =
  (readme: string) =>
  (name: string): boolean =>
    name.startsWith(".") ? paths.has(normalize(join(dirname(readme), name))) : files.some((path) => `/${path}`.endsWith(`/${name}`));

it("READMEs of folders name files that are there", () => {
  const readmes = files.filter((file) => file.endsWith("/README.md") && !file.startsWith("docs/"));
  expect(readmes.flatMap((readme) => missingIn(readme, referencesIn, existsFrom(readme)))).toEqual([]);
});

/** Rooms with a README of their own: they have state, or steps to follow. All other rooms have a first comment. */
const roomsWithReadme = [
  "bench/figures",
  "bench/harness",
  "charts/headwater",
  "docs/decisions",
  "docs/examples/kubernetes",
  "operator/controller",
  "operator/runner-pool",
  "operator/source",
  "operator/workflow",
  "platform/jetstream",
  "platform/postgres",
  "platform/postgres/migrations",
  "runner/sandbox",
  "runner/sandbox/guest",
  "runner/sandbox/guest/node",
  "runner/sandbox/guest/web",
  "runner/workflow",
  "test/charts",
  "test/cluster",
  "test/console",
  "test/e2e",
  "test/sandbox",
  "test/support",
  "test/upgrade",
];

it("only top folders and rooms with state have READMEs", () => {
  const rooms = files.flatMap((file) => (/^[^/]+\/.*\/README\.md$/.test(file) ? [dirname(file)] : []));
  expect(rooms.toSorted()).toEqual(roomsWithReadme);
});

it("pages of docs name files that are there", () => {
  const pages = globSync("docs/*.md", { cwd: root });
  const folders = globSync("*/", { cwd: root }).map((folder) => folder.replace("/", ""));
  const pathsIn = (line: string): readonly string[] =>
    [...line.matchAll(/`([\w.-]+)(\/[\w./-]+\.(?:ts|tsx|mjs|md|yaml))`/g)].flatMap(([, top = "", rest = ""]) =>
      folders.includes(top) ? [`${top}${rest}`] : [],
    );
  expect(pages.flatMap((page) => missingIn(page, pathsIn, (path) => existsSync(join(root, path))))).toEqual([]);
});

it("comments name files that are there", () => {
  const code = files.filter((file) => /\.tsx?$/.test(file));
  const inComment = (line: string): readonly string[] => referencesIn(/(?:^\s*\*|\/\*\*|(?:^|\s)\/\/)\s.*/.exec(line)?.[0] ?? "");
  const missing = code.flatMap((file) => missingIn(file, inComment, (name) => names.has(name.split("/").at(-1))));
  expect(missing).toEqual([]);
});
