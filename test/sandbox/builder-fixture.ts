import { chmod, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Builder, createBuilder } from "../../builder/builder.ts";
import { installPackages } from "../../builder/npm/install-packages.ts";
import type { Build } from "../../domain/component/definition.ts";
import type { Bundle } from "../../runner/sandbox/port.ts";
import { linkPackages, sharedPackages } from "../support/kept-packages.ts";
import { type SandboxFixture, shareSandbox } from "./sandbox-fixture.ts";

/** A real builder, and the shared sandbox, which reads its bundles. */
export interface BuilderFixture {
  readonly builder: Builder;
  readonly fixture: SandboxFixture;
  /** Where the sandbox finds what a build made. */
  bundleOf(build: Build): Bundle;
  stop(): Promise<void>;
}

/** Opens a builder that installs packages in this process and finds those of earlier runs on disk. */
export async function openBuilderFixture(): Promise<BuilderFixture> {
  const fixture = await shareSandbox();
  const directory = await mkdtemp(join(fixture.directory, "builder-"));
  await chmod(directory, 0o755); // The sandbox has a user of its own where this process is root.
  await linkPackages(directory);
  const builder = await createBuilder({
    directory,
    inspector: fixture.sandbox,
    bundles: { keep: async () => false, store: async () => {} },
    performInstall: installPackages,
    limits: sharedPackages,
  });
  return {
    builder,
    fixture,
    bundleOf: ({ bundle: hash, needsNode }) => ({ hash, path: join(directory, "bundles", `${hash}.js`), needsNode }),
    stop: async () => {
      await builder.stop();
      await fixture.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
