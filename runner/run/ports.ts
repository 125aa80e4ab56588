import type { RunFiles } from "../../domain/files/run-files.ts";
import type { Answer, BodyAnswer, InvocationNumber } from "../../domain/invocation/invocation.ts";
import type { DeploymentEntry } from "../../domain/source/deployment.ts";
import type { WorkflowEntry } from "../../domain/workflow/deployment.ts";
import type { VariablesEntry } from "../../domain/variable/variable.ts";
import type { Sandbox } from "../sandbox/port.ts";

export interface RunPorts {
  readonly sandbox: Sandbox;
  readonly deployments: Deployments;
  /** Absent: owners have no variables. */
  readonly variables?: Variables;
  /** Absent: what a step writes to /tmp is gone with its context. */
  readonly files?: RunFiles;
  readonly moves: Moves;
  readonly bundles: Bundles;
  readonly stacks: Stacks;
  /** Opens values that were sealed for this runner's pool. */
  readonly secrets: { open(sealed: string): Promise<string> };
  /** Sends a reply to the caller of an invocation. Best effort: never throws. */
  readonly answer: (subject: string, answer: Answer) => void;
  /** Sends a piece of a streamed response, and waits for room. False when the caller reads no more, or takes too long. Never rejects. */
  readonly sendPiece: (subject: string, piece: BodyAnswer, timeoutMs: number) => Promise<boolean>;
}

export interface Deployments {
  /** Reads the current entry of a source or workflow, or of a version of a workflow (`versionName`). */
  get(name: string): Promise<DeploymentEntry | WorkflowEntry | undefined>;
  /** Calls back for each source whose entry changed or was deleted. Undefined: changes may have been missed, of any source. */
  onChange(changed: (source: string | undefined) => void): Promise<void>;
}

export interface Variables {
  /** Reads the entry of an owner. */
  find(owner: string): Promise<VariablesEntry | undefined>;
  /** As that of `Deployments`, whose bucket it is. */
  onChange(changed: (owner: string | undefined) => void): Promise<void>;
}

export interface Moves {
  /** Moves an invocation to the pool that its source moved to. @throws Unavailable */
  move(position: InvocationNumber): Promise<void>;
}

export interface Bundles {
  /** Path of a local file with the bundle. @throws Unavailable, NotFound */
  path(hash: string): Promise<string>;
}

export interface Stacks {
  /** The stack with positions in the component's own files; unchanged if they are not known. */
  map(bundle: string, stack: string): Promise<string>;
}
