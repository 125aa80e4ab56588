import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { printable, shown, styled } from "../../cli/output/printable.ts";
import { fromYaml, toYaml } from "../../cli/output/yaml.ts";
import { missingPrograms } from "../support/on-path.ts";
import { startInTerminal } from "../support/terminal.ts";
import { inherited, program } from "./hw.ts";
import { withInstallation } from "./installation.ts";

/** Sets the clipboard, the title and the colour, clears the screen, and reverses what follows; also as one C1 character. */
const hostile = "\u001b]52;c;aGk=\u0007\u001b]0;title\u0007\u001b[2J\u001b[31m\u009b2J\r\u202eabc\u007f";
/** What a terminal acts on. */
const unsafe = /(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

const component = `export default {
  name: "Hostile", key: "hostile", version: "0.0.1", description: ${JSON.stringify(hostile)},
  props: { text: { type: "string", default: ${JSON.stringify(hostile)}, description: ${JSON.stringify(hostile)} } },
  run(event) {
    console.log(${JSON.stringify(hostile)});
    if (event?.fail) throw new Error(${JSON.stringify(hostile)});
    this.$emit({ text: this.text }, { summary: ${JSON.stringify(hostile)} });
  },
};
`;

const headwater = withInstallation();

beforeAll(async () => {
  await writeFile(join(headwater.world.directory, "hostile.mjs"), component);
  await headwater.ok("deploy", "hostile.mjs", "--name", "hostile", "--prop", `text=${hostile}`);
  await headwater.ok("run", "hostile", "--event", "{}");
  await headwater.hw("run", "hostile", "--event", '{"fail":true}');
  await headwater.ok("keys", "create", `key ${hostile.replaceAll("\r", "")}`).catch(() => {}); // Names may be refused.
});

const commands = [
  ["describe", "hostile"],
  ["runs", "hostile"],
  ["run", "hostile", "--event", "{}"],
  ["events", "hostile"],
  ["logs", "hostile"],
  ["props", "hostile"],
  ["list", "keys"],
  ["export"],
  ["components", "show", "hostile"],
];

describe("control characters of others", () => {
  it.each(commands.flatMap((command) => ["table", "json", "yaml"].map((format) => [[...command, "-o", format]])))(
    "do not reach the terminal: hw %j",
    async (args) => {
      const { code, stdout, stderr } = await headwater.hw(...args);
      expect({ code, unsafe: unsafe.exec(stdout + stderr) }).toEqual({ code: 0, unsafe: null });
    },
  );

  it("do not reach it in errors", async () => {
    const { stderr } = await headwater.hw("run", "hostile", "--event", '{"fail":true}');
    expect([stderr.includes("\\x1b]52"), unsafe.exec(stderr)]).toEqual([true, null]);
    const unknown = await headwater.hw("describe", hostile);
    expect([unknown.code, unsafe.exec(unknown.stderr)]).toEqual([3, null]);
  });

  it("are the same values as JSON and as YAML", async () => {
    const json = JSON.parse(await headwater.ok("describe", "hostile", "-o", "json")) as { data: { configured_props: { text: string } } };
    expect(json.data.configured_props.text).toBe(hostile);
    const [yaml] = await fromYaml(await headwater.ok("describe", "hostile", "-o", "yaml"));
    expect(yaml).toMatchObject({ data: { configured_props: { text: hostile } } });
    expect(await fromYaml(await toYaml({ [hostile]: [hostile, `a\n${hostile}\n`] }))).toEqual([
      { [hostile]: [hostile, `a\n${hostile}\n`] },
    ]);
  });

  it("of code are exact in a pipe", async () => {
    const raw = 'export default { name: "Raw", key: "raw", version: "0.0.1", run() { return "\u009b\u202e"; } };\n';
    await writeFile(join(headwater.world.directory, "raw.mjs"), raw);
    await headwater.ok("publish", "raw.mjs");
    expect(await headwater.ok("components", "show", "raw", "--code")).toBe(raw);
  });

  it.skipIf(missingPrograms(["python3"]).length > 0)("of code are escaped in a terminal", async () => {
    const { directory, env } = headwater.world;
    const command = [process.execPath, program, "components", "show", "raw", "--code"];
    const terminal = startInTerminal(command, { cwd: directory, env: { ...inherited(), ...env } });
    await terminal.ended();
    expect(terminal.screen()).toContain('return "\\x9b\\u202e"');
  });

  it("are escaped inside styled text, whose own sequences are kept", () => {
    const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;
    expect(shown(`${styled(red, `a${hostile}`)} \u001b[31mb`)).toBe(`\u001b[31ma${printable(hostile)}\u001b[39m \\x1b[31mb`);
  });
});
