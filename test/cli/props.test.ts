import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { typedValue } from "../../cli/props/given-values.ts";
import { definitionOf } from "../../cli/props/definition.ts";
import { missingPrograms } from "../support/on-path.ts";
import { startInTerminal, type TerminalProgram } from "../support/terminal.ts";
import { inherited, program } from "./hw.ts";
import { withInstallation } from "./installation.ts";

const root = join(import.meta.dirname, "..", "..");
const enter = "\r";
const down = "\u001b[B";

describe("a value of --prop", () => {
  const valueOf = (text: string, type: string): unknown => typedValue(text, definitionOf({ name: "p", type }));

  it.each([
    ["string", "007", "007"],
    ["string", '{"a":1}', '{"a":1}'],
    ["integer", "7", 7],
    ["boolean", "true", true],
    ["object", '{"a":1}', { a: 1 }],
    ["string[]", "a,b", ["a", "b"]],
    ["string[]", '["a,b"]', ["a,b"]],
    ["file", "/tmp/a.txt", "/tmp/a.txt"],
    ["file", "007", "007"],
    ["file[]", "a.txt,https://example.com/b", ["a.txt", "https://example.com/b"]],
    ["integer[]", "3", [3]],
    ["any", "3", 3],
    ["any", "three", "three"],
    ["app", "apn_1", { authProvisionId: "apn_1" }],
    ["$.interface.timer", "90", { intervalSeconds: 90 }],
    ["$.interface.timer", "5m", { intervalSeconds: 300 }],
    ["$.interface.timer", "*/5 * * * *", { cron: "*/5 * * * *" }],
    ["$.interface.timer", '{"cron":"0 9 * * *","timezone":"Europe/Berlin"}', { cron: "0 9 * * *", timezone: "Europe/Berlin" }],
    ["$.airtable.baseId", "app1", "app1"],
  ])("of type %s: %s", (type, text, expected) => {
    expect(valueOf(text, type)).toEqual(expected);
  });

  it("is refused if it is no value of the type", () => {
    expect(() => valueOf("many", "integer")).toThrow('prop p: "many" is not JSON');
  });
});

const secretive = `export default {
  name: "Secretive", version: "1",
  props: {
    token: { type: "string", label: "Token", description: "Never shown", secret: true },
    loud: { type: "boolean", label: "Loud" },
  },
  run() { this.$emit({ loud: this.loud, length: this.token.length }); },
};
`;

describe.skipIf(missingPrograms(["python3"]).length > 0)("missing props in a terminal, which needs python3", () => {
  const headwater = withInstallation();
  let terminal: TerminalProgram | undefined;

  beforeAll(async () => {
    await writeFile(join(headwater.world.directory, "secretive.mjs"), secretive);
  });
  afterEach(() => terminal?.kill());

  const start = (...args: readonly string[]): TerminalProgram => {
    const { directory, env } = headwater.world;
    terminal = startInTerminal([process.execPath, program, ...args], { cwd: directory, env: { ...inherited(), ...env } });
    return terminal;
  };

  it("are asked for with descriptions; secrets are hidden", async () => {
    const shown = start("deploy", "secretive.mjs");
    await shown.untilShown(/Token \(token\)\n.*Never shown/);
    shown.type(`s3cret-value${enter}`);
    await shown.untilShown(/Loud \(loud\)/);
    shown.type(enter);
    await shown.untilShown(/source secretive deployed/);
    expect(await shown.ended()).toBe(0);
    expect(shown.screen()).not.toContain("s3cret-value");
    const { data } = await headwater.json<{ data: { result: unknown } }>("run", "secretive");
    expect(data).toMatchObject({ status: "succeeded" });
  });

  it("are chosen page by page, and a choice may add others", async () => {
    const shown = start("deploy", join(root, "fixtures/components/choose-trigger.mjs"));
    await shown.untilShown(/On requests/);
    shown.type(`${down}${enter}`);
    await shown.untilShown(/… more choices/);
    shown.type(`${down.repeat(3)}${enter}`);
    await shown.untilShown(/Ciao/);
    shown.type(`${down}${enter}`);
    await shown.untilShown(/source choose-trigger deployed/);
    expect(await shown.ended()).toBe(0);
    const { data } = await headwater.json<{ data: { configured_props: unknown } }>("describe", "choose-trigger");
    expect(data.configured_props).toMatchObject({ trigger: "http", greeting: "ciao" });
  });

  it("are picked among the accounts of the app", async () => {
    for (const key of ["first-key", "second-key"]) {
      await headwater.call("POST", "/accounts", { app: "tickets", name: key.replace("key", "account"), credentials: { api_key: key } });
    }
    const shown = start("deploy", join(root, "fixtures/components/app-account.mjs"));
    await shown.untilShown(/first-account \(apn_\w+\)/);
    shown.type("second");
    await shown.untilShown(/1 match/);
    shown.type(enter);
    await shown.untilShown(/source \S+ deployed/);
    expect(await shown.ended()).toBe(0);
    expect(shown.screen()).not.toContain("second-key");
  });

  it("are left out when the person cancels: nothing is deployed", async () => {
    const shown = start("deploy", "secretive.mjs", "--name", "never");
    await shown.untilShown(/Token/);
    shown.type("\u0003");
    expect(await shown.ended()).toBe(2);
    expect(await headwater.ok("list", "sources")).not.toContain("never");
  });

  it("are an error that names the flags without a terminal", async () => {
    const { code, stderr } = await headwater.hw("deploy", "secretive.mjs");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "hw: props are missing: token, loud\n    give --prop token=… --prop loud=…, or --props FILE\n",
    });
  });
});
