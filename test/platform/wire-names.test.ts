import { describe, expect, it } from "vitest";
import { wireNames } from "../../platform/jetstream/connection/wire-names.ts";

const pairs = [
  ["runs.3.u_1.s_1", "acme.runs.3.u_1.s_1"],
  ["invoke.>", "acme.invoke.>"],
  ["$KV.ROUTES.a.b", "$KV.acme_ROUTES.a.b"],
  ["$O.BUNDLES.M.>", "$O.acme_BUNDLES.M.>"],
  ["$JS.hub.API.STREAM.INFO.RUNS", "$JS.hub.API.STREAM.INFO.acme_RUNS"],
  ["$JS.hub.API.STREAM.MSG.GET.KV_ROUTES", "$JS.hub.API.STREAM.MSG.GET.KV_acme_ROUTES"],
  ["$JS.hub.API.CONSUMER.CREATE.RUNS.a.runs.1.>", "$JS.hub.API.CONSUMER.CREATE.acme_RUNS.a.acme.runs.1.>"],
  ["$JS.hub.API.CONSUMER.CREATE.RUNS.>", "$JS.hub.API.CONSUMER.CREATE.acme_RUNS.>"],
  ["$JS.hub.API.CONSUMER.DURABLE.CREATE.RUNS.*", "$JS.hub.API.CONSUMER.DURABLE.CREATE.acme_RUNS.*"],
  ["$JS.hub.API.CONSUMER.MSG.NEXT.INVOCATIONS.runner-a-0", "$JS.hub.API.CONSUMER.MSG.NEXT.acme_INVOCATIONS.runner-a-0"],
  ["$JS.hub.API.DIRECT.GET.KV_ROUTES.$KV.ROUTES.a", "$JS.hub.API.DIRECT.GET.KV_acme_ROUTES.$KV.acme_ROUTES.a"],
  ["$JS.hub.API.DIRECT.GET.RUNS", "$JS.hub.API.DIRECT.GET.acme_RUNS"],
  ["$JS.ACK.RUNS.>", "$JS.ACK.acme_RUNS.>"],
  ["$JS.hub.API.STREAM.LIST", "$JS.hub.API.STREAM.LIST"],
  ["$JS.hub.API.INFO", "$JS.hub.API.INFO"],
  ["_INBOX.a.b", "_INBOX.a.b"],
  [">", ">"],
] as const;

describe("names on the wire", () => {
  const names = wireNames("$JS.hub.API", "acme");

  it.each(pairs)("converts %s to %s", (own, wire) => {
    expect(names.subject(own)).toBe(wire);
  });

  it("converts names of streams and subjects of messages back", () => {
    for (const name of ["RUNS", "KV_ROUTES", "OBJ_BUNDLES"]) expect(names.streamOf(names.stream(name))).toBe(name);
    for (const subject of ["runs.3.u_1.s_1", "$KV.ROUTES.a.b", "$O.BUNDLES.M.a", "_INBOX.a"])
      expect(names.subjectOf(names.subject(subject))).toBe(subject);
  });

  it("knows no streams of other installations", () => {
    for (const foreign of ["RUNS", "KV_ROUTES", "beta_RUNS", "KV_beta_ROUTES", "acme2_RUNS"])
      expect(names.streamOf(foreign)).toBeUndefined();
  });

  it("publishes entries through the API of the domain, which leaf nodes forward", () => {
    expect(names.target("$KV.ROUTES.a")).toBe("$JS.hub.API.$KV.acme_ROUTES.a");
    expect(names.target("$O.BUNDLES.M.a")).toBe("$O.acme_BUNDLES.M.a");
    expect(wireNames("$JS.hub.API", undefined).target("$KV.ROUTES.a")).toBe("$JS.hub.API.$KV.ROUTES.a");
    expect(wireNames("headwater.js", undefined).target("$KV.ROUTES.a")).toBe("$KV.ROUTES.a");
  });

  it("changes nothing without a prefix", () => {
    const plain = wireNames("$JS.API", undefined);
    for (const [own] of pairs) expect(plain.subject(own)).toBe(own);
    expect(plain.stream("KV_ROUTES")).toBe("KV_ROUTES");
  });
});
