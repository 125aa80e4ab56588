import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

/**
 * Imports point inward: `domain ◀ crds ◀ platform`; a role imports domain and crds and itself, never another role;
 * only what wires takes values from platform. See CONTRIBUTING.
 */
const root = join(import.meta.dirname, "..");
const roles = ["api", "ingress", "operator", "builder", "runner", "delivery"];
const inner = ["domain", "crds"];

interface Rule {
  /** Folders whose values may be imported, besides one's own. */
  readonly values: readonly string[];
  /** Folders whose types may be imported as well. */
  readonly types: readonly string[];
}

const rules: Readonly<Record<string, Rule>> = {
  domain: { values: [], types: [] },
  crds: { values: ["domain"], types: [] },
  // Adapters implement the ports that roles declare.
  platform: { values: inner, types: roles },
  ...Object.fromEntries(roles.map((role) => [role, { values: inner, types: [] }])),
  // Programs that know the service only by its REST API.
  client: { values: [], types: [] },
  cli: { values: ["client"], types: [] },
  console: { values: ["client"], types: [] },
};

/** Layers of api, each of which imports only those before it. A new folder needs a place in this order. */
const apiLayers: readonly (readonly string[])[] = [
  ["ports.ts", "configure-ports.ts", "config.ts"],
  ["http"],
  ["openapi", "resources", "streams"],
  ["context.ts"],
  ["list-operations.ts"],
  ...[
    "owners",
    "apps",
    "oauth-clients",
    "connections",
    "accounts",
    "keys",
    "organizations",
    "namespaces",
    "audit",
    "components",
    "variables",
    "data-stores",
    "subscriptions",
    "sources",
    "webhooks",
  ].map((folder) => [folder]),
  ...[
    "configuration",
    "packages",
    "connectors",
    "deliveries",
    "events",
    "runs",
    "replays",
    "traces",
    "search",
    "workflows",
    "metrics",
    "admin",
    "console",
  ].map((folder) => [folder]),
  ["operations.ts"],
  ["app.ts"],
  ["start.ts"],
];

/** Folders side by side that import each other, sorted. A further pair fails: move the type or function to the folder in which it belongs. */
const mutualFolders: readonly string[] = [];

/** Entry points of processes of their own: they wire what runs in them. */
const entryPoints = ["runner/sandbox/children/child.ts"];

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

const files = ["main.ts", ...[...Object.keys(rules), "wiring", "scripts", "bench"].flatMap(sourcesBelow)];
const imports = files.flatMap(importsOf);
const local = imports.filter(({ to }) => !to.startsWith("npm:"));

describe("architecture", () => {
  it.each(Object.entries(rules))("%s imports only what lies further in", (folder, rule) => {
    const wrong = local.filter(({ from, to, typeOnly }) => {
      const target = folderOf(to);
      const allowed = target === folder || rule.values.includes(target) || (typeOnly && rule.types.includes(target));
      return folderOf(from) === folder && !allowed && !entryPoints.includes(from);
    });
    expect(wrong.map(describeImport)).toEqual([]);
  });

  it("keeps domain pure: no Node, nothing that reaches out", () => {
    const pure = ["npm:acorn", "npm:croner", "npm:zod", "npm:nanoid", "npm:ipaddr.js"];
    const wrong = imports.filter(({ from, to }) => folderOf(from) === "domain" && to.startsWith("npm:") && !pure.includes(to));
    expect(wrong.map(describeImport)).toEqual([]);
  });

  it("keeps domain pure: only its clock reads the time, and only retry.ts waits and is random", () => {
    const impure = files.filter(
      (file) => folderOf(file) === "domain" && /\b(Date\.now|performance\.now|Math\.random|setTimeout|setInterval)\(/.test(textOf(file)),
    );
    expect(impure).toEqual(["domain/clock.ts", "domain/retry.ts"]);
  });

  it("loads the Kubernetes client only where a cluster is looked for: it costs 90 MB", () => {
    const loading = files.filter((file) => /^(?:import|export)\s+(?!type\s)[^;"'`(]*?"@kubernetes\//m.test(textOf(file)));
    expect(loading).toEqual([]);
  });

  it("keeps the guest apart: it imports nothing of the host", () => {
    const guest = "runner/sandbox/guest/";
    const wrong = local.filter(({ from, to, typeOnly }) => from.startsWith(guest) && !to.startsWith(guest) && !typeOnly);
    expect(wrong.map(describeImport)).toEqual([]);
  });

  it("requires only files that exist: the compiler does not look for those of the guest's require", () => {
    const required = files.flatMap((from) =>
      [...textOf(from).matchAll(/\brequire\("(\.[^"]+)"\)/g)].map(([, to = ""]) => join(dirname(from), to)),
    );
    expect(required.length).toBeGreaterThan(50);
    expect(required.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it("keeps the order of the runner's rooms: intake, schedule, run, commit", () => {
    const rooms = ["intake", "schedule", "run", "commit"];
    const roomOf = (file: string): number => (file.startsWith("runner/") ? rooms.indexOf(file.split("/")[1] ?? "") : -1);
    const wrong = local.filter(({ from, to }) => roomOf(to) >= 0 && roomOf(from) > roomOf(to));
    expect(wrong.map(describeImport)).toEqual([]);
  });

  it("keeps the layers of api: imports never climb", () => {
    const wrong = local.filter(({ from, to }) => folderOf(from) === "api" && folderOf(to) === "api" && !isLower(to, from));
    expect(wrong.map(describeImport)).toEqual([]);
  });

  it("has no import cycles, not even of types", () => {
    expect(cyclesOf(local)).toEqual([]);
  });

  it("has rooms of operator that import in one direction only", () => {
    const rooms = local
      .filter(({ from, to }) => folderOf(from) === "operator" && folderOf(to) === "operator")
      .map(({ from, to }) => ({ from: roomOf(from), to: roomOf(to) }))
      .filter(({ from, to }) => from !== to);
    expect(cyclesOf(rooms)).toEqual([]);
  });

  it("has rooms of delivery that declare what they need: they do not import the ports of the whole role", () => {
    const wrong = local.filter(({ from, to }) => /^delivery\/.+\//.test(from) && to === "delivery/ports.ts");
    expect(wrong.map(describeImport)).toEqual([]);
  });

  it("has no further folders that import each other", () => {
    const pairs = [...mutualImports()];
    const further = pairs
      .filter(([pair]) => !mutualFolders.includes(pair))
      .map(([pair, by]) => `${pair} import each other: ${by.join(", ")}`);
    expect(further).toEqual([]);
    const straight = mutualFolders.filter((pair) => !pairs.some(([found]) => found === pair));
    expect(straight, "these no longer import each other: remove them from mutualFolders").toEqual([]);
  });

  it("has no file above 300 lines", () => {
    const long = files
      .filter((file) => !file.startsWith("client/generated/"))
      .map((file) => ({ file, lines: textOf(file).split("\n").length }))
      .filter(({ lines }) => lines > 301);
    expect(long).toEqual([]);
  });

  it("names files in kebab-case", () => {
    expect(files.filter((file) => !/^[a-z0-9.-]+\.tsx?$/.test(file.slice(file.lastIndexOf("/") + 1)))).toEqual([]);
  });
});

function sourcesBelow(folder: string): string[] {
  try {
    const entries = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
    return entries.filter((name) => /\.tsx?$/.test(name) && !name.includes("node_modules")).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

/** One expression for `import … from "x"`, `export … from "x"`, `import "x"` and `import("x")`, each at the start of a statement or expression. */
function importsOf(file: string): Import[] {
  const pattern = /^(?:import|export)\s+(type\s)?[^;"'`]*?from\s*"([^"]+)"|^import\s*"([^"]+)"|\bimport\("([^"]+)"\)/gm;
  return [...textOf(file).matchAll(pattern)].map(([, type, from, bare, lazy]) => {
    const specifier = from ?? bare ?? lazy ?? "";
    return { from: file, to: targetOf(file, specifier), typeOnly: type !== undefined };
  });
}

function targetOf(file: string, specifier: string): string {
  return specifier.startsWith(".") ? relative(root, join(root, dirname(file), specifier)) : `npm:${specifier}`;
}

/** Ports are the lowest layer in every folder of api. */
function apiLayerOf(file: string): number {
  const [, room = "", ...rest] = file.split("/");
  const name = rest.at(-1) === "ports.ts" ? "ports.ts" : room;
  return apiLayers.findIndex((layer) => layer.includes(name));
}

function isLower(to: string, from: string): boolean {
  const [lower, upper] = [apiLayerOf(to), apiLayerOf(from)];
  const isSameFolder = to.split("/")[1] === from.split("/")[1];
  return lower >= 0 && (lower < upper || (lower === upper && (isSameFolder || lower === 0)));
}

const folderOf = (file: string): string => file.split("/")[0] ?? "";
const describeImport = ({ from, to, typeOnly }: Import): string => `${from} imports ${typeOnly ? "types of " : ""}${to}`;

/** Pairs of folders with the same parent that import each other, and up to three imports of each direction. */
function mutualImports(): Map<string, readonly string[]> {
  const between = new Map<string, Import[]>();
  for (const found of local) {
    const [from, to] = [dirname(found.from).split("/"), dirname(found.to).split("/")];
    const level = from.findIndex((folder, index) => folder !== to[index]);
    if (level < 1 || to[level] === undefined) continue;
    const pair = [from, to].map((path) => path.slice(0, level + 1).join("/")).toSorted();
    const key = pair.join(" and ");
    between.set(key, [...(between.get(key) ?? []), found]);
  }
  const mutual = new Map<string, readonly string[]>();
  for (const [pair, found] of between) {
    const [first = ""] = pair.split(" and ");
    const [forth, back] = [
      found.filter(({ from }) => from.startsWith(`${first}/`)),
      found.filter(({ from }) => !from.startsWith(`${first}/`)),
    ];
    if (forth.length > 0 && back.length > 0) mutual.set(pair, [...forth.slice(0, 3), ...back.slice(0, 3)].map(describeImport));
  }
  return mutual;
}

/** A file of the first level is a room of its own. */
const roomOf = (file: string): string => (file.split("/").length === 2 ? file : dirname(file));

/** Depth first; a place met again while it is still on the path closes a cycle. */
function cyclesOf(edges: readonly { readonly from: string; readonly to: string }[]): string[] {
  const next = Map.groupBy(edges, ({ from }) => from);
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (place: string, path: readonly string[]): void => {
    if (path.includes(place)) found.push([...path.slice(path.indexOf(place)), place].join(" → "));
    else if (!done.has(place)) for (const { to } of next.get(place) ?? []) visit(to, [...path, place]);
    done.add(place);
  };
  for (const place of next.keys()) visit(place, []);
  return found;
}
