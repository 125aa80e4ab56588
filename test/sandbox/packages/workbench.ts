import { openBuilderFixture } from "../builder-fixture.ts";
import { errorOf, requestFor } from "../sandbox-fixture.ts";
import { codeOf, type PackageCase, type Servers } from "./case.ts";

/** The builder and the sandbox as they are, and packages that stay on disk from run to run: a version never changes. */
export interface Workbench {
  /** Why nothing can be installed here, if that is so. */
  readonly missing: string | undefined;
  /** Builds the component of a case, runs it and gives what it returned, or throws its error. */
  run(each: PackageCase, servers: Servers): Promise<unknown>;
  stop(): Promise<void>;
}

export async function openWorkbench(): Promise<Workbench> {
  const { builder, fixture, bundleOf, stop } = await openBuilderFixture();
  const probe = `import ms from "ms@2.1.3"; export default { name: "probe", run: () => ms("1s") };`;
  const missing = await builder.build({ code: probe }).then(
    () => undefined,
    (error: unknown) => String(error),
  );

  return {
    missing,
    async run(each, servers) {
      const build = await builder.build({ code: codeOf(each) });
      const execution = await fixture.sandbox.execute(
        requestFor(bundleOf(build), {
          source: build.bundle,
          event: JSON.stringify({ servers }),
          limits: { memoryMb: 256 },
        }),
      );
      if (execution.outcome === "returned") return execution.result === null ? undefined : JSON.parse(execution.result);
      throw new Error(JSON.stringify(errorOf(execution), null, 1));
    },
    stop,
  };
}
