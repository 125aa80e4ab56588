import type Arborist from "@npmcli/arborist";
import type { ArboristOptions, ArboristTree } from "@npmcli/arborist";
import type { ErrorCode } from "../../domain/error-codes.ts";
import { LimitExceeded, InvalidInput } from "../../domain/errors.ts";
import type { BuildLimits } from "../limits.ts";
import type { NpmConfig } from "./config.ts";
import { failureFields } from "./failure-fields.ts";
import { omitted, vetTree } from "./vet.ts";

/** What to install where, as data that can be sent to another process. */
export interface InstallOrder {
  /** Holds the package.json, and perhaps the package-lock.json. */
  readonly directory: string;
  readonly npm: NpmConfig;
  readonly cache: string;
  readonly limits: BuildLimits;
}

/** The result of an install, which can be sent as JSON. */
export type InstallAnswer =
  | { readonly outcome: "installed" }
  /** One of our errors. */
  | { readonly outcome: "refused"; readonly status: number; readonly code: ErrorCode; readonly message: string; readonly details: unknown }
  /** An error of npm, reduced to the fields that are read. */
  | { readonly outcome: "failed"; readonly fields: Readonly<Record<string, unknown>> };

/** Resolves and installs packages by npm's libraries. Nothing can interrupt it. */
export async function installPackages(order: InstallOrder): Promise<InstallAnswer> {
  try {
    await install(order);
    return { outcome: "installed" };
  } catch (error) {
    if (!(error instanceof InvalidInput || error instanceof LimitExceeded)) return { outcome: "failed", fields: failureFields(error) };
    const { status, code, message, details } = error;
    return { outcome: "refused", status, code, message, details };
  }
}

/** No scripts, no bin links, only packages of the registry. The tree is checked after it is resolved and before it is downloaded. */
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
 * Packages may require different versions of a third one as their peer. Most work nevertheless, and an import cannot resolve the conflict,
 * so the version of the package nearer to the root is used.
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
