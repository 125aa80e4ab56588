import { chmod, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBuilder, type Builder } from "../../builder/builder.ts";
import { installPackages } from "../../builder/npm/install-packages.ts";
import { registryAnswers } from "../support/npm-registry.ts";
import { shareSandbox, type SandboxFixture } from "./sandbox-fixture.ts";

const answers = await registryAnswers();
const why = answers ? "" : " (skipped: the registry of npm's configuration does not answer)";

/** Package, version, actions and triggers as its publisher lists them. */
const pieces: readonly (readonly [name: string, version: string, actions: number, triggers: number, member: string])[] = [
  ["@activepieces/piece-slack", "0.17.9", 72, 14, "#action/send_channel_message"],
  ["@activepieces/piece-notion", "0.7.3", 37, 4, "#trigger/new_database_item"],
  ["@activepieces/piece-discord", "0.2.0", 1, 0, "#action/send_message_webhook"],
];

let fixture: SandboxFixture;
let builder: Builder;
let directory: string;
beforeAll(async () => {
  fixture = await shareSandbox();
  directory = await mkdtemp(join(fixture.directory, "connectors-"));
  await chmod(directory, 0o755);
  builder = await createBuilder({
    directory,
    inspector: fixture.sandbox,
    bundles: { keep: async () => true, store: async () => {} },
    performInstall: installPackages,
    limits: { buildMs: 200_000, bundleMs: 200_000, inspectMs: 100_000 },
  });
});
afterAll(async () => {
  await builder.stop();
  await rm(directory, { recursive: true, force: true });
  await fixture.stop();
});

const noAddresses = { read: () => Promise.reject(new Error("an address of npm is not fetched")) };

describe.skipIf(!answers)(`packages of the registry${why}`, () => {
  it.each(pieces)(
    "%s@%s lists its actions and triggers, and one of them shows its props",
    async (name, version, actions, triggers, member) => {
      const { components } = await builder.listPackage(name, version);
      const count = (prefix: string): number => components.filter(({ address }) => address.startsWith(prefix)).length;
      expect([count("#action/"), count("#trigger/")]).toEqual([actions, triggers]);
      const code = await builder.collect(`npm:${name}@${version}${member}`, noAddresses);
      const { definition } = await builder.build(code);
      expect(definition.props.length).toBeGreaterThan(0);
    },
  );

  it("a package of component files lists them, and one is deployable by its path", async () => {
    const { kind, components } = await builder.listPackage("@pipedream/slack", "0.10.3");
    expect(kind).toBe("components");
    expect(components.length).toBeGreaterThan(40);
    const code = await builder.collect("npm:@pipedream/slack@0.10.3/actions/list-users/list-users.mjs", noAddresses);
    expect((await builder.build(code)).definition).toMatchObject({ type: "action", key: "slack-list-users" });
  });
});
