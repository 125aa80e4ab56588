import { expect, it } from "vitest";
import { destinationConformance } from "../../conformance/destination.ts";
import { destinationWorld, sendOf } from "../../conformance/destination-ports.ts";

const argument = { method: "POST", url: "http://user:secret@a/path", headers: { "X-A": "1", Host: "victim" }, data: { n: 1 } };

destinationConformance(() => {
  const { world, destinations } = destinationWorld();
  const delivery = sendOf("http", argument);
  return {
    delivery,
    find: (each) => destinations.find(each),
    get arrived() {
      return world.posts.map(({ headers }) => String(headers["idempotency-key"]));
    },
    breakPorts: () => void (world.arePortsBroken = true),
    failForNow: () => void (world.answer = { outcome: "unreachable", code: "ECONNREFUSED", message: "nothing listens" }),
    failForGood: () => sendOf("http", { ...argument, method: "CONNECT" }),
  };
});

it("sends credentials of the URL as a header, and no header of the connection", async () => {
  const { world, destinations } = destinationWorld();
  const delivery = sendOf("http", argument);
  await destinations.find(delivery)?.attempt(delivery, undefined);
  const headers = {
    "idempotency-key": "e1.sub_1",
    "content-type": "application/json",
    authorization: "Basic dXNlcjpzZWNyZXQ=",
    "x-a": "1",
  };
  expect(world.posts).toEqual([{ method: "POST", url: "http://a/path", headers, body: '{"n":1}' }]);
});

it("has a circuit for each host, and begins without a message", () => {
  const { destinations } = destinationWorld();
  expect(destinations.find(sendOf("http", argument))).toMatchObject({ kind: "send", circuit: "p_1 a", storesBeforeFirstAttempt: false });
  expect(destinations.find(sendOf("http", { ...argument, url: "http://b:81" }))).toMatchObject({ circuit: "p_1 b:81" });
});
