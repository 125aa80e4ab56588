import { describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { deploy } from "../support/system/sources.ts";
import { withInstallation } from "./installation.ts";

/** `hw trace`, on a running server. */
const headwater = withInstallation();

interface Answer<Data> {
  readonly data: Data;
}

describe("hw trace", () => {
  it("prints the tree of a request from its event, marks what was asked for, and prints the spans as JSON", async () => {
    const code = `export default { name: "Orders", props: { http: "$.interface.http" }, run({ body }) { this.$emit(body); } };`;
    const source = await deploy(headwater, code, {}, { name: "hw trace orders" });
    const step = `export default { type: "action", name: "A step", version: "1.0.0", async run() { throw new Error("no stock"); } };`;
    const workflow = { name: "hw trace billing", triggers: [{ source_id: source.id }], steps: [{ name: "charge", component_code: step }] };
    expect((await headwater.call("POST", "/workflows", workflow)).status).toBe(200);
    await fetch(source.endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });

    let event = "";
    await until(async () => {
      const { data } = await headwater.json<Answer<readonly { readonly id: string }[]>>("events", source.id);
      return (event = data[0]?.id ?? "") !== "";
    }, "the event is listed");
    let printed = "";
    await until(async () => /step charge/.test((printed = await headwater.ok("trace", event, "--of", source.id))), "the run is recorded");
    const [began = "", header = "", ...rows] = printed.trimEnd().split("\n");
    expect(began).toMatch(/^began \d{4}-\d\d-\d\dT/);
    expect(header).toMatch(/SPAN +STATUS +AT +TOOK +ID$/);
    const shown = rows.filter((row) => !/Queue|Start of the code/.test(row));
    expect(shown).toEqual([
      expect.stringMatching(/^ +HTTP request +\+0ms +-$/),
      expect.stringMatching(/^ +└ run hw trace orders +succeeded +\+\d+ms +\d+ms +r_\w+$/),
      expect.stringMatching(new RegExp(`^> +└ Event +\\+\\d+ms +- +${source.id}\\.${event}$`)),
      expect.stringMatching(/^ +└ run hw trace billing +failed +\+\d+ms +\d+ms +r_\w+$/),
      expect.stringMatching(/^ +└ step charge +failed +\+\d+ms +\d+ms$/),
    ]);

    const run = /r_\w+/.exec(printed)?.[0] ?? "";
    const { data } = await headwater.json<Answer<{ readonly spans: readonly { readonly name: string }[] }>>("trace", run, "--below");
    expect(data.spans[0]?.name).toBe("hw trace orders");
    expect(await headwater.ok("trace", run, "-o", "wide")).toContain("DETAIL");
  });

  it("says what an id may be", async () => {
    const { code, stderr } = await headwater.hw("trace", "r_unknown");
    expect([code, stderr]).toEqual([3, expect.stringContaining("no run, event or delivery 'r_unknown' of yours")]);
    const event = await headwater.hw("trace", "1700000000000-0");
    expect([event.code, event.stderr]).toEqual([4, expect.stringContaining("write dc_….1700000000000-0")]);
  });
});
