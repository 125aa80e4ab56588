import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { kinds } from "../../crds/kinds.ts";
import { registeredMetrics } from "./registered-metrics.ts";

/**
 * docs/operations.md documents each reason under the heading of its kind, and each metric. Method: words in capitals in the files
 * of a kind's folder that speak of reasons, names of metrics in the files that import prom-client; both are compared with the first
 * column of the page's tables, either way.
 */
const root = join(import.meta.dirname, "..", "..");
const page = readFileSync(join(root, "docs/operations.md"), "utf8");

const ourWords = ["Ready", "Reconciling", "Stalled", "True", "False", "Normal", "Warning"];
const kubernetesWords = ["CrashLoopBackOff", "Deployment", "OOMKilled", "Pending", "Pod", "PodScheduled", "ReplicaFailure"];
const noReasons = new Set([...ourWords, ...kubernetesWords, ...kinds.map(({ kind }) => kind)]);

describe("docs/operations.md", () => {
  it.each(kinds.map(({ kind }) => kind))("documents every reason of a %s and no other", (kind) => {
    expect(firstColumn(section(kind))).toEqual(reasonsOf(kind));
  });

  it("documents every metric and no other", () => {
    expect(firstColumn(section("Metrics"))).toEqual(metricNames());
  });

  it("documents every controller, named after its kind, and no other", () => {
    const [, listed = ""] = /^`controller` is ([\s\S]*?)\n\n/m.exec(section("Metrics")) ?? [];
    const named = sourcesBelow("operator").flatMap((text) =>
      [...text.matchAll(/(?:\.reconcile|\brow)\(\s*"([^"]+)"/g)].map(([, name = ""]) => name),
    );
    expect(sorted(listed.match(/(?<=`)[^`\s]+(?=`)/g) ?? [])).toEqual(sorted(named));
    expect(named).toEqual(expect.arrayContaining(kinds.map(({ kind }) => folderOf(kind))));
  });

  it("documents type and labels of each metric", async () => {
    const rows = (await ours()).map(
      ({ name, type, labels }) => `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ")}`,
    );
    expect(rows.filter((row) => !section("Metrics").includes(`${row.trimEnd()} |`))).toEqual([]);
  });

  it("lists every metric that a file registers", async () => {
    expect(sorted((await ours()).map(({ name }) => name))).toEqual(metricNames());
  });
});

const ours = async () => (await registeredMetrics()).filter(({ name }) => name.startsWith("headwater_"));

/** From a heading, of any level, to the next one. */
function section(heading: string): string {
  const found = new RegExp(`^#+ ${heading}\n([\\s\\S]*?)(?=^#|(?![\\s\\S]))`, "m").exec(page);
  if (found?.[1] === undefined) throw new Error(`docs/operations.md has no heading '${heading}'`);
  return found[1];
}

function firstColumn(text: string): readonly string[] {
  const cells = [...text.matchAll(/^\|([^|]*)\|/gm)].map(([, cell = ""]) => cell);
  return sorted(cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, word = ""]) => word)));
}

/** Folders that have reasons of several kinds. Those of `deployable` are about hooks, which only sources have. */
const sharedFolders: Readonly<Record<string, readonly string[]>> = { Source: ["configured", "deployable"], Workflow: ["configured"] };

/** Quoted words such as "NameTaken"; "NamespaceHasNoOwner" is written in one place for all kinds. */
function reasonsOf(kind: string): readonly string[] {
  const folders = [folderOf(kind), ...(sharedFolders[kind] ?? [])];
  const texts = folders.flatMap((folder) => sourcesBelow(`operator/${folder}`)).filter((text) => /reason/i.test(text));
  const words = texts.flatMap((text) => [...text.matchAll(/"([A-Z][A-Za-z]*[a-z][A-Za-z]*)"/g)].map(([, word = ""]) => word));
  const shared = texts.some((text) => text.includes("namespaceHasNoOwner(")) ? ["NamespaceHasNoOwner"] : [];
  return sorted([...words, ...shared].filter((word) => !noReasons.has(word)));
}

/** OAuth is one word. */
const folderOf = (kind: string): string =>
  kind
    .replace("OAuth", "Oauth")
    .replaceAll(/(?<!^)[A-Z]/g, "-$&")
    .toLowerCase();

function metricNames(): readonly string[] {
  const folders = ["api", "ingress", "operator", "builder", "runner", "delivery", "platform", "wiring"];
  const texts = folders.flatMap(sourcesBelow).filter((text) => text.includes('"prom-client"'));
  return sorted(texts.flatMap((text) => text.match(/(?<=")headwater_[a-z_]+(?=")/g) ?? []));
}

function sourcesBelow(folder: string): readonly string[] {
  const path = join(root, folder);
  if (!existsSync(path)) return [];
  const names = readdirSync(path, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  return names.map((name) => readFileSync(join(path, name), "utf8"));
}

const sorted = (words: readonly string[]): readonly string[] => [...new Set(words)].toSorted();
