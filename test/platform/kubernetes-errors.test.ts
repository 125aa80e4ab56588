import { describe, expect, it } from "vitest";
import { errorFrom, withoutValue } from "../../platform/kubernetes/errors.ts";

const asked = "GET /x";
const body = (more: object): object => ({ kind: "Status", status: "Failure", message: "said", ...more });

describe("refusals of the API server", () => {
  it.each([
    [404, { reason: "NotFound", details: { name: "x" } }, 404, "not_found"],
    [409, { reason: "AlreadyExists" }, 409, "already_exists"],
    [409, { reason: "Conflict" }, 409, "conflict"],
    [410, { reason: "Expired" }, 410, "gone"],
    [413, {}, 413, "limit_exceeded"],
    [500, { message: "etcdserver: request is too large" }, 413, "limit_exceeded"],
    [422, { reason: "Invalid" }, 422, "invalid_input"],
    [400, { reason: "BadRequest" }, 422, "invalid_input"],
    [401, {}, 503, "kubernetes_unauthenticated"],
    [403, { message: "cannot create" }, 503, "kubernetes_forbidden"],
    [403, { message: 'admission webhook "w" denied the request: no' }, 422, "invalid_input"],
    [403, { message: "exceeded quota: q" }, 429, "quota_exceeded"],
    [403, { details: { causes: [{ reason: "NamespaceTerminating" }] } }, 409, "namespace_ends"],
    [429, {}, 503, "kubernetes_unavailable"],
    [504, { reason: "Timeout" }, 503, "kubernetes_unavailable"],
    [405, {}, 500, "invariant"],
  ])("maps %i with %j to %i %s", (status, more, ours, code) => {
    expect(errorFrom({ status, body: body(more), asked })).toMatchObject({ status: ours, code });
  });

  it("distinguishes a missing definition from a missing object", () => {
    expect(errorFrom({ status: 404, body: "404 page not found\n", asked })).toMatchObject({ status: 503, code: "kubernetes_kind_missing" });
  });

  it("names the paths and the rules of an invalid object, not its values", () => {
    const causes = [
      { field: "spec.url", message: 'Invalid value: "https://user:secret@x": must be public' },
      { field: "spec.props", message: 'Invalid value: {"key":"secret"}: must be few' },
    ];
    const error = errorFrom({
      status: 422,
      body: body({ message: "all of secret", details: { name: "a", kind: "Source", causes } }),
      asked,
    });
    expect(error.message).toBe("Source 'a' is invalid: spec.url: must be public; spec.props: must be few");
    expect(JSON.stringify(error.details)).not.toContain("secret");
  });

  it.each([
    ['Invalid value: "a\\"b: c": rule: two', "rule: two"],
    ['Invalid value: "object": no such field', "no such field"],
    ["Invalid value: 7: must be less", "must be less"],
    ["Invalid value: [1,2]: must be one", "must be one"],
    ['Unsupported value: "x": supported values: "a", "b"', 'supported values: "a", "b"'],
    ['Duplicate value: "x"', "duplicate value"],
    ["Required value", "Required value"],
    ["Required value: say it", "Required value: say it"],
  ])("removes the value from %s", (said, left) => {
    expect(withoutValue(said)).toBe(left);
  });
});
