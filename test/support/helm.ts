import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { keptRender } from "./kept-renders.ts";
import { reportMissing } from "./required-tools.ts";

const root = join(import.meta.dirname, "..", "..");
export const chart = join(root, "charts/headwater");

type Program = "helm" | "kubectl" | "kube-linter" | "prometheus" | "promtool";

/** Path of the program, below KUBEBUILDER_ASSETS or on PATH; undefined: tests that need it are skipped, visibly. */
export function findProgram(name: Program, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = [env["KUBEBUILDER_ASSETS"] ?? "", ...(env["PATH"] ?? "").split(delimiter)].filter((folder) => folder !== "");
  const found = folders.map((folder) => join(folder, name)).find(existsSync);
  if (found === undefined) reportMissing(`${name} was not found below KUBEBUILDER_ASSETS or on PATH`, env);
  return found;
}

/** The version of the chart, which is the default tag of the image. */
export const chartVersion = (): string => /^appVersion: (.+)$/m.exec(readFileSync(join(chart, "Chart.yaml"), "utf8"))?.[1] ?? "";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Helm to its end. @throws when it could not run, or a signal or the time limit ended it */
export function helm(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const program = helmPath();
  const options = { cwd: root, env: { ...process.env, ...env }, maxBuffer: 64 * 2 ** 20, timeout: 600_000 };
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === "number") resolve({ code, stdout, stderr });
      else reject(error);
    });
  });
}

function helmPath(): string {
  const program = findProgram("helm");
  if (program === undefined) throw new Error("helm was not found below KUBEBUILDER_ASSETS or on PATH");
  return program;
}

/**
 * The output of `helm template` for the release `headwater` in the namespace `headwater`. Each set of flags is rendered once for a version of
 * the chart. @throws with Helm's message
 */
export function render(...flags: readonly string[]): Promise<string> {
  return remembered(renders, flags.join("\n"), async () => {
    const args = ["template", "headwater", chart, "--namespace", "headwater", ...flags];
    const { code, stdout, stderr } = await keptRender(helmPath(), chart, flags, () => helm(args));
    if (code !== 0) throw new Error(stderr);
    return stdout;
  });
}

/** The objects of {@link render}. */
export async function renderObjects(...flags: readonly string[]): Promise<readonly Rendered[]> {
  return objectsOf(await render(...flags));
}

const rendered = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional(), annotations: z.record(z.string(), z.string()).optional() }),
});
export type Rendered = z.infer<typeof rendered>;

/** The objects of what Helm printed. Most documents are the same with other values, so each text is parsed once. */
export function objectsOf(text: string): readonly Rendered[] {
  return text.split(/^---$/m).flatMap((document) =>
    remembered(documents, document, () => {
      const value: unknown = parse(document);
      return value === null || value === undefined ? [] : [rendered.parse(value)];
    }),
  );
}

const renders = new Map<string, Promise<string>>();
const documents = new Map<string, readonly Rendered[]>();

function remembered<T>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key) ?? make();
  known.set(key, found);
  return found;
}
