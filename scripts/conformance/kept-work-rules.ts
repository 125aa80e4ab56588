import { z } from "zod";
import type { Rule } from "./rule.ts";
import { eventually, expectEqual, type Session } from "./session.ts";
import { component, dataOf, eventSummary, pageOf, source } from "./shapes.ts";

const withEndpoint = source.extend({ configured_props: z.object({ http: z.looseObject({ endpoint_url: z.string() }) }) });
const emitted = z.looseObject({ version: z.string(), n: z.number() });

const failed = z.looseObject({ original_event: z.looseObject({ bodyRaw: z.string() }) });

const failing = `export default {
  name: "Conformance Throws", version: "0.1.0", props: { http: "$.interface.http" }, run() { throw new Error("on purpose"); },
};`;

/** Takes half a second, and emits what it received; `activate` of the refused version throws. */
const code = (version: "old" | "refused"): string => `export default {
  name: "Conformance Queue ${version}", version: "0.1.0", props: { http: "$.interface.http" },
  hooks: { activate() { if ("${version}" === "refused") throw new Error("not this one"); } },
  async run(event) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    this.$emit({ version: "${version}", n: event.body.n });
  },
};`;

/** Deploys a source and sends it three requests, of which at least two wait when the third is stored. @returns its id */
async function queueThree(session: Session, name: string): Promise<string> {
  const { id } = await session.deploy(name, code("old"));
  const { data } = await session.get(dataOf(withEndpoint), "GET", `/sources/${id}`);
  for (const n of [1, 2, 3]) {
    const request = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ n }) };
    expectEqual("the status of a request", (await fetch(data.configured_props.http.endpoint_url, request)).status, 200);
  }
  return id;
}

const expectAllOfOld = (session: Session, id: string): Promise<void> =>
  eventually(async () => {
    const { data } = await session.get(pageOf(eventSummary), "GET", `/sources/${id}/event_summaries?expand=event&limit=10`);
    const events = data.map(({ event }) => emitted.parse(event)).map(({ version, n }) => `${version} ${n}`);
    expectEqual("the events", events.toReversed(), ["old 1", "old 2", "old 3"]);
  });

/** Accepted requests are handled, whatever happens to their source. */
export const keptWorkRules: readonly Rule[] = [
  {
    about: "Accepted work",
    name: "a source that is paused and activated again handles what it had accepted",
    check: async (session) => {
      const id = await queueThree(session, "kept");
      for (const active of [false, true])
        expectEqual("active", (await session.get(dataOf(source), "PUT", `/sources/${id}`, { active })).data.active, active);
      await expectAllOfOld(session, id);
    },
  },
  {
    about: "Accepted work",
    name: "an update that is refused because activate throws handles no request",
    check: async (session) => {
      const { data: refused } = await session.get(dataOf(component), "POST", "/components", { component_code: code("refused") });
      session.keep(`/components/${refused.id}`);
      const id = await queueThree(session, "refused");
      await session.expectStatus(422, "PUT", `/sources/${id}`, { body: { component_id: refused.id } });
      await expectAllOfOld(session, id);
    },
  },
  {
    about: "Accepted work",
    name: "the error event of a large request has the whole request",
    check: async (session) => {
      const { id } = await session.deploy("throws", failing);
      const { data } = await session.get(dataOf(withEndpoint), "GET", `/sources/${id}`);
      const body = JSON.stringify({ text: "x".repeat(200_000) });
      const request = { method: "POST", headers: { "content-type": "application/json" }, body };
      expectEqual("the status of the request", (await fetch(data.configured_props.http.endpoint_url, request)).status, 200);
      await eventually(async () => {
        const path = `/sources/${id}/event_summaries?event_name=%24errors&expand=event`;
        const errors = (await session.get(pageOf(eventSummary), "GET", path)).data.map(({ event }) => failed.parse(event));
        expectEqual(
          "the length of its body",
          errors.map(({ original_event }) => original_event.bodyRaw.length),
          [body.length],
        );
      });
    },
  },
  {
    about: "Requests",
    name: "a body that is not valid UTF-8 is 400",
    check: async (session) => {
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      await session.expectStatus(400, "POST", "/webhooks", { raw: "url=https://example.com/&description=%ff", headers });
    },
  },
];
