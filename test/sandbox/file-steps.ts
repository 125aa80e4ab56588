import type { FileAccess, Execution } from "../../runner/sandbox/port.ts";
import { type MemoryRunFiles, memoryRunFiles } from "../support/memory-run-files.ts";
import { actionOf, returned, runAction } from "./actions/action-support.ts";
import { type SandboxFixture, type SandboxRequest, startSandbox } from "./sandbox-fixture.ts";

/** A workflow run of a test: its steps run one after the other, and share files. */
export interface FileSteps {
  /** The run and its layers so far. */
  readonly access: FileAccess;
  /** Runs the body of `run({ steps, $ })`, of a component with `props`. What it has changed is the next layer. */
  step(body: string, request?: SandboxRequest, props?: string): Promise<Execution>;
  /** Returns what the body returns; fails if it does not return. */
  value(body: string, request?: SandboxRequest, props?: string): Promise<unknown>;
}

export interface FilesFixture extends SandboxFixture {
  readonly files: MemoryRunFiles;
  startRun(owner?: string): FileSteps;
}

export async function startFilesSandbox(): Promise<FilesFixture> {
  const files = memoryRunFiles();
  const fixture = await startSandbox({ runFiles: files });
  let runs = 0;
  const startRun = (owner = "u_1"): FileSteps => {
    runs += 1;
    const run = { workflow: "p_1", run: `r_${runs}` };
    let layers: readonly string[] = [];
    const filesUrl = `https://e/${run.workflow}/files/${run.run}/5/signature/`;
    const access = (): FileAccess => ({ ...run, layers });
    const step = async (body: string, request: SandboxRequest = {}, props = "{}"): Promise<Execution> => {
      const code = `import fs from "node:fs"; import { Buffer } from "node:buffer"; import { pipeline } from "node:stream/promises"; import { Readable } from "node:stream";
        export default { name: "a", props: ${props}, async run({ steps, $ }) { void [fs, Buffer, pipeline, Readable]; ${body} } }`;
      const execution = await runAction(fixture, code, { action: { filesUrl }, request: { owner, files: access(), ...request } });
      if (execution.outcome === "crashed") return execution;
      const { files: changes } = actionOf(execution);
      if (changes !== undefined) layers = [...layers, await files.layer({ owner, ...run }, changes)];
      return execution;
    };
    return {
      get access() {
        return access();
      },
      step,
      value: async (body, request, props) => returned(await step(body, request, props)),
    };
  };
  return { ...fixture, files, startRun };
}
