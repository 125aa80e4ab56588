import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { PackageCase, Servers } from "./case.ts";
import { openWorkbench, type Workbench } from "./workbench.ts";

interface Started {
  readonly servers: Servers;
  stop(): Promise<void>;
}

/** A test for each case, against servers on loopback. */
export function testPackages(cases: readonly PackageCase[], start: () => Promise<Started>): void {
  let workbench: Workbench;
  let started: Started;
  beforeAll(async () => {
    started = await start();
    workbench = await openWorkbench();
  });
  beforeEach(({ skip }) =>
    skip(workbench.missing !== undefined, `a package without dependencies cannot be installed: ${workbench.missing}`),
  );
  afterAll(async () => {
    await workbench?.stop();
    await started?.stop();
  });

  test.each(cases.map((each) => [`${each.package} ${each.version}`, each] as const))("%s", async (_, each) => {
    const ran = workbench.run(each, started.servers);
    if (each.refused === undefined) expect(await ran).toEqual(each.result);
    else await expect(ran).rejects.toThrow(String(each.result));
  });
}
