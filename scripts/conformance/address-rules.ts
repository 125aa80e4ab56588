import { z } from "zod";
import type { Rule } from "./rule.ts";
import { expectEqual, Unmet, type Session } from "./session.ts";
import { dataOf, subscription, user } from "./shapes.ts";

const listed = dataOf(z.array(z.object({ id: z.string() })));
const idsAt = async (session: Session, path: string): Promise<readonly string[]> =>
  (await session.get(listed, "GET", path)).data.map(({ id }) => id);

/** Aliases of lists, and the list that each returns. */
const lists: readonly (readonly [address: string, list: string])[] = [
  ["/sources", "/users/me/sources"],
  ["/subscriptions", "/users/me/subscriptions"],
  ["/webhooks", "/users/me/webhooks"],
  ["/workflows", "/users/me/workflows"],
  ["/users/me/sources/", "/users/me/sources"],
];

/** Known clients parse a frame by this prefix, with the data on one line. */
const eventFrame = /^data: (\{"event":.*\})$/m;

/** Addresses of the live streams of the source {id}. */
const streams = [
  ["/sources/{id}/sse", "its events"],
  ["/sse/dc/{id}/emits", "its events"],
  ["/sse/dc/{id}/observations", "its log"],
] as const;

async function checkStream(session: Session, base: string, path: string, shows: "its events" | "its log"): Promise<void> {
  const url = base + path.replace("{id}", session.recall("echo"));
  const endpoint = session.recall("endpoint");
  const text = await session.readStream(url, eventFrame, () => fetch(`${endpoint}/streamed`, { method: "POST", body: "x" }));
  const frame: unknown = JSON.parse(eventFrame.exec(text)?.[1] ?? "null");
  const { event, metadata } = z
    .object({ event: z.looseObject({}), metadata: z.looseObject({ emitter_id: z.string(), name: z.string() }) })
    .parse(frame);
  expectEqual("the emitter", metadata.emitter_id, session.recall("echo"));
  expectEqual("the channel", metadata.name, shows === "its log" ? "$logs" : "");
  expectEqual("what it says", JSON.stringify(event).includes("/streamed"), true);
}

/** An organization of the user, or a new one. @throws Unmet where users cannot create organizations */
async function organizationOf(session: Session): Promise<string> {
  const organization = z.object({ id: z.string() });
  const { orgs } = (await session.get(dataOf(user), "GET", "/users/me")).data;
  const [own] = z.array(organization).parse(orgs);
  if (own !== undefined) return own.id;
  const made = await session.ask("POST", "/orgs", { body: { name: session.tag } });
  if (made.status !== 200) throw new Unmet("the user belongs to no organization");
  const { id } = dataOf(organization).parse(made.body).data;
  session.keep(`/orgs/${id}`);
  return id;
}

export const addressRules: readonly Rule[] = [
  {
    about: "Addresses",
    name: "a base URL that ends in a slash: //users/me",
    check: async (session) => void (await session.get(dataOf(user), "GET", "//users/me")),
  },
  ...lists.map(([address, list]) => ({
    about: "Addresses",
    name: `GET ${address} is GET ${list}`,
    check: async (session: Session) => expectEqual("the list", await idsAt(session, address), await idsAt(session, list)),
  })),
  ...["accounts", "workflows"].map((kind) => ({
    about: "Addresses",
    name: `GET /orgs/{id}/${kind}`,
    check: async (session: Session) => void (await idsAt(session, `/orgs/${await organizationOf(session)}/${kind}`)),
  })),
  {
    about: "Addresses",
    name: "DELETE /subscriptions/{id}",
    check: async (session) => {
      const query = `emitter_id=${session.recall("source")}&listener_id=${session.recall("webhook")}&event_name=by-id`;
      const { data } = await session.get(dataOf(subscription), "POST", `/subscriptions?${query}`);
      const { status } = await session.ask("DELETE", `/subscriptions/${data.id}`);
      if (status !== 200 && status !== 204) throw new Error(`it answered ${status}`);
      expectEqual("whether it is still listed", (await idsAt(session, "/users/me/subscriptions")).includes(data.id), false);
    },
  },
  ...streams.flatMap(([path, shows]) => [
    {
      about: "Live streams",
      name: `GET /v1${path} shows ${shows}`,
      check: (session: Session) => checkStream(session, `${session.unversionedUrl}/v1`, path, shows),
    },
    {
      about: "Live streams",
      name: `GET ${path} without /v1 shows ${shows}`,
      check: (session: Session) => checkStream(session, session.unversionedUrl, path, shows),
    },
  ]),
];
