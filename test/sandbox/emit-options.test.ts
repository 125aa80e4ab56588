import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ended, errorOf, type SandboxFixture, shareSandbox } from "./sandbox-fixture.ts";
import { runBody } from "./actions/action-support.ts";

let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await shareSandbox();
});
afterAll(() => fixture.stop());

const run = (body: string) => fixture.run(`export default { name: "e", run() { ${body} } };`);
const logsOf = async (body: string): Promise<readonly (string | undefined)[]> => ended(await run(body)).logs.map(({ msg }) => msg);

describe("options of $emit", () => {
  it.each([
    [
      `{ ts: "yesterday" }`,
      "emit 1 of this run: its ts is 'yesterday' and was ignored: it must be a time in epoch milliseconds, or a date",
    ],
    [`{ ts: NaN }`, "emit 1 of this run: its ts is NaN and was ignored: it must be a time in epoch milliseconds, or a date"],
    [
      `{ ts: 1700000000 }`,
      "emit 1 of this run: its ts is 1700000000, which is 1970-01-20T16:13:20.000Z: give epoch milliseconds, not seconds",
    ],
    [
      `{ delivery_ts: "x" }`,
      "emit 1 of this run: its delivery_ts is 'x' and was ignored: it must be a time in epoch milliseconds, or a date",
    ],
    [
      `{ delivery_ts: 1900000000 }`,
      "emit 1 of this run: its delivery_ts is 1900000000, which is 1970-01-22T23:46:40.000Z: give epoch milliseconds, not seconds",
    ],
    [
      `{ sumary: "s" }`,
      "emit 1 of this run: its option 'sumary' is unknown and was ignored: options are id, name, summary, ts, delivery_ts",
    ],
    [
      `"a summary"`,
      "emit 1 of this run: its options are 'a summary' and were ignored: they must be an object with id, name, summary, ts, delivery_ts",
    ],
    [`[1]`, "emit 1 of this run: its options are [ 1 ] and were ignored: they must be an object with id, name, summary, ts, delivery_ts"],
    [`{ name: 5 }`, "emit 1 of this run: its name (the channel) is 5, a number: it counts as the text '5'"],
  ])("%s is emitted with a warning in the log", async (options, warning) => {
    const { emits, logs } = ended(await run(`this.$emit(1, ${options});`));
    expect(emits).toHaveLength(1);
    expect(logs).toEqual([expect.objectContaining({ k: "console.warn", msg: warning })]);
  });

  it("that are valid or absent log nothing", async () => {
    const valid = `{ id: 1, name: "n", summary: "s", ts: Date.now(), delivery_ts: new Date() }`;
    expect(
      await logsOf(
        `this.$emit(1); this.$emit(1, null); this.$emit(1, {}); this.$emit(1, ${valid}); this.$emit(1, { ts: "", id: undefined });`,
      ),
    ).toEqual([]);
  });

  it("are warned about once for each kind in a run", async () => {
    expect(await logsOf(`for (let i = 0; i < 1000; i++) this.$emit(i, { ts: "x", sumary: 1 });`)).toHaveLength(2);
  });

  it("fail if the channel is neither a text nor a number", async () => {
    expect(errorOf(await run(`this.$emit(1, { name: {} });`))).toMatchObject({ code: "invalid_emit_name" });
  });

  it("of $.send.emit are checked alike", async () => {
    const { logs } = ended(await runBody(fixture, `$.send.emit({ raw_event: 1, ts: "x" }); $.send.emit({ raw_event: 1, ts: "y" });`));
    expect(logs.map(({ msg }) => msg)).toEqual([
      "$.send.emit() (call 1 of this step): its ts is 'x' and was ignored: it must be a time in epoch milliseconds, or a date",
    ]);
  });
});
