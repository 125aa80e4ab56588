import { z } from "zod";
import type { Rule } from "./rule.ts";
import { eventually, expectEqual, type Session } from "./session.ts";
import { dataOf, eventSummary, pageOf } from "./shapes.ts";

const many = `export default { name: "Conformance Many", version: "0.1.0",
  hooks: { deploy() { for (let n = 0; n < 30; n++) this.$emit({ n }); } }, run() {} };`;

/** Schedules an event on a channel that it listens to itself, an hour ahead. */
const scheduler = `export default { name: "Conformance Scheduler", version: "0.1.0", props: { http: "$.interface.http" },
  run(event) { if (event.body) this.$emit({ task: event.body.task }, { name: "self", id: event.body.task, delivery_ts: Date.now() + 3600000 }); } };`;

const summaries = async (session: Session, source: string, query = "") =>
  (await session.get(pageOf(eventSummary), "GET", `/sources/${source}/event_summaries${query}`)).data;
const older = dataOf(z.array(z.looseObject({ id: z.string(), e: z.unknown(), k: z.literal("emit"), ts: z.int() })));
const olderList = async (session: Session, query = "") =>
  (await session.get(older, "GET", `/sources/${session.recall("many")}/events${query}`)).data;

const failure = z.looseObject({
  error: z.looseObject({ code: z.string(), msg: z.string(), cellId: z.string(), ts: z.iso.datetime(), stack: z.string() }),
});

export const clientEventRules: readonly Rule[] = [
  {
    about: "Events",
    name: "lists of events without a limit have all events, up to 100",
    check: async (session) => {
      const { id } = await session.deploy("many", many);
      session.remember("many", id);
      await eventually(async () => expectEqual("how many", (await summaries(session, id)).length, 30));
    },
  },
  {
    about: "Events",
    name: "GET /sources/{id}/events: the older form, with limit or n",
    check: async (session) => {
      expectEqual("how many", (await olderList(session)).length, 30);
      for (const query of ["?n=3", "?limit=3"]) expectEqual(`how many with ${query}`, (await olderList(session, query)).length, 3);
    },
  },
  {
    about: "Events",
    name: "metadata has no id and no summary where the emit had none",
    check: async (session) => {
      const [event] = await summaries(session, session.recall("many"), "?limit=1");
      expectEqual(
        "which are present",
        ["id", "summary"].filter((name) => name in (event?.metadata ?? {})),
        [],
      );
    },
  },
  {
    about: "Events",
    name: "limit=500 counts as 100",
    check: async (session) => expectEqual("how many", (await summaries(session, session.recall("many"), "?limit=500")).length, 30),
  },
  {
    about: "Events",
    name: "$errors has error.code, msg, cellId, ts and stack",
    check: async (session) => {
      await fetch(`${session.recall("endpoint")}?fail=1`);
      await eventually(async () => {
        const [error] = await summaries(session, session.recall("echo"), "?event_name=%24errors&expand=event");
        expectEqual("the message", failure.parse(error?.event).error.msg, "failed on request");
      });
    },
  },
  {
    about: "HTTP interface",
    name: "the event has the client's x-forwarded-for, -proto and -port headers",
    check: async (session) => {
      const [event] = await summaries(session, session.recall("echo"), "?limit=1&expand=event");
      const { forwarded } = z.looseObject({ forwarded: z.array(z.unknown()) }).parse(event?.event);
      expectEqual(
        "which are strings",
        forwarded.map((each) => typeof each),
        ["string", "string", "string"],
      );
    },
  },
  {
    about: "Scheduled events",
    name: "a source listens to itself; $in lists scheduled events, and DELETE cancels them",
    check: async (session) => {
      const { id, configured_props } = await session.deploy("scheduler", scheduler);
      const { endpoint_url: endpoint } = z.object({ endpoint_url: z.url() }).parse(configured_props["http"]);
      const query = `emitter_id=${id}&listener_id=${id}&event_name=self`;
      await session.get(z.unknown(), "POST", `/subscriptions?${query}`);
      session.keep(`/subscriptions?${query}`);
      await fetch(endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: '{"task":"later"}' });
      const scheduled = () => summaries(session, id, "?event_name=%24in&expand=event");
      await eventually(async () =>
        expectEqual(
          "scheduled events",
          (await scheduled()).map(({ event }) => event),
          [{ task: "later" }],
        ),
      );
      const [event] = await scheduled();
      await session.expectStatus(202, "DELETE", `/sources/${id}/events?event_name=%24in&start_id=${event?.id}&end_id=${event?.id}`);
      await eventually(async () => expectEqual("scheduled events", (await scheduled()).length, 0));
    },
  },
];
