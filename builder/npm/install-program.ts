import { LimitExceeded, InvalidInput } from "../../domain/errors.ts";
import type Arborist from "@npmcli/arborist";
import type { ArboristOptions, ArboristTree } from "@npmcli/arborist";
import type { BuildLimits } from "../limits.ts";
import type { NpmConfig } from "./config.ts";
import { failureFields } from "./failure-fields.ts";
import { omitted, vetTree } from "./vet.ts";

/** The input of the program, sent once. */
export interface InstallOrder {
  /** Holds the package.json, and perhaps the package-lock.json. */
  readonly directory: string;
  readonly npm: NpmConfig;
  readonly cache: string;
  readonly limits: BuildLimits;
}

/** What it answers, once. */
export type InstallAnswer =
  | { readonly outcome: "installed" }
  /** One of our errors. */
  | { readonly outcome: "refused"; readonly status: number; readonly code: string; readonly message: string; readonly details: unknown }
  /** One of npm's, as far as it is read further on. */
  | { readonly outcome: "failed"; readonly fields: Readonly<Record<string, unknown>> };

/**
 * A process of its own, which may be killed at any instant: npm's libraries hold what a package says of itself in memory as a whole, a few
 * megabytes of it may become hundreds of thousands of files, and nothing that was begun there can be stopped.
 */
process.once("disconnect", () => process.exit());
process.once("message", (order: InstallOrder) => {
  void answerTo(order).then((answer) => process.send?.(answer, () => process.exit()));
});

async function answerTo(order: InstallOrder): Promise<InstallAnswer> {
  try {
    await install(order);
    return { outcome: "installed" };
  } catch (error) {
    if (!(error instanceof InvalidInput || error instanceof LimitExceeded)) return { outcome: "failed", fields: failureFields(error) };
    const { status, code, message, details } = error;
    return { outcome: "refused", status, code, message, details };
  }
}

/** No scripts, no bin links, nothing that does not come from the registry. The tree is vetted between deciding and downloading. */
async function install({ directory, npm, cache, limits }: InstallOrder): Promise<void> {
  const { default: Tree } = await import("@npmcli/arborist");
  const options = {
    ...npm,
    path: directory,
    cache,
    ignoreScripts: true,
    binLinks: false,
    audit: false,
    omit: omitted,
    lockfileVersion: 3,
    allowGit: "none",
    allowRemote: "none",
    allowFile: "none",
    allowDirectory: "none",
    timeout: 20_000,
    fetchRetries: 1,
    fetchRetryMintimeout: 500,
    fetchRetryMaxtimeout: 2_000,
  } as const;
  const { arborist, tree } = await decide(Tree, options);
  vetTree(tree, limits);
  await arborist.reify();
}

/**
 * Packages that were imported without versions, or with old ones, may each name another version of a third as their peer. Most get on
 * with it all the same, and nobody could say in an import what would be right, so the wish of whoever is nearer to the root counts.
 */
async function decide(Tree: typeof Arborist, options: ArboristOptions): Promise<{ arborist: Arborist; tree: ArboristTree }> {
  const strict = new Tree(options);
  try {
    return { arborist: strict, tree: await strict.buildIdealTree() };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERESOLVE")) throw error;
    const lenient = new Tree({ ...options, force: true });
    return { arborist: lenient, tree: await lenient.buildIdealTree() };
  }
}
