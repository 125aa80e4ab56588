import type { RefusedUpdate } from "../../../domain/source/deployment.ts";
import type { RunError } from "../../../domain/run-products.ts";
import type { Blocked } from "../observe/blocked.ts";
import type { Observed, Fallback } from "../observe/observed.ts";
import { shownVersion, type SourceVersion } from "../../versions.ts";

export const named = ({ deployment, deployedAt }: SourceVersion): string => shownVersion(deployment.id, deployedAt);

const sendAgain = "correct it and send the update again (with kubectl, change the source, for instance its redeploy)";
const ignoreHook = "to update without that hook, set ignoreHookErrors (PUT with ignore_hook_errors=true)";

/** @param restoreError of `activate` of the restored version */
export function refusedMessage(refused: RefusedUpdate, version: SourceVersion, restoreError: RunError | undefined): string {
  const why = `${refused.hook === undefined ? "" : `hook ${refused.hook} failed: `}${textOf(refused.error)}`;
  const restored = restoreError === undefined ? "" : `, though its hook activate failed and is retried: ${textOf(restoreError)}`;
  const whatToDo = refused.hook === "deactivate" ? [sendAgain, ignoreHook] : [sendAgain];
  return [`the update failed: ${why}`, `${runs(version)}${restored}`, ...whatToDo].join("; ");
}

/** A blocked spec is a failed update if another version runs. */
export function blockedMessage({ source }: Observed, { message, transient }: Blocked, { version }: Fallback): string {
  const { sourceGeneration, generation } = version.deployment;
  if ((sourceGeneration ?? generation) === source.metadata.generation) return message;
  return transient ? `${message}; ${runs(version)}` : [`the update failed: ${message}`, runs(version), sendAgain].join("; ");
}

function runs(version: SourceVersion): string {
  if (version.disabled === true) return `${named(version)} stays disabled`;
  return version.deployment.active ? `${named(version)} is still running` : `${named(version)} stays paused`;
}

const textOf = ({ name, message }: RunError): string => `${name}: ${message}`;
