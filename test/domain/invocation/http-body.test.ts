import fc from "fast-check";
import { expect, it } from "vitest";
import { withParsedBody } from "../../../domain/invocation/http-body.ts";
import { completeEvent } from "../../../runner/sandbox/guest/component/http-event.ts";

const contentTypes = ["application/json", "Application/JSON; charset=utf-8", "application/vnd.api+json", "text/json", "text/plain", "text/html", "application/jsonx"]; // prettier-ignore
const bodies = ['{"a":1}', "[1]", " {", "1", "null", '"text"', "", "a=b"];

it("parses a body as the sandbox does, whatever its content type", () => {
  const events = fc.record(
    {
      method: fc.constant("POST"),
      path: fc.constant("/"),
      headers: fc.record({ "content-type": fc.constantFrom(...contentTypes) }, { requiredKeys: [] }),
      bodyRaw: fc.constantFrom(...bodies),
      body: fc.constantFrom<unknown>({ form: "field" }, null, ""),
    },
    { requiredKeys: ["path"] },
  );
  fc.assert(
    fc.property(events, (event) => {
      expect(withParsedBody(event)).toEqual(completeEvent(structuredClone(event)));
    }),
  );
});

it("returns events that are no HTTP requests unchanged", () => {
  for (const event of [null, 1, "text", [], { timestamp: 1 }, { bodyRaw: "{}" }]) expect(withParsedBody(event)).toBe(event);
});
