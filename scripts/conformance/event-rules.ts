import { z } from "zod";
import type { Rule } from "./rule.ts";
import { eventually, expectEqual, type Session } from "./session.ts";
import { eventSummary, pageOf } from "./shapes.ts";

const summaries = async (session: Session, query = "") =>
  (await session.get(pageOf(eventSummary), "GET", `/sources/${session.recall("source")}/event_summaries${query}`)).data;
const numbered = z.object({ n: z.number() });
/** The field `n` of the events on the default channel, newest first. */
const numbers = async (session: Session): Promise<readonly number[]> =>
  (await summaries(session, "?limit=100&expand=event")).flatMap(({ event }) => numbered.safeParse(event).data?.n ?? []);

async function deleteEvents(session: Session, query: string): Promise<void> {
  const { status, text } = await session.ask("DELETE", `/sources/${session.recall("source")}/events${query}`);
  expectEqual("the status", status, 202);
  if (text.trim() !== "") throw new Error(`its body is '${text}', and should be blank`);
}

async function idOf(session: Session, wanted: number): Promise<string> {
  const found = (await summaries(session, "?expand=event&limit=100")).find(({ event }) => numbered.safeParse(event).data?.n === wanted);
  if (found === undefined) throw new Error(`the event ${wanted} is not there`);
  return found.id;
}

/** Responds to each request, logs it and emits it; throws if the query has `fail`. */
const echo = `export default {
  name: "Conformance Echo", version: "0.1.0", props: { http: { type: "$.interface.http", customResponse: true } },
  run(event) {
    this.http.respond({ status: 201, headers: { "x-echo": event.method }, body: "seen" });
    console.log("asked for " + event.path);
    if (event.query.fail) throw new TypeError("failed on request");
    const forwarded = ["for", "proto", "port"].map((name) => event.headers["x-forwarded-" + name]);
    this.$emit({ path: event.path, body: event.body, q: event.query.q, forwarded });
  },
};`;

/** Events of the source whose hook `deploy` emits 1, 2, 2 and 3 with these ids, and a long event on another channel. */
export const eventRules: readonly Rule[] = [
  {
    about: "Events",
    name: "events of the hook deploy are listed, deduplicated, newest first",
    check: (session) => eventually(async () => expectEqual("the events", await numbers(session), [3, 2, 1])),
  },
  {
    about: "Source events",
    name: "event summaries have id, time and metadata",
    check: async (session) => {
      const all = await summaries(session);
      expectEqual("the emitters", [...new Set(all.map(({ metadata }) => metadata.emitter_id))], [session.recall("source")]);
      const channels = all.map(({ metadata }) => metadata.name);
      expectEqual("the channels", channels.toSorted(), ["", "", "", "long"]);
    },
  },
  {
    about: "Source events",
    name: "limit asks for the last N, expand=event for whole events",
    check: async (session) => {
      expectEqual("how many", (await summaries(session, "?limit=2")).length, 2);
      const long = (await summaries(session, "?expand=event")).find(({ metadata }) => metadata.name === "long");
      expectEqual("the long event", long?.event, { filler: "x".repeat(2_000) });
    },
  },
  {
    about: "Source events",
    name: "DELETE with start_id and end_id the same deletes one event",
    check: async (session) => {
      const id = await idOf(session, 2);
      await deleteEvents(session, `?start_id=${id}&end_id=${id}`);
      await eventually(async () => expectEqual("the events", await numbers(session), [3, 1]));
    },
  },
  {
    about: "Source events",
    name: "DELETE with end_id deletes this event and older ones",
    check: async (session) => {
      await deleteEvents(session, `?end_id=${await idOf(session, 1)}`);
      await eventually(async () => expectEqual("the events", await numbers(session), [3]));
    },
  },
  {
    about: "Source events",
    name: "DELETE without bounds deletes all",
    check: async (session) => {
      await deleteEvents(session, "");
      await eventually(async () => expectEqual("how many", (await summaries(session)).length, 0));
    },
  },
  {
    about: "Component definition format",
    name: "an HTTP interface has an address, runs and responds",
    check: async (session) => {
      const data = await session.deploy("echo", echo);
      const { endpoint_url: endpoint } = z.object({ endpoint_url: z.url() }).parse(data.configured_props["http"]);
      session.remember("echo", data.id);
      session.remember("endpoint", endpoint);
      await eventually(async () => {
        const response = await fetch(`${endpoint}/below?q=1`, {
          method: "POST",
          body: '{"a":1}',
          headers: { "content-type": "application/json" },
        });
        expectEqual("the response", [response.status, response.headers.get("x-echo"), await response.text()], [201, "POST", "seen"]);
      });
      await eventually(async () => {
        const path = `/sources/${data.id}/event_summaries?expand=event&limit=1`;
        const [event] = (await session.get(pageOf(eventSummary), "GET", path)).data;
        const { path: below, body, q } = z.looseObject({ path: z.unknown(), body: z.unknown(), q: z.unknown() }).parse(event?.event);
        expectEqual("the event", [below, body, q], ["/below", { a: 1 }, "1"]);
      });
    },
  },
];
