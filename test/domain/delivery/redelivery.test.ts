import { expect, it } from "vitest";
import { parseRedelivery } from "../../../domain/delivery/redelivery.ts";

it.each([
  { webhook: "wh_1", deliveries: ["em1.sub_1"] },
  { webhook: "wh_1", upTo: "dl_7" },
  { webhook: "wh_1", range: { upTo: "dl_7", sinceMs: 1 } },
  { webhook: "wh_1", range: { upTo: "dl_7", sinceMs: 1, untilMs: 2 } },
])("parses %j as it was sent", (request) => {
  expect(parseRedelivery(JSON.stringify(request))).toEqual(request);
});

it.each(["", "null", "{}", '{"webhook":"wh_1"}', '{"webhook":"wh_1","range":{"sinceMs":1}}', '{"webhook":"wh_1","later":{"upTo":"dl_7"}}'])(
  "returns undefined for %j, so that a form of a later version redelivers nothing",
  (text) => {
    expect(parseRedelivery(text)).toBeUndefined();
  },
);
