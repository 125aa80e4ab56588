import { afterAll, afterEach, beforeAll } from "vitest";
import type { Execution } from "../../../runner/sandbox/port.ts";
import { requestFor, type SandboxFixture, type SandboxRequest, startSandbox } from "../sandbox-fixture.ts";

/** Runs hostile components beside a canary of another owner in the same process, which must answer after each of them. */
export interface AttackRange {
  readonly fixture: SandboxFixture;
  /** The body of `run` of a component with a db and an http prop. */
  attack(body: string, request?: SandboxRequest): Promise<Execution>;
}

export function openRange(options: Parameters<typeof startSandbox>[0] = {}): AttackRange {
  let fixture: SandboxFixture | undefined;
  const opened = (): SandboxFixture => {
    if (fixture === undefined) throw new Error("the range is not open yet");
    return fixture;
  };
  beforeAll(async () => {
    fixture = await startSandbox({ ...options, timeLimits: { disposeMs: 2_500, ...options.timeLimits } });
  });
  afterAll(() => fixture?.stop());
  afterEach(() => askCanary(opened()));
  return {
    get fixture() {
      return opened();
    },
    attack: (body, request) =>
      opened().run(
        `export default { name: "attack", props: { db: "$.service.db", http: "$.interface.http" }, async run(event) { ${body} } }`,
        { limits: { memoryMb: 64 }, ...request },
      ),
  };
}

const objectKeys = Object.getOwnPropertyNames(Object.prototype).length;

async function askCanary(fixture: SandboxFixture): Promise<void> {
  const bundle = await fixture.bundle(`export default { name: "canary", run: (n) => n + 1 }`);
  const execution = await fixture.sandbox.execute(requestFor(bundle, { source: "dc_canary", owner: "u_canary", event: "1" }));
  if (execution.outcome !== "returned" || execution.result !== "2")
    throw new Error(`the canary did not answer: ${JSON.stringify(execution)}`);
  if (Object.getOwnPropertyNames(Object.prototype).length !== objectKeys) throw new Error("Object.prototype of the host has changed");
}
